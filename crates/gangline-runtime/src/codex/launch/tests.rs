//! How the program is started.

use super::*;
use crate::codex::thread::tests::options;

fn words(options: &StartOptions) -> String {
    let words: Vec<String> = arguments(options, Trust::None)
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}

/// R2-42, C5: what the program would not ask about is there only where it may run unasked.
#[test]
fn what_cannot_be_asked_about_is_turned_off() {
    let mut options = options(Path::new("/project"));
    let off = ["multi_agent=false", "web_search=\"disabled\"", "unified_exec_tty=false"];
    let seen = |options: &StartOptions| {
        let words = words(options);
        off.map(|setting| words.contains(setting))
    };
    assert_eq!(seen(&options), [true, true, true]);
    options.permissions = Permissions::Allowlist;
    assert_eq!(seen(&options), [true, true, true]);
    options.allowed_tools = vec!["WebSearch".to_owned(), "Task".to_owned()];
    assert_eq!(seen(&options), [false, false, true]);
    options.permissions = Permissions::Bypass;
    assert_eq!(seen(&options), [false, false, false]);
    assert!(words(&options).starts_with("app-server -c "));
    assert!(words(&options).contains("features.unbounded_connection_retries=false"));
    assert!(words(&options).contains("features.plugins=false"));
    assert!(!words(&options).contains("features.shell_tool=false"));
    options.purpose = crate::Purpose::Judge;
    assert!(words(&options).contains("features.shell_tool=false"));
}

#[test]
fn the_environment_is_ours() {
    let mut options = options(Path::new("/project"));
    let env = environment(&options);
    assert_eq!(env.get("CODEX_THREAD_ID"), None);
    assert_eq!(env.get("CODEX_HOME"), None);
    assert_eq!(env["TMPDIR"], "/project/tmp");
    options.account_dir = Some(PathBuf::from("/accounts/ada"));
    assert_eq!(environment(&options)["CODEX_HOME"], "/accounts/ada");
}

#[test]
fn a_home_below_the_temporary_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("tmp"), folder.path().join("link")).unwrap();
    for (home, refused) in
        [("account", false), ("tmp/x/y", true), ("link/x", true), ("tmpx", false)]
    {
        options.account_dir = Some(folder.path().join(home));
        let checked = check_home(&options, &Login::new(&environment(&options)));
        assert_eq!(checked.is_err(), refused, "{home}: {checked:?}");
    }
}

#[test]
fn rules_of_the_user_s_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.account_dir = Some(folder.path().to_owned());
    let login = Login::new(&environment(&options));
    assert!(!login.has_rules());
    std::fs::create_dir(folder.path().join("rules")).unwrap();
    std::fs::write(folder.path().join("rules/notes.txt"), "").unwrap();
    assert!(!login.has_rules());
    std::fs::write(folder.path().join("rules/default.rules"), "").unwrap();
    assert!(login.has_rules());
    let before = login.files().look();
    assert_eq!(before, login.files().look());
    std::fs::write(folder.path().join("auth.json"), "{}").unwrap();
    assert_ne!(before, login.files().look());
}
