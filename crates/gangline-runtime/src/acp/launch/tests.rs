//! What each program is started with.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use async_trait::async_trait;
use gangline_os::secret::Secret;
use serde_json::{Value, json};

use super::*;
use crate::{
    ToolCall, ToolHost, ToolSpec,
    acp::recipe::{CLINE, COPILOT, GEMINI, KIRO, OPENCODE, PLAIN},
};

/// A daemon with this tool; with none when it has no name.
pub(in crate::acp) struct Only(pub(in crate::acp) &'static str);

#[async_trait]
impl ToolHost for Only {
    fn tools(&self) -> Vec<ToolSpec> {
        let spec = ToolSpec {
            name: self.0,
            description: "x",
            input_schema: json!({}),
            output_schema: None,
        };
        if self.0.is_empty() { Vec::new() } else { vec![spec] }
    }
    async fn call(&self, _call: ToolCall) -> Result<String, String> {
        Err("there is none".to_owned())
    }
}

pub(in crate::acp) fn options(folder: &Path) -> StartOptions {
    let env = [("HOME", folder.display().to_string()), ("NODE_OPTIONS", "--inspect".to_owned())];
    let server = |key: &str, place| McpServer { key: key.to_owned(), place, allowed_tools: vec![] };
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer t".to_owned())]);
    let http = McpPlace::Http { url: "http://127.0.0.1:1/mcp".to_owned(), headers };
    let command = vec!["docs".to_owned(), "--all".to_owned()];
    StartOptions {
        workdir: folder.to_owned(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        model: Some("lab/first".to_owned()),
        system_prompt: "You are oak-ada.".to_owned(),
        mcp_servers: vec![
            server("docs", McpPlace::Stdio { command, env: BTreeMap::new() }),
            server("web", http),
        ],
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        api_key: Some(Secret::new("sk-1")),
        ..StartOptions::within(folder)
    }
}

struct Started {
    launch: Launch,
    env: BTreeMap<String, String>,
    args: Vec<String>,
}

impl Started {
    fn env(&self, name: &str) -> &str {
        self.env.get(name).map_or("", String::as_str)
    }

    /// The JSON in the private file of that name.
    fn file(&self, options: &StartOptions, name: &str) -> Value {
        let path = options.session_dir.join(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }
}

fn start(recipe: &'static Recipe, options: &StartOptions) -> Started {
    let launch = prepare(recipe, options, watch::channel(None).1).unwrap();
    let text = |it: &OsString| it.to_str().unwrap().to_owned();
    let env = launch.spawn.env.iter().map(|(name, value)| (text(name), text(value))).collect();
    let args = launch.spawn.args.iter().map(text).collect();
    Started { launch, env, args }
}

#[test]
fn opencode_gets_a_configuration_over_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.extra.insert("models".to_owned(), json!(["second"]));
    options.extra.insert("context_window".to_owned(), json!(9000));
    options.bounds.open = vec!["/s/notes".into()];
    let theirs = r#"{"theme":"dark","permission":{"bash":"allow"},"provider":{"other":{}}}"#;
    options.env.push(("OPENCODE_CONFIG_CONTENT".to_owned(), theirs.to_owned()));
    let started = start(&OPENCODE, &options);
    let config: Value = serde_json::from_str(started.env("OPENCODE_CONFIG_CONTENT")).unwrap();
    assert_eq!(config["theme"], "dark");
    // By itself it asks nobody.
    assert_eq!(config["permission"]["*"], "ask");
    assert_eq!(config["permission"]["bash"], "ask");
    assert_eq!(config["compaction"]["auto"], false);
    // Its question before that about a file elsewhere is not asked of the agent's own folders.
    let outside = json!({"*": "ask", "/s/notes/*": "allow"});
    assert_eq!(config["permission"]["external_directory"], outside);
    assert_eq!(config["agent"]["build"]["permission"]["bash"], "ask");
    assert_eq!((&config["share"], &config["autoupdate"]), (&json!("disabled"), &json!(false)));
    let provider = &config["provider"]["lab"];
    let given = json!({"baseURL": "http://127.0.0.1:9/v1", "apiKey": "sk-1"});
    assert_eq!(provider["options"], given);
    assert_eq!(provider["models"]["first"]["limit"]["context"], 9000);
    assert!(provider["models"]["second"].is_object());
    assert_eq!(
        (&config["model"], &config["small_model"]),
        (&json!("lab/first"), &json!("lab/first"))
    );
    assert_eq!(started.args, ["acp"]);
    assert!(!started.env.contains_key("NODE_OPTIONS"));
    assert_eq!(started.launch.introduction, "");
    let file = config["instructions"][0].as_str().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), "You are oak-ada.");

    options.base_url = None;
    options.env.pop();
    let started = start(&OPENCODE, &options);
    let config: Value = serde_json::from_str(started.env("OPENCODE_CONFIG_CONTENT")).unwrap();
    assert_eq!((&config["model"], &config["provider"]), (&json!("lab/first"), &Value::Null));
    options.env.push(("OPENCODE_CONFIG_CONTENT".to_owned(), "[]".to_owned()));
    let error = prepare(&OPENCODE, &options, watch::channel(None).1).err().unwrap();
    assert!(error.contains("OPENCODE_CONFIG_CONTENT"), "{error}");
}

#[test]
fn cline_gets_files_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let usual = folder.path().join(".cline/data/settings");
    fs::create_dir_all(&usual).unwrap();
    let theirs = r#"{"mcpServers":{"mine":{"command":"x"},"docs":{"command":"old"}}}"#;
    fs::write(usual.join("cline_mcp_settings.json"), theirs).unwrap();
    let started = start(&CLINE, &options);
    assert_eq!(started.env("CLINE_SESSION_BACKEND_MODE"), "local");
    assert_eq!((started.env("CLINE_API_KEY"), started.env("CLINE_MODEL")), ("sk-1", "first"));
    let providers = started.file(&options, "cline-providers.json");
    let settings = &providers["providers"]["openai-compatible"]["settings"];
    assert_eq!(
        (&settings["baseUrl"], &settings["model"]),
        (&json!("http://127.0.0.1:9/v1"), &json!("first"))
    );
    let servers = started.file(&options, "cline-servers.json");
    assert_eq!(servers["mcpServers"]["mine"]["command"], "x");
    assert_eq!(servers["mcpServers"]["docs"]["args"], json!(["--all"]));
    assert_eq!(servers["mcpServers"]["web"], Value::Null);
    assert!(started.launch.notices[0].contains("goes without web"), "{:?}", started.launch.notices);
    assert_eq!(started.launch.introduction, "You are oak-ada.");
}

#[test]
fn copilot_gets_variables_and_a_file_with_servers() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let started = start(&COPILOT, &options);
    let file = options.session_dir.join("copilot-servers.json");
    let servers = format!("@{}", file.display());
    assert_eq!(started.args, ["--acp", "--additional-mcp-config", &servers]);
    let servers = started.file(&options, "copilot-servers.json");
    assert_eq!(servers["mcpServers"]["docs"]["type"], "local");
    assert_eq!(servers["mcpServers"]["web"]["headers"]["Authorization"], "Bearer t");
    assert_eq!(started.env("COPILOT_OFFLINE"), "true");
    assert_eq!(started.env("COPILOT_MODEL"), "first");
    // Its vendor's own models have no provider in front, or one that is part of the name.
    options.base_url = None;
    let started = start(&COPILOT, &options);
    assert_eq!((started.env("COPILOT_MODEL"), started.env("COPILOT_OFFLINE")), ("lab/first", ""));
}

#[test]
fn gemini_and_kiro_get_what_they_know() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let started = start(&GEMINI, &options);
    assert_eq!(started.env("GOOGLE_GEMINI_BASE_URL"), "http://127.0.0.1:9/v1");
    assert_eq!((started.env("GEMINI_API_KEY"), started.env("GEMINI_MODEL")), ("sk-1", "first"));
    let error = prepare(&KIRO, &options, watch::channel(None).1).err().unwrap();
    assert!(error.contains("`base_url`"), "{error}");
    options.base_url = None;
    assert_eq!(start(&KIRO, &options).env("KIRO_API_KEY"), "sk-1");
    // They tell no tokens in the field that the others use.
    use crate::acp::recipe::Counts;
    assert_eq!((GEMINI.counts, KIRO.counts), (Counts::InTheQuota, Counts::None));
}

/// R0-63: a list of words is the whole command; one word is the program alone, and only a program
/// that is known gets arguments that it was not given.
#[test]
fn a_command_is_taken_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let shown = |options: &StartOptions| {
        let recipe = PLAIN.for_command(options.command.as_deref());
        let started = start(recipe, options);
        (recipe.name, started.launch.spawn.program.display().to_string(), started.args)
    };
    assert_eq!(shown(&options), ("opencode", "opencode".to_owned(), vec!["acp".to_owned()]));
    for (words, name, args) in [
        (vec!["/opt/opencode", "acp", "--x"], "opencode", vec!["acp", "--x"]),
        (vec!["cline", "--acp"], "cline", vec!["--acp"]),
        (vec!["goose", "acp"], "acp", vec!["acp"]),
        // One word: what is known of that program stands behind it, and nothing of another's.
        (vec!["/opt/goose"], "acp", vec!["acp"]),
        (vec!["/opt/qwen"], "acp", vec!["--acp"]),
        (vec!["/opt/cline"], "cline", vec!["--acp"]),
        (vec!["vibe-acp"], "acp", vec![]),
        (vec!["codex-acp"], "codex-acp", vec![]),
        (vec!["/opt/hermes-acp"], "hermes", vec![]),
        (vec!["env", "A=b", "opencode", "acp"], "acp", vec!["A=b", "opencode", "acp"]),
    ] {
        options.command = Some(words.iter().map(|it| (*it).to_owned()).collect());
        let args = args.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(shown(&options), (name, words[0].to_owned(), args));
    }
    options.command = Some(vec!["/opt/x/opencode".to_owned()]);
    let started = start(&OPENCODE, &options);
    assert_eq!(started.args, ["acp"]);
    for words in [vec![], vec![String::new()]] {
        options.command = Some(words);
        let error = prepare(&PLAIN, &options, watch::channel(None).1).err().unwrap();
        assert!(error.contains("`command`"), "{error}");
    }
}
