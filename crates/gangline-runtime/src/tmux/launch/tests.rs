//! Words and environment, by profile.

use std::path::Path;

use gangline_os::secret::Secret;

use super::*;

pub(in crate::tmux) fn options(folder: &Path, program: &str) -> StartOptions {
    let path = folder.join(program);
    std::fs::write(&path, "").unwrap();
    StartOptions {
        workdir: folder.to_owned(),
        session_dir: folder.join("s"),
        tmp_dir: folder.join("t"),
        command: Some(vec![path.display().to_string(), "--mine".to_owned()]),
        account_dir: Some("/acc".into()),
        env: [("TMUX", "x"), ("CLAUDECODE", "1"), ("DISABLE_TELEMETRY", "0"), ("A", "b")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        mode: Mode::Tmux,
        model: Some("opus".to_owned()),
        system_prompt: "be good".to_owned(),
        base_url: Some("http://x".to_owned()),
        api_key: Some(Secret::new("secret")),
        ..StartOptions::within(folder)
    }
}

fn words(launch: &Launch) -> String {
    let words = launch.pane.command.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}

/// R3-05, R3-14: options become the program's own words; no secret is among them.
#[test]
fn a_known_program_gets_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "claude");
    let launch = prepare(&options, None, (None, None)).unwrap();
    let shown = words(&launch);
    let id = &launch.session.0;
    let here = folder.path().display();
    assert_eq!(
        shown,
        format!(
            "env -u TMUX -u TMUX_PANE {here}/claude --mine --setting-sources user --model opus \
             --append-system-prompt-file {here}/s/tmux-system-prompt.md --session-id {id} \
             --mcp-config {here}/s/tmux-tools.json --settings {here}/s/tmux-settings.json"
        )
    );
    let env: BTreeMap<String, String> = launch
        .env
        .iter()
        .map(|(name, value)| (name.to_string_lossy().into(), value.to_string_lossy().into()))
        .collect();
    let get = |name: &str| env.get(name).map(String::as_str);
    assert_eq!((get("TMUX"), get("CLAUDECODE"), get("A")), (None, None, Some("b")));
    assert_eq!(get("DISABLE_TELEMETRY"), Some("0"), "the agent's own word counts");
    assert_eq!(get("CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN"), Some("1"));
    assert_eq!(get("ANTHROPIC_API_KEY"), Some("secret"));
    assert_eq!(get("CLAUDE_CONFIG_DIR"), Some("/acc"));
    assert_eq!(get("CLAUDE_SESSION_ID"), Some(id.as_str()));
    assert_eq!(get("CLAUDE_CODE_DISABLE_CRON"), Some("1"));
    // R3-09: its environment names the session that it has.
    let told = "0b0e7b1e-3c5f-4a53-9d0a-0f7c3a1f2b3c";
    options.env.push((crate::SESSION_VARIABLE.to_owned(), told.to_owned()));
    assert_eq!(prepare(&options, None, (None, None)).unwrap().session.0, told);
    options.resume = Some(SessionId("old".to_owned()));
    let launch = prepare(&options, None, (None, None)).unwrap();
    assert!(words(&launch).contains(" --resume old ") && launch.notices.is_empty());
    assert_eq!(launch.session.0, "old");
}

#[test]
fn an_unknown_program_gets_nothing_and_a_lost_session_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "thing");
    options.resume = Some(SessionId("old".to_owned()));
    let launch = prepare(&options, None, (None, None)).unwrap();
    assert!(words(&launch).ends_with("/thing --mine"), "{}", words(&launch));
    assert!(!launch.notices.is_empty() && launch.session.0 != "old");
    options.command = None;
    assert!(prepare(&options, None, (None, None)).is_err());
}

/// R0-21: a session that the program has not recorded is told and begun anew: the newest one of the
/// same login may be another agent's.
#[test]
fn a_session_that_was_not_recorded_is_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "codex");
    options.account_dir = Some(folder.path().to_owned());
    let recorded = r#"{"session_id":"known","ts":1,"text":"hi"}"#;
    std::fs::write(folder.path().join("history.jsonl"), recorded).unwrap();
    options.resume = Some(SessionId("known".to_owned()));
    let launch = prepare(&options, None, (None, None)).unwrap();
    assert!(words(&launch).contains(" resume known"), "{}", words(&launch));
    assert_eq!(launch.notices, [""; 0]);
    options.resume = Some(SessionId("other".to_owned()));
    let launch = prepare(&options, None, (None, None)).unwrap();
    assert!(!words(&launch).contains(" resume "), "{}", words(&launch));
    assert!(launch.notices[0].contains("other") && launch.session.0 != "other");
}

/// What the folder brings along is left out in a terminal too, comes from the copy once it was allowed, and
/// keeps a program without a switch from its start.
#[test]
fn what_the_folder_brings_along_is_not_loaded_in_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let start = |options: &StartOptions| prepare(options, None, (None, None));
    let mut codex = options(folder.path(), "codex");
    codex.extra.insert("screen".to_owned(), serde_json::json!({"tools": null, "hooks": null}));
    let told = |options: &StartOptions| words(&start(options).unwrap());
    assert!(told(&codex).contains("trust_level=\"trusted\""), "nothing is there");

    write(".codex/config.toml", "x = 1");
    assert!(told(&codex).contains("trust_level=\"untrusted\""));
    let brings = &crate::folder::programs::CODEX;
    let hash = crate::folder::scan(folder.path(), None, brings).hash();
    codex.trusted = Some(crate::folder::Trusted { hash, copies: folder.path().join("c") });
    assert!(told(&codex).contains("trust_level=\"trusted\""), "{}", told(&codex));

    write("opencode.json", "{}");
    let opencode = options(folder.path(), "opencode");
    let refused = start(&opencode).err().unwrap();
    assert!(refused.contains("opencode.json") && refused.contains("trust allow"), "{refused}");

    write(".claude/settings.json", r#"{"hooks": {"Stop": [{"command": "bash ./x.sh"}]}}"#);
    write(".claude/skills/s/SKILL.md", "x");
    write(".mcp.json", r#"{"mcpServers": {"theirs": {"command": "id"}}}"#);
    write("x.sh", "id");
    write("CLAUDE.md", "by the project");
    let mut claude = options(folder.path(), "claude");
    let read = |name: &str| std::fs::read_to_string(folder.path().join("s").join(name)).unwrap();
    let launch = start(&claude).unwrap();
    assert!(!words(&launch).contains("--plugin-dir"), "{}", words(&launch));
    assert!(!read("tmux-settings.json").contains("x.sh"));
    assert!(!read("tmux-tools.json").contains("theirs"));
    assert!(read("tmux-system-prompt.md").contains("by the project"), "the switch leaves it out");
    let found = crate::folder::scan(folder.path(), None, &crate::folder::programs::CLAUDE);
    let copies = folder.path().join("c");
    crate::folder::copy::make(&copies, &found).unwrap();
    claude.trusted = Some(crate::folder::Trusted { hash: found.hash(), copies });
    let launch = start(&claude).unwrap();
    let plugin = format!("--plugin-dir {}", folder.path().join("c").display());
    assert!(words(&launch).contains(&plugin), "{}", words(&launch));
    assert!(words(&launch).contains("--setting-sources user"));
    let copy = format!("bash {}", folder.path().join("c").display());
    assert!(read("tmux-settings.json").contains(&copy), "{}", read("tmux-settings.json"));
    assert!(read("tmux-tools.json").contains("theirs"));
}
