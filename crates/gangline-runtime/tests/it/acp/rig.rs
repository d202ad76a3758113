//! What the tests of all ACP programs share, on top of the rig of a session.

use std::{collections::BTreeSet, path::Path};

use gangline_os::secret::Secret;
use gangline_runtime::{Answer, ApprovalAsk, ApprovalReply, Block, RuntimeEvent, Usage};

pub(crate) use crate::rig::{Done, Rig, turn};

/// A rig for a real program, whose model follows the script. Its first session waits for nobody's
/// answer: everything that it may ask the network for is refused at once.
pub(crate) async fn real(backend: &str, program: &Path, script: &str) -> Rig {
    let mut rig = Rig::of(backend, vec![program.display().to_string()]);
    let address = rig.model(script).await;
    rig.options.base_url = Some(format!("http://{address}/v1"));
    rig.options.api_key = Some(Secret::new("none"));
    rig.options.model = Some("lab/first".to_owned());
    let nowhere = "http://127.0.0.1:9".to_owned();
    for name in ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] {
        rig.options.env.push((name.to_owned(), nowhere.clone()));
    }
    rig.options.env.push(("NO_PROXY".to_owned(), "127.0.0.1,localhost".to_owned()));
    rig.options.env.push(("no_proxy".to_owned(), "127.0.0.1,localhost".to_owned()));
    rig
}

/// Joins its streams to a socket, as the daemon's own bridge does.
const BRIDGE: &str = r#"const s = require("net").connect(process.argv[2]);
process.stdin.pipe(s); s.pipe(process.stdout); s.on("close", () => process.exit(0));"#;

impl Rig {
    /// Gives the program a way to the daemon's tools over stdio.
    pub(crate) fn bridge(&mut self) {
        let path = self.path("bridge.js");
        std::fs::write(&path, BRIDGE).unwrap();
        self.options.tool_bridge = vec!["node".to_owned(), path.display().to_string()];
    }

    /// Says it, answers what is asked by `allow`, and returns the turn and what was asked.
    pub(crate) async fn decided(
        &mut self,
        number: i64,
        text: &str,
        answer: Answer,
    ) -> (Done, Vec<ApprovalAsk>) {
        self.say(number, text).await;
        let (mut seen, mut asks) = (Vec::new(), Vec::new());
        loop {
            let event = self.next().await;
            let last = matches!(event, RuntimeEvent::Finished { .. });
            if let RuntimeEvent::ApprovalAsked { ask, .. } = &event {
                let request = ask.request.clone();
                asks.push(ask.clone());
                let reply = ApprovalReply { request, answer: answer.clone() };
                self.runtime.decide(reply).await.unwrap();
            }
            seen.push(event);
            if last {
                return (Done(seen), asks);
            }
        }
    }

    /// The models that were asked so far.
    pub(crate) fn models_asked(&self) -> BTreeSet<String> {
        let model = |text: &String| {
            let request: serde_json::Value = serde_json::from_str(text).unwrap();
            request["body"]["model"].as_str().map(str::to_owned)
        };
        self.requests().iter().filter_map(model).collect()
    }
}

impl Done {
    /// The tools that the model wanted: name and arguments.
    pub(crate) fn wanted(&self) -> Vec<(String, serde_json::Value)> {
        let blocks = self.0.iter().filter_map(|event| match event {
            RuntimeEvent::Message { message, .. } => Some(&message.content),
            _ => None,
        });
        let wanted = blocks.flatten().filter_map(|block| match block {
            Block::ToolUse { name, input, .. } => Some((name.clone(), input.clone())),
            Block::Text { .. } | Block::Thinking { .. } => None,
        });
        wanted.collect()
    }

    /// What the tools returned: name, whether it failed, content.
    pub(crate) fn results(&self) -> Vec<(String, bool, String)> {
        let result = |event: &RuntimeEvent| match event {
            RuntimeEvent::ToolResult { name, is_error, content, .. } => {
                Some((name.clone(), *is_error, content.clone()))
            }
            _ => None,
        };
        self.0.iter().filter_map(result).collect()
    }

    /// The token counts, summed.
    pub(crate) fn usage(&self) -> Vec<Usage> {
        let usage = |event: &RuntimeEvent| match event {
            RuntimeEvent::Usage { usage, .. } => Some(usage.clone()),
            _ => None,
        };
        self.0.iter().filter_map(usage).collect()
    }

    /// Says whether the prompt reached the model, once.
    pub(crate) fn accepted(&self) -> bool {
        let accepted = |event: &&RuntimeEvent| matches!(event, RuntimeEvent::Accepted { .. });
        self.0.iter().filter(accepted).count() == 1
    }
}

/// A denial by a person.
pub(crate) fn no() -> Answer {
    Answer::Deny { reason: "a person refused this".to_owned() }
}

/// Kills a process without warning.
pub(crate) fn kill(pid: u32) {
    let start = gangline_os::proc::start_time(pid).unwrap();
    gangline_os::proc::signal_exact(pid, start, gangline_os::kill::Signal::Kill).unwrap();
}
