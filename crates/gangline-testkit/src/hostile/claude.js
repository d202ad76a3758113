// Claude Code's stream of JSON lines, for a process that lives on and for one that has a single
// thing to do.
if (process.argv.includes("--version")) {
  raw("2.1.330 (Claude Code)\n");
  process.exit(0);
}

const resumed = process.argv.indexOf("--resume");
if (PLAY === "refuses_resume" && resumed >= 0) {
  raw(`No conversation found with session ID: ${process.argv[resumed + 1]}\n`, 2);
  process.exit(1);
}

const assistant = (content) => say({
  type: "assistant", parent_tool_use_id: null,
  message: { model: "m", content, usage: { input_tokens: 5, output_tokens: 2 } },
});
const tool = { type: "tool_use", id: "c1", name: "Bash", input: { command: "touch x" } };

function end(uuid, text) {
  say({
    type: "result", subtype: "success", is_error: false, result: text, user_message_uuids: [uuid],
  });
}

function prompted(uuid) {
  say({ type: "command_lifecycle", command_uuid: uuid, state: "started" });
  if (PLAY === "exits_after_the_prompt") process.exit(7);
  if (PLAY === "silent_in_the_turn" || PLAY === "ignores_term") return;
  if (PLAY === "exits_in_a_text") {
    const delta = { type: "text_delta", text: "all" };
    say({ type: "stream_event", event: { type: "content_block_delta", index: 0, delta } });
    process.exit(7);
  }
  if (PLAY === "exits_in_a_tool" || PLAY === "asks_and_dies") {
    assistant([tool]);
    if (PLAY === "asks_and_dies") {
      const request = { subtype: "can_use_tool", tool_name: tool.name, input: tool.input, tool_use_id: "c1" };
      say({ type: "control_request", request_id: "ask-1", request });
    }
    process.exit(7);
  }
  noise();
  if (PLAY === "unknown_events") {
    say({ type: "weather", sky: "blue" });
    say({ type: "system", subtype: "hologram" });
    say({ type: "control_request", request_id: "q", request: { subtype: "dance" } });
    say({ type: "assistant", message: 7 });
  }
  if (PLAY === "success_without_a_word") return end(uuid, "");
  assistant([{ type: "text", text: "all well" }]);
  end(uuid, "all well");
  if (PLAY === "answers_twice") end(uuid, "all well");
}

listen((message) => {
  if (message.type === "user") return prompted(message.uuid);
  if (message.type !== "control_request" || PLAY === "silent_from_the_start") return;
  const response = { subtype: "success", request_id: message.request_id, response: {} };
  say({ type: "control_response", response });
});
