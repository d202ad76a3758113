use std::{collections::BTreeMap, fs};

use super::*;
use crate::tmux::launch::tests::options;

fn server(key: &str, place: McpPlace, allowed: &[&str]) -> McpServer {
    let allowed_tools = allowed.iter().map(|tool| (*tool).to_owned()).collect();
    McpServer { key: key.to_owned(), place, allowed_tools }
}

fn stdio(env: &[(&str, &str)]) -> McpPlace {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    McpPlace::Stdio { command: ["python3", "say \"x\".py"].map(str::to_owned).to_vec(), env }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| (*word).to_owned()).collect()
}

/// R3-14, R2-34: the servers are in a private file, and what runs unasked in another.
#[test]
fn a_program_that_reads_files_is_given_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "claude");
    fs::create_dir(folder.path().join("s")).unwrap();
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer k".to_owned())]);
    let url = "http://x/mcp".to_owned();
    options.mcp_servers = vec![
        server("probe", stdio(&[("KEY", "v")]), &["echo", "list_*"]),
        server("web", McpPlace::Http { url, headers }, &[]),
    ];
    let flags = words(&["--mcp-config", "{file}", "--settings", "{settings}"]);
    let offered = offer(&options, (Form::Json, &flags), Ours::default()).unwrap();
    let at = |name: &str| folder.path().join("s").join(name).display().to_string();
    let (servers, settings) = (at(SERVERS_FILE), at(SETTINGS_FILE));
    assert_eq!(offered.args, words(&["--mcp-config", &servers, "--settings", &settings]));
    assert_eq!((offered.env, offered.notices), (vec![], vec![]));
    let read = |file: &str| fs::read_to_string(file).unwrap().parse::<Value>().unwrap();
    assert_eq!(
        read(&servers),
        json!({"mcpServers": {
            "probe": {"type": "stdio", "command": "python3", "args": ["say \"x\".py"],
                      "env": {"KEY": "v"}},
            "web": {"type": "http", "url": "http://x/mcp",
                    "headers": {"Authorization": "Bearer k"}},
        }})
    );
    assert_eq!(
        read(&settings),
        json!({"permissions": {"defaultMode": "default", "allow":
            ["Glob", "Grep", "Read", "TodoWrite", "mcp__probe__echo", "mcp__probe__list_*"]}})
    );
    use std::os::unix::fs::PermissionsExt as _;
    assert_eq!(fs::metadata(servers).unwrap().permissions().mode() & 0o777, 0o600);
}

/// R3-14: arguments are seen by everybody: nothing secret is among them.
#[tokio::test]
async fn a_program_that_takes_flags_is_given_no_secret_by_them() {
    let folder = tempfile::Builder::new().prefix("gl-").tempdir().unwrap();
    let mut options = options(folder.path(), "codex");
    let url = "http://x/mcp".to_owned();
    let headers = BTreeMap::from([("X-Key".to_owned(), "s3cret".to_owned())]);
    options.mcp_servers = vec![
        server("probe", stdio(&[]), &["*"]),
        server("keyed", stdio(&[("KEY", "s3cret")]), &["*"]),
        server("open", McpPlace::Http { url: url.clone(), headers: BTreeMap::new() }, &["one"]),
        server("closed", McpPlace::Http { url, headers }, &[]),
    ];
    let (_turn, of_turn) = tokio::sync::watch::channel(None);
    let host = std::sync::Arc::clone(&options.tools);
    let own = ToolServer::start(host, of_turn, &folder.path().join("t")).unwrap();
    let ours = Ours { tools: Some(&own), ..Ours::default() };
    let offered = offer(&options, (Form::Flags, &words(&["-c", "{set}"])), ours).unwrap();
    let [(name, token)] = &offered.env[..] else { panic!("{:?}", offered.env) };
    assert_eq!(name, TOKEN_VARIABLE);
    let all = offered.args.join("\n");
    assert!(!all.contains("s3cret") && !all.contains(token.as_str()), "{all}");
    let key = options.tools.server_key();
    for expect in [
        r#"mcp_servers.probe.command="python3""#.to_owned(),
        r#"mcp_servers.probe.args=["say \"x\".py"]"#.to_owned(),
        r#"mcp_servers.probe.default_tools_approval_mode="approve""#.to_owned(),
        r#"mcp_servers.open.url="http://x/mcp""#.to_owned(),
        format!(r#"mcp_servers.{key}.bearer_token_env_var="{TOKEN_VARIABLE}""#),
        format!(r#"mcp_servers.{key}.default_tools_approval_mode="approve""#),
    ] {
        assert!(all.lines().any(|line| line == expect), "{expect} in {all}");
    }
    assert!(!all.contains("mcp_servers.open.default_tools"), "{all}");
    assert_eq!(offered.notices.len(), 2, "{:?}", offered.notices);
}

/// R3-20: the program is told of its hooks in the form in which it is told of tools.
#[test]
fn hooks_are_told_as_tools_are() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path(), "claude");
    fs::create_dir(folder.path().join("s")).unwrap();
    let hooks_of = |program: &str| {
        super::super::profile::Profile::of(program.as_ref(), None).unwrap().hooks.unwrap()
    };
    let to_us = words(&["bridge", "sock"]);
    let offered = |form: Form, program: &str, word: &str| {
        let hooks = hooks_of(program);
        let ours = Ours { hooks: Some((&hooks, &to_us)), ..Ours::default() };
        offer(&options, (form, &words(&[word])), ours).unwrap()
    };
    let [file] = &offered(Form::Json, "claude", "{settings}").args[..] else { panic!() };
    let settings: Value = fs::read_to_string(file).unwrap().parse().unwrap();
    assert_eq!(settings["hooks"], hooks_of("claude").settings(&to_us));
    assert_eq!(settings["permissions"]["defaultMode"], "default");
    let [set] = &offered(Form::Flags, "codex", "{set}").args[..] else { panic!() };
    let line = r#"notify=["sh","-c","printf %s \"$1\" | 'bridge' 'sock' >/dev/null 2>&1 || :","gangline"]"#;
    assert_eq!(set, line);
}
