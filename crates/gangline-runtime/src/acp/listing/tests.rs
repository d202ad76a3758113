//! A list beside an open session.

use std::fs;

use super::list;
use crate::{
    SessionFilter,
    acp::{
        launch::tests::{Only, options},
        recipe::COPILOT,
    },
};

#[tokio::test]
async fn the_files_of_an_open_session_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.command = Some(vec!["/bin/false".to_owned()]);
    options.tools = std::sync::Arc::new(Only("send"));
    fs::create_dir_all(&options.session_dir).unwrap();
    let file = options.session_dir.join("copilot-servers.json");
    fs::write(&file, "of the session").unwrap();
    let filter = SessionFilter { workdir: None, limit: 9 };
    list(&COPILOT, &options, &filter).await.unwrap_err();
    assert_eq!(fs::read_to_string(&file).unwrap(), "of the session");
}
