//! What is answered under a number.

use gangline_os::{clock, paths::Paths};
use gangline_store::{OpenOptions, Store};

use super::*;

/// A number that names nothing is said to name nothing, whatever the answer.
#[tokio::test]
async fn nothing_waits_under_an_unknown_number() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let paths = Paths { config_file: at.join("agents.yaml"), state: at.clone(), runtime: at };
    let options = OpenOptions { path: paths.database(), clock: clock::system() };
    let store = Store::open(options).await.unwrap();
    let site = || Site { store: &store, paths: &paths, by: "owner", released: 30 };
    for said in ["yes", "blue", "abort"] {
        let failure = answer_any(site(), 9, said).await.unwrap_err();
        assert_eq!(failure.sentence(), "nothing waits under 9", "{said}");
    }
}
