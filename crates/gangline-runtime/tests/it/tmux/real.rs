//! Real programs with a screen of their own, their model being the stand-in.

use std::{fs, os::unix::fs::PermissionsExt, sync::Arc};

use async_trait::async_trait;
use gangline_runtime::{
    Permissions, RuntimeEvent, ToolCall, ToolHost, ToolSpec, TurnResult,
    folder::{self, Brings, Trusted, programs as programs_of},
};
use gangline_testkit::programs;
use serde_json::json;
use tokio::sync::mpsc;

use super::rig::Rig;

const SCRIPT: &str = r#"
rules:
  - when: {user: 'slow'}
    reply: [{delay_ms: 4000}, {text: "slow answer"}]
  - when: {user: 'for ever'}
    reply: [{delay_ms: 600000}, {text: "never"}]
  - when: {user: 'what was'}
    reply: [text: "turn ${turn}"]
  - when: {user: 'tell (\S+)'}
    reply: [tool_use: {name: send, input: {to: "$1", text: "by tool"}}]
  - when: {tool: send}
    reply: [text: "it came back: ${tool_result}"]
  - when: {user: 'ask me'}
    reply: [text: "Done.\n\nDo you want to see it?"]
  - reply: [text: "you said ${user}\n\nSecond paragraph with\n\n- a list\n- of two"]
"#;

const SECOND: &str = "\n\nSecond paragraph with\n\n- a list\n- of two";

async fn claude() -> Rig {
    let mut rig = Rig::new(&[&programs::claude().display().to_string()], json!({})).with_hooks();
    rig.options.base_url = Some(rig.served(SCRIPT).await);
    rig.options.system_prompt = "You are oak-ada.".to_owned();
    // Somebody has run it once.
    let told = json!({
        "hasCompletedOnboarding": true, "theme": "dark",
        "customApiKeyResponses": {"approved": ["standin-0123456789ab"], "rejected": []},
    });
    fs::write(rig.path("home/.claude.json"), told.to_string()).unwrap();
    rig
}

/// R3-14, R3-08: the real Claude Code in a terminal: its question about the folder is answered, a
/// message of many lines and a huge one arrive, its answer is read without its frames; a turn that
/// thinks for seconds is waited for, one that never ends is interrupted; what is typed meanwhile is
/// taken; its session goes on.
#[tokio::test]
async fn claude_in_a_terminal() {
    let mut rig = claude().await;
    let model = rig.model(SCRIPT).await;
    let (address, valve) = rig.valve(model).await;
    rig.options.base_url = Some(format!("http://{address}"));
    let begun = rig.start().await;
    let done = rig.ask(1, "hello\nthere").await;
    assert_eq!(done.text(), format!("you said hello\nthere{SECOND}"));
    assert_eq!(done.result(), &TurnResult::Completed);
    assert_eq!(rig.ask(2, "slow please").await.text(), "slow answer");
    let huge = (1..3000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    let done = rig.ask(3, &huge).await;
    assert!(done.text().contains("2998\n2999\n"), "{}", rig.screen());
    rig.say(4, "wait for ever").await;
    rig.until_accepted().await;
    rig.until_shown("esc to interrupt").await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(rig.done().await.result(), &TurnResult::Interrupted);
    // What is typed into a turn is taken by it.
    valve.close();
    rig.say(5, "slow one").await;
    rig.until_accepted().await;
    let more = gangline_runtime::Prompt {
        turn: super::rig::turn(5),
        text: "and more".to_owned(),
        uuid: "more".to_owned(),
    };
    rig.runtime.steer(more).await.unwrap();
    rig.until(|event| matches!(event, RuntimeEvent::Steered { uuid, .. } if uuid == "more")).await;
    valve.open();
    let done = rig.done().await;
    let both = format!("slow answer\nyou said and more{SECOND}");
    assert_eq!(done.text(), both, "{}", rig.screen());
    // Words of its dialogs are none in an answer.
    assert_eq!(rig.ask(7, "ask me").await.text(), "Done.\n\nDo you want to see it?");
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    assert_eq!(rig.run_processes(), []);
    // Its session goes on.
    rig.options.resume = Some(begun.clone());
    let again = rig.start().await;
    assert_eq!(again, begun);
    assert_eq!(rig.ask(8, "what was it").await.text(), "turn 7");
    rig.put_away().await;
}

/// A daemon with one tool, which keeps what is said by it.
struct Speaking(mpsc::Sender<ToolCall>);

#[async_trait]
impl ToolHost for Speaking {
    fn tools(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: "send",
            description: "Says something.",
            input_schema: json!({"type": "object", "properties": {
                "to": {"type": "string"}, "text": {"type": "string"}}}),
            output_schema: None,
        }]
    }
    async fn call(&self, call: ToolCall) -> Result<String, String> {
        self.0.send(call).await.map_err(|error| error.to_string())?;
        Ok("sent by the daemon".to_owned())
    }
}

/// Says it by tool, and then what came of that.
const SPEAKS: &str = r##"
rules:
  - when: {user: 'tell (\S+)'}
    reply: [tool_use: {name: send, input: {to: "$1", text: "by tool"}}]
  - when: {tool: send}
    reply: [text: "it came back: ${tool_result}"]
  - when: {user: 'whose'}
    reply: [tool_use: {name: Bash, input: {command: "echo it is $CLAUDE_SESSION_ID", description: "x"}}]
  - when: {tool: Bash}
    reply: [text: "${tool_result}"]
  - reply: [text: "you said ${user}"]
"##;

/// R3-14, R2-34: the real Claude Code in a terminal has the daemon's tools, unasked, in the turn
/// that is open; its shells know the session.
#[tokio::test]
async fn claude_in_a_terminal_speaks_by_the_daemons_tools() {
    let mut rig = claude().await;
    rig.options.base_url = Some(rig.served(SPEAKS).await);
    let (said, mut heard) = mpsc::channel(4);
    rig.options.tools = Arc::new(Speaking(said));
    rig.options.permissions = Permissions::Allowlist;
    rig.options.allowed_tools = vec!["Bash".to_owned()];
    let begun = rig.start().await;
    let done = rig.ask(1, "tell #lab").await;
    assert_eq!(done.text(), "it came back: sent by the daemon", "{}", rig.screen());
    let call = heard.recv().await.unwrap();
    assert_eq!((call.turn, call.name.as_str()), (super::rig::turn(1), "send"));
    assert_eq!(call.input, json!({"to": "#lab", "text": "by tool"}));
    let session = begun.0;
    let whose = rig.ask(2, "whose").await;
    assert_eq!(whose.text(), format!("it is {session}"), "{}", rig.screen());
    // R3-20: its hooks tell the call, what came of it, and what is done to its context.
    let told = whose.0.iter().find_map(|event| match event {
        RuntimeEvent::ToolResult { name, is_error, content, .. } => {
            Some((name.as_str(), *is_error, content.clone()))
        }
        _ => None,
    });
    assert_eq!(told, Some(("Bash", false, format!("it is {session}"))), "{whose:?}");
    rig.say(3, "/compact").await;
    let shortened = rig.until(|event| matches!(event, RuntimeEvent::Compacted { .. })).await;
    assert!(shortened.contains(&RuntimeEvent::Compacting), "{shortened:?}");
    rig.done().await;
    rig.put_away().await;
}

/// R3-20: where the hooks of the real Claude Code are switched off, its screen is believed.
#[tokio::test]
async fn claude_without_hooks_is_read_off_its_screen() {
    let mut rig = claude().await;
    fs::create_dir(rig.path("home/.claude")).unwrap();
    fs::write(rig.path("home/.claude/settings.json"), r#"{"disableAllHooks": true}"#).unwrap();
    rig.start().await;
    let done = rig.ask(1, "hello\nthere").await;
    assert_eq!(done.text(), format!("you said hello\nthere{SECOND}"), "{}", rig.screen());
    assert_eq!(done.result(), &TurnResult::Completed);
    rig.put_away().await;
}

/// A rig for the real Codex, with a folder of its own for its login.
async fn codex() -> (Rig, tempfile::TempDir) {
    let mut rig = Rig::new(&[&programs::codex().display().to_string()], json!({})).with_hooks();
    let url = rig.served(SCRIPT).await;
    // Not below the folder for temporary files: Codex refuses that.
    let home = tempfile::Builder::new()
        .prefix("codex-")
        .tempdir_in(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target"))
        .unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"standin\"\ncheck_for_update_on_startup = false\n\
         [model_providers.standin]\nname = \"standin\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
    );
    fs::write(home.path().join("config.toml"), config).unwrap();
    rig.options.account_dir = Some(home.path().to_owned());
    (rig, home)
}

/// The real Codex in a terminal; R3-20: its answers are what it says by its `notify`.
#[tokio::test]
async fn codex_in_a_terminal() {
    let (mut rig, _home) = codex().await;
    let (said, mut heard) = mpsc::channel(4);
    rig.options.tools = Arc::new(Speaking(said));
    rig.start().await;
    let done = rig.ask(1, "hello\nthere").await;
    // It renders what it is told.
    assert_eq!(done.text(), format!("you said hello\nthere{SECOND}"), "{}", rig.screen());
    assert_eq!(rig.ask(2, "slow please").await.text(), "slow answer");
    rig.say(3, "wait for ever").await;
    rig.until_accepted().await;
    rig.until_shown("esc to interrupt").await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(rig.done().await.result(), &TurnResult::Interrupted);
    assert_eq!(rig.ask(4, "what was it").await.text(), "turn 3", "{}", rig.screen());
    let done = rig.ask(5, "tell #lab").await;
    assert!(done.text().contains("it came back: "), "{}", rig.screen());
    let call = heard.recv().await.unwrap();
    assert_eq!((call.turn, call.name.as_str()), (super::rig::turn(5), "send"));
    // Somebody else with the same login works in the same folder; each goes on with their own.
    let own = rig.runtime.session().unwrap().session;
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    rig.start().await;
    assert_eq!(rig.ask(6, "what was that").await.text(), "turn 1", "{}", rig.screen());
    rig.until(|event| matches!(event, RuntimeEvent::Session { .. })).await;
    assert_ne!(rig.runtime.session().unwrap().session, own);
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    rig.options.resume = own;
    rig.start().await;
    let text = rig.ask(7, "what was it then").await.text();
    assert!(text.starts_with("turn ") && text != "turn 2" && text != "turn 1", "{text}");
    rig.put_away().await;
}

/// Writes a file of the program's working folder.
fn bring(rig: &Rig, path: &str, text: &str) {
    let path = rig.options.workdir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Allows what lies in the working folder.
fn allow(rig: &mut Rig, brings: &Brings) {
    let copies = rig.path("copies");
    let found = folder::scan(&rig.options.workdir, Some(&rig.path("home")), brings);
    folder::copy::make(&copies, &found).unwrap();
    rig.options.trusted = Some(Trusted { hash: found.hash(), copies });
}

/// In a terminal too, the real Claude Code loads nothing of its folder but what was allowed, from the copy;
/// that its question about the folder is answered changes nothing.
#[tokio::test]
async fn claude_in_a_terminal_loads_what_was_allowed_of_its_folder() {
    let mut rig = claude().await;
    let here = rig.path("");
    let touch = |name: &str| format!("touch {}", here.join(name).display());
    let hook = |name: &str| json!([{"hooks": [{"type": "command", "command": touch(name)}]}]);
    let settings = json!({
        "hooks": {"SessionStart": hook("trace-hook"), "UserPromptSubmit": hook("trace-prompt")},
        "statusLine": {"type": "command", "command": touch("trace-status")},
        "apiKeyHelper": touch("trace-key"),
        "enableAllProjectMcpServers": true,
    });
    let server = json!({"command": "sh", "args": ["-c", touch("trace-server")]});
    bring(&rig, ".claude/settings.json", &settings.to_string());
    bring(&rig, ".mcp.json", &json!({"mcpServers": {"evil": server}}).to_string());
    let traces = ["hook", "prompt", "server", "status", "key"].map(|name| format!("trace-{name}"));
    rig.start().await;
    assert_eq!(rig.ask(1, "hello").await.result(), &TurnResult::Completed);
    for name in &traces {
        assert!(!rig.path(name).exists(), "{name}");
    }
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    allow(&mut rig, &programs_of::CLAUDE);
    let pulled = json!({"hooks": {"SessionStart": hook("pulled")}});
    bring(&rig, ".claude/settings.json", &pulled.to_string());
    rig.start().await;
    assert_eq!(rig.ask(2, "hello again").await.result(), &TurnResult::Completed);
    for name in ["trace-hook", "trace-prompt", "trace-server"] {
        assert!(rig.path(name).exists(), "{name}: {}", rig.screen());
    }
    assert!(!rig.path("pulled").exists());
    rig.put_away().await;
}

/// The real Codex in a terminal is told what it may load, and does not write into the user's settings that it
/// trusts the folder.
#[tokio::test]
async fn codex_in_a_terminal_loads_what_was_allowed_of_its_folder() {
    let (mut rig, home) = codex().await;
    let config = format!(
        "[mcp_servers.evil]\ncommand = \"sh\"\nargs = [\"-c\", \"touch {}\"]\n",
        rig.path("trace").display()
    );
    bring(&rig, ".codex/config.toml", &config);
    rig.start().await;
    assert_eq!(rig.ask(1, "hello").await.result(), &TurnResult::Completed);
    assert!(!rig.path("trace").exists());
    let settings = fs::read_to_string(home.path().join("config.toml")).unwrap();
    assert!(!settings.contains("trust_level"), "{settings}");
    rig.runtime.stop(gangline_runtime::StopReason::Restart).await;
    allow(&mut rig, &programs_of::CODEX);
    rig.start().await;
    assert_eq!(rig.ask(2, "hello again").await.result(), &TurnResult::Completed);
    while !rig.path("trace").exists() {
        crate::rig::look_again().await;
    }
    rig.put_away().await;
}
