use super::check;
use crate::tidy::{repo_of, said};

fn findings(path: &str, text: &str) -> usize {
    said(&check(&repo_of(&[(path, text)]))).len()
}

#[test]
fn a_raw_shared_folder_in_the_product_is_found() {
    for line in [
        "let socket = Path::new(\"/tmp\").join(name);",
        "let socket = format!(\"/tmp/gangline-{nick}.sock\");",
        "let folder = std::env::temp_dir();",
        "let file = \"/dev/shm/x\"; let other = \"/var/tmp/x\";",
    ] {
        assert_eq!(findings("crates/gangline/src/x.rs", line), 1, "{line}");
        assert_eq!(findings("crates/gangline/src/x/tests.rs", line), 0, "{line}");
        assert_eq!(findings("crates/gangline-testkit/src/x.rs", line), 0, "{line}");
    }
}

#[test]
fn a_reason_near_it_excuses_it_and_comments_are_free() {
    let line = "Path::new(\"/tmp\")\n";
    let path = "crates/gangline-os/src/paths.rs";
    assert_eq!(findings(path, &format!("// shared folder: others listen there\n{line}")), 0);
    assert_eq!(findings(path, &format!("// shared folder: far\n\n\n\n{line}")), 1);
    assert_eq!(findings(path, "/// never \"/tmp\"\n"), 0);
}
