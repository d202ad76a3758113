//! What the tests of Claude Code share, on top of the rig of a session.

use gangline_os::secret::Secret;
use gangline_testkit::programs;

pub(crate) use crate::rig::{Done, Rig, turn};

/// What its sessions find in their environment.
const ENV: [(&str, &str); 3] = [
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    // What a parent of this program's kind would leave behind.
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_SESSION_ID", "somebody-else"),
];

impl Rig {
    /// A rig for the real Claude Code, whose model follows the script.
    pub(crate) async fn claude(script: &str) -> Self {
        let mut rig = with(programs::claude().display().to_string());
        let address = rig.model(script).await;
        rig.options.base_url = Some(format!("http://{address}"));
        rig.options.api_key = Some(Secret::new("none"));
        rig
    }

    /// A rig for a shell script that plays the program: `body` is run after the version was told.
    pub(crate) fn fake(body: &str) -> Self {
        let rig = with(String::new());
        let path = rig.path("claude");
        let script = format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '2.1.330 (Claude Code)'; exit 0; }}\n\
             {FAKE}\n{body}\n"
        );
        let mut rig = rig;
        rig.set_program(&path, &script);
        rig
    }
}

fn with(command: String) -> Rig {
    let mut rig = Rig::of("claude", vec![command]);
    let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned()));
    rig.options.env.extend(env);
    rig
}

/// What a script needs that plays the program: an answer to the first request, and the id of a
/// prompt.
const FAKE: &str = r#"
say() { printf '%s\n' "$1"; }
ready() {
  read -r init
  say '{"type":"control_response","response":{"subtype":"success","request_id":"gangline-1","response":{}}}'
}
prompt() {
  read -r line
  uuid=$(printf '%s' "$line" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
  say "{\"type\":\"command_lifecycle\",\"command_uuid\":\"$uuid\",\"state\":\"started\"}"
}
words() {
  say "{\"type\":\"assistant\",\"message\":{\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$1\"}],\"usage\":{\"input_tokens\":5}},\"parent_tool_use_id\":null}"
}
done_turn() {
  say "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"user_message_uuids\":[\"$uuid\"]}"
}
"#;
