//! Folders as the program makes them.

use std::collections::BTreeMap;

use super::*;

fn at(name: &str, folder: &Path) -> Login {
    Login::new(&BTreeMap::from([(name.to_owned(), folder.display().to_string())]))
}

#[test]
fn a_transcript_is_missing_only_where_one_can_look() {
    let home = tempfile::tempdir().unwrap();
    let id = "0191f2c4-0000-7000-8000-000000000001";
    let login = at("HOME", home.path());
    assert!(login.transcript_is_missing(id), "there is no folder of transcripts");
    let project = home.path().join(".claude/projects/-work");
    fs::create_dir_all(&project).unwrap();
    assert!(login.transcript_is_missing(id));
    fs::write(project.join(format!("{id}.jsonl")), "{}").unwrap();
    assert!(!login.transcript_is_missing(id));
    assert!(!at("CLAUDE_CONFIG_DIR", &home.path().join(".claude")).transcript_is_missing(id));
    assert!(!login.transcript_is_missing("../../etc/passwd"), "no id of ours: the program decides");
    assert!(!Login::new(&BTreeMap::new()).transcript_is_missing(id), "nobody knows where to look");
}

#[test]
fn a_login_that_is_written_looks_different() {
    let home = tempfile::tempdir().unwrap();
    let login = at("CLAUDE_CONFIG_DIR", home.path());
    let before = login.files().look();
    assert_eq!(login.files().look(), before);
    fs::write(home.path().join(".claude.json"), "{}").unwrap();
    assert_eq!(login.files().look(), before, "the program writes that one by itself");
    fs::write(home.path().join(".credentials.json"), "{}").unwrap();
    assert_ne!(login.files().look(), before);
}

/// Skills and long results are the program's own to read; its login and other sessions are not.
#[test]
fn skills_and_long_results_are_read_by_tools() {
    let login = Login { folder: Some("/h/.claude".into()) };
    let session = "00000000-0000-4000-8000-0000000000a1";
    let places = login.read_by_tools(Path::new("/h/my.proj"), session);
    let expect = ["skills", "plugins", "projects/-h-my-proj/00000000-0000-4000-8000-0000000000a1"];
    assert_eq!(places, expect.map(|name| PathBuf::from("/h/.claude").join(name)));
    assert_eq!(login.read_by_tools(Path::new("/h"), "../..").len(), 2);
}
