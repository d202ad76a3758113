//! Real programs that Gangline was not tuned for, by configuration alone (R0-63): no recipe of theirs
//! exists, or none but for the texts of their errors.

use std::{collections::BTreeMap, path::PathBuf};

use gangline_os::secret::Secret;
use gangline_runtime::{Answer, StopReason, TurnResult};
use gangline_testkit::programs;
use serde_json::json;

use super::rig::{Rig, no, turn};
use crate::rig::look_again;

/// A program as somebody would configure it.
struct Program {
    path: PathBuf,
    args: &'static [&'static str],
    /// `{origin}` stands for the model's address.
    env: &'static [(&'static str, &'static str)],
    /// Files of its user, by their paths in the home folder.
    files: &'static [(&'static str, &'static str)],
    /// The variables of `model_env`, for the address behind the origin and for the key.
    model_env: Option<(&'static str, &'static str, &'static str)>,
    /// The call of its tool that runs `$1`.
    shell: &'static str,
    asks: Asks,
}

/// Whether it asks the room before it runs a command.
#[derive(PartialEq)]
enum Asks {
    Us,
    /// Its own model decides, by settings of its own.
    Itself,
}

/// No other address answers, and none is waited for.
const NOWHERE: [(&str, &str); 6] = [
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("https_proxy", "http://127.0.0.1:9"),
    ("http_proxy", "http://127.0.0.1:9"),
    ("NO_PROXY", "127.0.0.1,localhost"),
    ("no_proxy", "127.0.0.1,localhost"),
];

async fn rig(program: &Program) -> Rig {
    let mut command = vec![program.path.display().to_string()];
    command.extend(program.args.iter().map(|word| (*word).to_owned()));
    let mut rig = Rig::of("acp", command);
    let script = format!(
        "rules:\n  \
         - when: {{tool: '.*', user: 'run|post'}}\n    reply: [text: \"it said: ${{tool_result}}\"]\n  \
         - when: {{user: 'run (.+) now'}}\n    reply: [tool_use: {}]\n  \
         - when: {{user: 'for ever'}}\n    reply: [{{delay_ms: 600000}}, {{text: never}}]\n  \
         - when: {{user: 'say (\\w+)'}}\n    reply: [text: \"said $1\"]\n  \
         - when: {{user: 'post it'}}\n    reply: [tool_use: {{name: mcp__gangline__send, input: {{text: hi}}}}]\n  \
         - reply: [text: nothing]\n",
        program.shell
    );
    let address = rig.model(&script).await;
    let origin = format!("http://{address}");
    for (name, text) in program.files {
        let path = rig.path("home").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("{origin}", &origin)).unwrap();
    }
    let env = program.env.iter().chain(&NOWHERE);
    let env = env.map(|(name, value)| ((*name).to_owned(), value.replace("{origin}", &origin)));
    rig.options.env.extend(env);
    if let Some((behind, url, key)) = program.model_env {
        rig.options.base_url = Some(format!("{origin}{behind}"));
        rig.options.api_key = Some(Secret::new("sk-lab"));
        let named = json!({"base_url": url, "key": key});
        rig.options.extra = BTreeMap::from([("model_env".to_owned(), named)]);
    }
    rig
}

async fn works(program: Program) {
    let mut rig = rig(&program).await;
    let (session, _) = rig.opened().await;
    assert_eq!(rig.ask(1, "say plum").await.text(), "said plum");
    if program.asks == Asks::Us {
        let (done, asks) = rig.decided(2, "run touch made now", Answer::Allow).await;
        assert_eq!(asks.len(), 1, "{done:#?}");
        assert!(rig.path("work/made").exists(), "{done:#?}");
        assert!(asks[0].input.to_string().contains("touch made"), "what runs is shown: {asks:?}");
        let (done, asks) = rig.decided(3, "run touch other now", no()).await;
        assert_eq!(asks.len(), 1, "{done:#?}");
        assert!(!rig.path("work/other").exists(), "{done:#?}");
    }
    rig.say(4, "for ever").await;
    // Some say nothing before their model does.
    while !rig.requests().iter().any(|text| text.contains("for ever")) {
        look_again().await;
    }
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(*rig.done().await.result(), TurnResult::Interrupted);
    assert_eq!(rig.ask(5, "say quince").await.text(), "said quince");
    rig.runtime.stop(StopReason::Restart).await;
    rig.rest().await;
    assert_eq!(rig.processes(), [""; 0]);
    rig.options.resume = Some(session);
    rig.opened().await;
    assert_eq!(rig.ask(6, "say pear").await.text(), "said pear");
}

/// R0-63, C5: Qwen Code, told its model by `model_env`.
#[tokio::test]
async fn qwen_code_by_configuration_alone() {
    works(qwen()).await;
}

fn qwen() -> Program {
    Program {
        path: programs::npm("qwen", "qwen"),
        args: &["--acp"],
        env: &[("OPENAI_MODEL", "fake-1")],
        files: &[(
            ".qwen/settings.json",
            r#"{"security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}}}"#,
        )],
        model_env: Some(("/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")),
        shell: "{name: run_shell_command, input: {command: \"$1\", is_background: false}}",
        asks: Asks::Us,
    }
}

/// R0-63, C5: Claude Code behind its bridge, which opens in a mode that asks nobody.
#[tokio::test]
async fn claude_agent_acp_by_configuration_alone() {
    works(claude_agent_acp()).await;
}

fn claude_agent_acp() -> Program {
    Program {
        path: programs::npm("claude-agent-acp", "claude-agent-acp"),
        args: &[],
        env: &[
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            // Else its tools are not in the list, but to be searched for.
            ("ENABLE_TOOL_SEARCH", "false"),
            ("IS_SANDBOX", "1"),
        ],
        files: &[],
        model_env: Some(("", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")),
        shell: "{name: Bash, input: {command: \"$1\", description: x}}",
        asks: Asks::Us,
    }
}

/// R2-41: `tools` decides how a real program is offered the daemon's tools: by HTTP, over stdio, or
/// not at all; by the ways that it is offered the model calls them.
#[tokio::test]
async fn tools_are_offered_as_the_configuration_says() {
    for (way, offered) in [("http", true), ("stdio", true), ("none", false)] {
        let mut rig = rig(&claude_agent_acp()).await;
        // Over HTTP nothing else is there, so that a call shows which way it took.
        if way == "stdio" {
            rig.bridge();
        }
        rig.options.extra.insert("tools".to_owned(), json!(way));
        rig.opened().await;
        assert_eq!(rig.ask(1, "say plum").await.text(), "said plum");
        let all = rig.requests();
        // A program may ask its model for a title as well, without tools.
        let asked = all.iter().filter(|it| it.contains("say plum"));
        let has = asked.map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
        let has = has.map(|it| it["body"]["tools"].to_string().contains("says something"));
        assert_eq!(has.fold(false, |any, it| any | it), offered, "{way}: {all:#?}");
        if offered {
            let done = rig.ask(2, "post it").await;
            let call = rig.calls.try_recv().unwrap();
            assert_eq!((call.name.as_str(), call.turn), ("send", turn(2)), "{way}: {done:#?}");
        }
    }
}

/// R0-63: Codex behind its bridge, started by one word.
#[tokio::test]
async fn codex_acp_by_configuration_alone() {
    works(Program {
        path: programs::npm("codex-acp", "codex-acp"),
        args: &[],
        env: &[("FAKE_KEY", "sk-lab")],
        files: &[(
            ".codex/config.toml",
            "model = \"gpt-5.4\"\nmodel_provider = \"fake\"\napproval_policy = \"on-request\"\n\
             sandbox_mode = \"read-only\"\n[model_providers.fake]\nname = \"Fake\"\n\
             base_url = \"{origin}/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n",
        )],
        model_env: None,
        shell: "{name: exec_command, input: {cmd: \"$1\"}}",
        asks: Asks::Itself,
    })
    .await;
}
