//! What the program is told at the begin of a conversation.

use std::path::Path;

use gangline_os::secret::Secret;

use super::*;
use crate::Permissions;

pub(in crate::codex) fn options(folder: &Path) -> StartOptions {
    let env = [
        ("HOME", folder.display().to_string()),
        ("GANGLINE_RUN", "i/oak-ada/1".to_owned()),
        ("CODEX_THREAD_ID", "another".to_owned()),
    ];
    StartOptions {
        workdir: folder.to_owned(),
        env: env.map(|(name, value)| (name.to_owned(), value)).into(),
        ..StartOptions::within(folder)
    }
}

fn send() -> ToolSpec {
    ToolSpec {
        name: "send",
        description: "says it",
        input_schema: json!({"type": "object"}),
        output_schema: None,
    }
}

#[test]
fn a_new_one_has_tools_and_an_old_one_keeps_them() {
    let mut options = options(Path::new("/project"));
    options.system_prompt = "You are ada.".to_owned();
    let thread = Thread::new(&options, &[send()], Trust::None);
    let new = thread.start(Some("m"));
    assert_eq!(new["dynamicTools"][0]["name"], "send");
    assert_eq!((&new["model"], &new["cwd"]), (&json!("m"), &json!("/project")));
    assert_eq!(new["developerInstructions"], "You are ada.");
    let old = thread.resume(&SessionId("t".to_owned()), None);
    assert_eq!((&old["threadId"], &old["excludeTurns"]), (&json!("t"), &json!(true)));
    assert_eq!((old.get("dynamicTools"), old.get("model")), (None, None));
    assert_eq!(old["config"], new["config"], "it forgets its configuration");
}

/// C5: whatever the mode, it asks before each command; no word of its own lets everything through.
#[test]
fn it_asks_in_every_mode() {
    for mode in [Permissions::Ask, Permissions::Allowlist, Permissions::Bypass] {
        let mut options = options(Path::new("/project"));
        options.permissions = mode;
        let new = Thread::new(&options, &[], Trust::None).start(None);
        assert_eq!(new["approvalPolicy"], "untrusted", "{mode:?}");
    }
}

#[test]
fn a_provider_is_made_of_an_address_or_a_key() {
    let mut options = options(Path::new("/project"));
    let none = Thread::new(&options, &[], Trust::None).start(None);
    assert_eq!((none.get("modelProvider"), none["config"].get("model_providers")), (None, None));
    options.api_key = Some(Secret::new("sk-1"));
    let keyed = Thread::new(&options, &[], Trust::None).start(None);
    let provider = &keyed["config"]["model_providers"]["gangline"];
    assert_eq!(keyed["modelProvider"], "gangline");
    assert_eq!(provider["base_url"], "https://api.openai.com/v1");
    assert_eq!(provider["experimental_bearer_token"], "sk-1");
    options.api_key = None;
    options.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    let local = Thread::new(&options, &[], Trust::None).start(None);
    let provider = &local["config"]["model_providers"]["gangline"];
    assert_eq!(provider["base_url"], "http://127.0.0.1:1/v1");
    assert_eq!(provider.get("experimental_bearer_token"), None);
}

#[test]
fn servers_are_asked_about_and_carry_the_mark() {
    let mut options = options(Path::new("/project"));
    let server = |key: &str, place: McpPlace| McpServer {
        key: key.to_owned(),
        place,
        allowed_tools: Vec::new(),
    };
    let command = vec!["node".to_owned(), "x.js".to_owned()];
    let stdio = McpPlace::Stdio { command, env: BTreeMap::new() };
    let headers = BTreeMap::from([("A".to_owned(), "b".to_owned())]);
    options.mcp_servers = vec![
        server("own", stdio.clone()),
        server("gangline", stdio),
        server("web", McpPlace::Http { url: "http://h/".to_owned(), headers }),
    ];
    let servers = |options: &StartOptions, tools: &[ToolSpec]| {
        Thread::new(options, tools, Trust::None).start(None)["config"]["mcp_servers"].clone()
    };
    let seen = servers(&options, &[send()]);
    assert_eq!(seen.get("gangline"), None, "its tools come over the pipe");
    let own = &seen["own"];
    assert_eq!((&own["command"], &own["args"]), (&json!("node"), &json!(["x.js"])));
    assert_eq!(own["env"]["GANGLINE_RUN"], "i/oak-ada/1");
    assert_eq!(own["default_tools_approval_mode"], "prompt");
    assert_eq!(own["tool_timeout_sec"], 3600);
    assert_eq!(seen["web"]["http_headers"], json!({"A": "b"}));
    options.permissions = Permissions::Bypass;
    let seen = servers(&options, &[]);
    assert_eq!(seen["gangline"]["default_tools_approval_mode"], "approve");
}

/// R0-33, R1-37: a session that only judges writes nothing, is not kept, and reads no instructions of
/// the project.
#[test]
fn a_conversation_that_judges_writes_nothing_and_is_not_kept() {
    let mut options = options(Path::new("/project"));
    let works = Thread::new(&options, &[], Trust::None).start(None);
    assert_eq!((&works["sandbox"], works.get("ephemeral")), (&json!(SANDBOX), None));
    options.purpose = crate::Purpose::Judge;
    let judges = Thread::new(&options, &[], Trust::None).start(None);
    assert_eq!(judges["sandbox"], "read-only");
    assert_eq!(judges["ephemeral"], true);
    assert_eq!(judges["config"]["project_doc_max_bytes"], 0);
    assert_eq!(judges["approvalPolicy"], APPROVALS);
}

#[test]
fn its_shells_get_what_it_was_given() {
    let mut options = options(Path::new("/project"));
    options.resume = Some(SessionId("t".to_owned()));
    options.thinking = Some(Thinking::Said("high".to_owned()));
    let config = Thread::new(&options, &[], Trust::None).start(None)["config"].clone();
    assert_eq!(config["shell_environment_policy"]["inherit"], "all");
    assert_eq!(config["shell_environment_policy"]["set"], json!({"GT_SESSION_ID": "t"}));
    assert_eq!(config["model_reasoning_effort"], "high");
    assert_eq!(config["allow_login_shell"], false);
    options.env.push(("GT_SESSION_ID".to_owned(), "other".to_owned()));
    options.thinking = Some(Thinking::Said("off".to_owned()));
    let config = Thread::new(&options, &[], Trust::None).start(None)["config"].clone();
    assert_eq!(config["shell_environment_policy"]["set"], json!({}));
    assert_eq!(config.get("model_reasoning_effort"), None);
}

/// R0-65, C44: what the configuration does not say is left to the program's own settings, which no word
/// of ours overrides.
#[test]
fn thinking_that_nobody_asked_for_is_the_users_own_affair() {
    let mut options = options(Path::new("/project"));
    let effort = |options: &StartOptions| {
        let config = Thread::new(options, &[], Trust::None).start(None)["config"].clone();
        config.get("model_reasoning_effort").cloned()
    };
    options.thinking = Some(Thinking::Usual("medium".to_owned()));
    assert_eq!(effort(&options), None);
    options.thinking = Some(Thinking::Said("medium".to_owned()));
    assert_eq!(effort(&options), Some(json!("medium")));
}
