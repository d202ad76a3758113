use gangline_os::secret::Secret;

use super::*;
use crate::{Mode, Permissions, Thinking};

fn options(folder: &Path) -> StartOptions {
    let env = [
        ("HOME", folder.display().to_string()),
        ("TMPDIR", "/tmp".to_owned()),
        ("NODE_OPTIONS", "--inspect".to_owned()),
        ("CLAUDE_CODE_ENTRYPOINT", "cli".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", "7".to_owned()),
    ];
    StartOptions {
        workdir: folder.to_owned(),
        session_dir: folder.to_owned(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        permissions: Permissions::Bypass,
        ..StartOptions::within(folder)
    }
}

/// What is given wins over our defaults; what a parent session left behind does not arrive; no
/// variable says that checks may be skipped.
#[test]
fn the_environment_is_the_given_one_with_our_defaults() {
    let folder = Path::new("/home/ada");
    let mut options = options(folder);
    let env = environment(&options);
    let get = |name: &str| env.get(name).map(String::as_str);
    for gone in ["NODE_OPTIONS", "CLAUDE_CODE_ENTRYPOINT", "ANTHROPIC_API_KEY", "IS_SANDBOX"] {
        assert_eq!(get(gone), None, "{gone}");
    }
    assert_eq!(get("CLAUDE_CODE_MAX_RETRIES"), Some("7"));
    assert_eq!(get("TMPDIR"), Some("/home/ada/tmp"));
    assert_eq!(get("CLAUDE_CODE_TMPDIR"), Some("/home/ada/tmp"));
    assert_eq!(get("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"), Some("1"));
    assert_eq!(get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"), Some("1"));
    assert_eq!(get("CLAUDE_CODE_DISABLE_CRON"), Some("1"));
    assert_eq!(env.len(), 5 - 2 + DEFAULTS.len() - 1 + 4, "{env:?}");

    options.account_dir = Some("/accounts/2".into());
    options.base_url = Some("http://127.0.0.1:9".to_owned());
    options.api_key = Some(Secret::new("key"));
    options.extra.insert("background_tasks".to_owned(), true.into());
    let env = environment(&options);
    assert_eq!(env["CLAUDE_CONFIG_DIR"], "/accounts/2");
    assert_eq!(env["ANTHROPIC_BASE_URL"], "http://127.0.0.1:9");
    assert_eq!(env["ANTHROPIC_API_KEY"], "key");
    assert!(!env.contains_key("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"));
}

fn words(options: &StartOptions, goes_on: GoesOn) -> Vec<String> {
    let session = SessionId("the-session".to_owned());
    let folder = Folder::of(options).unwrap();
    let args = arguments((options, &folder), &session, goes_on).unwrap();
    args.into_iter().map(|word| word.into_string().unwrap()).collect()
}

/// The list that takes any number of words stands last; a key of a server of the user's is no
/// argument.
#[test]
fn the_arguments_say_what_the_options_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let args = words(&options, GoesOn::No).join(" ");
    let expected = format!(
        "--print --verbose --input-format stream-json --output-format stream-json \
         --permission-prompt-tool stdio --permission-mode default --session-id the-session \
         --settings {} --setting-sources user --disallowedTools {NEVER_BY_ITSELF}",
        folder.path().join("claude-settings.json").display()
    );
    assert_eq!(args, expected);

    options.model = Some("opus".to_owned());
    options.thinking = Some(Thinking::Said("high".to_owned()));
    options.system_prompt = "You are oak-ada.".to_owned();
    options.extra.insert("background_tasks".to_owned(), true.into());
    let env = BTreeMap::from([("TOKEN".to_owned(), "hidden".to_owned())]);
    let command = vec!["tool".to_owned(), "--serve".to_owned()];
    options.mcp_servers = vec![McpServer {
        key: "files".to_owned(),
        place: McpPlace::Stdio { command, env },
        allowed_tools: Vec::new(),
    }];
    let args = words(&options, GoesOn::Yes);
    let line = args.join(" ");
    for part in ["--resume the-session ", "--model opus ", "--effort high ", "--mcp-config "] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("hidden") && !line.contains("oak-ada"), "{line}");
    assert_eq!(args.last().map(String::as_str), Some("AskUserQuestion"));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("claude-system-prompt.md"), "You are oak-ada.");
    let servers: Value = serde_json::from_str(&read("claude-mcp.json")).unwrap();
    let expected = json!({"mcpServers": {"files": {
        "type": "stdio", "command": "tool", "args": ["--serve"], "env": {"TOKEN": "hidden"}}}});
    assert_eq!(servers, expected);

    options.thinking = Some(Thinking::Said("ultrathink".to_owned()));
    assert!(!words(&options, GoesOn::Yes).contains(&"--effort".to_owned()));
}

/// R0-33, R1-37: a session that only judges has no tools, none of the user's instructions, and leaves
/// no transcript behind; its own prompt is the whole prompt.
#[test]
fn a_session_that_judges_has_no_tools_and_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.purpose = Purpose::Judge;
    options.system_prompt = "You are a supervisor.".to_owned();
    let args = words(&options, GoesOn::No);
    let at = args.iter().position(|arg| arg == "--tools").unwrap();
    assert_eq!(args[at + 1], "");
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    assert!(has("--no-session-persistence") && has("--system-prompt-file"), "{args:?}");
    assert!(!has("--append-system-prompt-file") && !has("--disallowedTools"), "{args:?}");
    assert_eq!(environment(&options)["CLAUDE_CODE_DISABLE_CLAUDE_MDS"], "1");
    options.purpose = Purpose::Work;
    assert_eq!(environment(&options).get("CLAUDE_CODE_DISABLE_CLAUDE_MDS"), None);
}

#[test]
fn a_command_is_a_list_of_words() {
    let mut options = options(Path::new("/"));
    let mut of = |words: Option<&[&str]>| {
        options.command = words.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
        program::command(&options, NAME)
            .map(|(program, rest)| (program.display().to_string(), rest.len()))
    };
    assert_eq!(of(None), Ok(("claude".to_owned(), 0)));
    assert_eq!(of(Some(&["/opt/claude"])), Ok(("/opt/claude".to_owned(), 0)));
    assert_eq!(of(Some(&["env", "A=1", "claude"])), Ok(("env".to_owned(), 2)));
    for wrong in [&[][..], &[""]] {
        assert!(of(Some(wrong)).is_err());
    }
}

/// R0-16: a new session has an id that nobody had; one that goes on has its own.
#[test]
fn a_session_is_new_or_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let mut options = options(home.path());
    let login = Login::new(&environment(&options));
    let (one, goes_on) = session(&options, &login);
    let (other, _) = session(&options, &login);
    assert!(one != other && goes_on == GoesOn::No);
    options.resume = Some(one.clone());
    assert_eq!(session(&options, &login), (one.clone(), GoesOn::No), "it had no turn");
    let project = home.path().join(".claude/projects/-work");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join(format!("{one}.jsonl")), "").unwrap();
    assert_eq!(session(&options, &login), (one, GoesOn::Yes));
}

/// R2-03, R2-07, R2-15, R2-42, R2-34, C38: the flags of a process for one turn, in each mode of permissions.
#[test]
fn a_process_for_one_turn_has_the_tools_that_are_named_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.mode = Mode::PerTurn;
    options.system_prompt = "You are oak-ada.".to_owned();
    options.extra.insert("background_tasks".to_owned(), true.into());
    assert_eq!(environment(&options)["DISABLE_AUTO_COMPACT"], "1");
    let mut other = options.clone();
    other.extra.insert("auto_compact".to_owned(), true.into());
    assert!(!environment(&other).contains_key("DISABLE_AUTO_COMPACT"), "C13");
    assert!(per_turn::settings(&other)["autoCompactEnabled"] == json!(true));
    other.mode = Mode::Resident;
    assert!(!environment(&other).contains_key("DISABLE_AUTO_COMPACT"), "C13");
    assert_eq!(settings(&other)["autoCompactEnabled"], json!(null));
    other.extra.clear();
    assert_eq!(environment(&other)["DISABLE_AUTO_COMPACT"], "1", "R2-07");
    assert_eq!(settings(&other)["autoCompactEnabled"], json!(false), "R2-07");
    other.mode = Mode::Tmux;
    assert!(!environment(&other).contains_key("DISABLE_AUTO_COMPACT"));
    assert_eq!(environment(&options)["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"], "1");
    let check = |options: &StartOptions, expect: &[&str], not: &[&str]| {
        let line = format!("{} ", words(options, GoesOn::Yes).join(" "));
        for part in expect {
            assert!(line.contains(part), "{part}: {line}");
        }
        for part in not {
            assert!(!line.contains(part), "{part}: {line}");
        }
    };
    let all = "Bash,Edit,Glob,Grep,Read,TodoWrite,Write ";
    let (tools, allowed) = (format!("--tools {all}"), format!("--allowedTools {all}"));
    let strict = "--strict-mcp-config ";
    check(&options, &[&tools, &allowed, strict, "--append-system-prompt-file "], &["disallowed"]);

    options.permissions = Permissions::Ask;
    options.allowed_tools = vec!["Bash".to_owned()];
    options.mcp_servers = vec![McpServer {
        key: "files".to_owned(),
        place: McpPlace::Http { url: "http://127.0.0.1:9".to_owned(), headers: BTreeMap::new() },
        allowed_tools: vec!["list".to_owned()],
    }];
    let allowed = "--allowedTools TodoWrite,mcp__files__list ";
    check(&options, &[&tools, allowed], &[]);

    options.permissions = Permissions::Allowlist;
    options.allowed_tools = ["Read", "Bash(git log)", "mcp__files__*"].map(str::to_owned).into();
    options.extra.insert("replace_system_prompt".to_owned(), true.into());
    check(&options, &["--tools Read,Bash ", " --system-prompt-file "], &["--append-system"]);
    options.extra.insert("tools".to_owned(), json!(["Read"]));
    check(&options, &["--tools Read "], &["Bash"]);

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let settings = |options: &StartOptions| {
        words(options, GoesOn::Yes);
        serde_json::from_str::<Value>(&read("claude-settings.json")).unwrap()["effortLevel"].clone()
    };
    assert_eq!(settings(&options), "medium");
    options.thinking = Some(Thinking::Said("xhigh".to_owned()));
    assert_eq!(settings(&options), "xhigh");
}

/// R3-14: the environment's id is taken by a session that begins, unless it is no UUID or in use.
#[test]
fn a_new_session_takes_the_id_of_the_environment() {
    let home = tempfile::tempdir().unwrap();
    let mut options = options(home.path());
    let login = Login::new(&environment(&options));
    options.env.push(("GT_SESSION_ID".to_owned(), "gt-oak-ada".to_owned()));
    assert_ne!(session(&options, &login).0, SessionId("gt-oak-ada".to_owned()));
    let id = uuid::Uuid::new_v4().to_string();
    options.env.pop();
    options.env.push(("GT_SESSION_ID".to_owned(), id.clone()));
    assert_eq!(session(&options, &login), (SessionId(id.clone()), GoesOn::No));
    let project = home.path().join(".claude/projects/-work");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join(format!("{id}.jsonl")), "").unwrap();
    assert_ne!(session(&options, &login).0, SessionId(id));
}

/// What the folder brings along is left out, whatever the permissions are and however the program lives;
/// its instructions come by us. The user's own servers stay, but for one that lives for a turn (R2-03).
#[test]
fn the_project_settings_are_never_read_from_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir_all(work.join(".claude")).unwrap();
    std::fs::write(work.join(".claude/settings.json"), "{\"hooks\": {}}").unwrap();
    std::fs::write(work.join("CLAUDE.md"), "Say please.").unwrap();
    let mut options = options(folder.path());
    options.workdir = work;
    options.system_prompt = "You are oak-ada.".to_owned();
    for mode in [Mode::Resident, Mode::PerTurn] {
        for permissions in [Permissions::Ask, Permissions::Allowlist, Permissions::Bypass] {
            for purpose in [Purpose::Work, Purpose::Judge] {
                (options.mode, options.permissions, options.purpose) = (mode, permissions, purpose);
                let line = words(&options, GoesOn::No).join(" ");
                assert!(line.contains(" --setting-sources user "), "{line}");
                let strict = mode == Mode::PerTurn && purpose == Purpose::Work;
                assert_eq!(line.contains("--strict-mcp-config"), strict, "{line}");
                assert!(!line.contains("--plugin-dir"), "{line}");
            }
        }
    }
    let prompt = || std::fs::read_to_string(folder.path().join("claude-system-prompt.md")).unwrap();
    assert_eq!(prompt(), "You are oak-ada.", "one that judges has none of them");
    options.purpose = Purpose::Work;
    words(&options, GoesOn::No);
    let said = prompt();
    assert!(said.starts_with("You are oak-ada.\n\n") && said.ends_with("Say please."), "{said}");
}

/// What was allowed comes from the copy: a change in the folder changes nothing.
#[test]
fn what_was_allowed_is_loaded_from_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    let write = |path: &str, text: &str| {
        let path = work.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let hook = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x.sh"}]}]}});
    write(".claude/settings.json", &hook.to_string());
    write(".claude/skills/s/SKILL.md", "a skill");
    write("x.sh", "echo hi");
    write(
        ".mcp.json",
        "{\"mcpServers\": {\"p\": {\"command\": \"p\"}, \"files\": {\"command\": \"q\"}}}",
    );
    let mut options = options(folder.path());
    options.workdir.clone_from(&work);
    let scan = folder::scan(&work, None, &folder::programs::CLAUDE);
    let copies = folder.path().join("trusted");
    folder::copy::make(&copies, &scan).unwrap();
    let hash = scan.hash();
    options.trusted = Some(folder::Trusted { hash: hash.clone(), copies: copies.clone() });
    options.mcp_servers = vec![McpServer {
        key: "files".to_owned(),
        place: McpPlace::Http { url: "http://127.0.0.1:9".to_owned(), headers: BTreeMap::new() },
        allowed_tools: Vec::new(),
    }];
    write(".claude/settings.json", "{\"hooks\": {\"Stop\": []}}");
    write(".mcp.json", "{}");
    write("x.sh", "id > /tmp/proof");
    let args = words(&options, GoesOn::No);
    let root = copies.join(&hash).join("tree/0");
    let at = args.iter().position(|arg| arg == "--plugin-dir").unwrap();
    assert_eq!(args[at + 1], root.join(".claude").display().to_string());
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).unwrap()).unwrap()
    };
    let command = &read("claude-settings.json")["hooks"]["Stop"][0]["hooks"][0]["command"];
    assert_eq!(command, &json!(root.join("x.sh").display().to_string()));
    assert_eq!(std::fs::read_to_string(root.join("x.sh")).unwrap(), "echo hi");
    let servers = read("claude-mcp.json");
    assert_eq!(servers["mcpServers"]["p"]["command"], "p");
    assert_eq!(servers["mcpServers"]["files"]["type"], "http", "a configured one counts more");
    // A copy that somebody changed is not believed.
    std::fs::write(root.join("x.sh"), "id").unwrap();
    let folder = Folder::of(&options).unwrap();
    assert_eq!(folder.project, Project::default());
    assert!(folder.notices[0].contains("is not what was allowed"), "{:?}", folder.notices);
}
