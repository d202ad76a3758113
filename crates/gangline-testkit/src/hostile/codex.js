// The app-server's wire: requests and notifications, one JSON object per line.
if (process.argv.includes("--version")) {
  raw("codex-cli 0.169.0\n");
  process.exit(0);
}

let turns = 0;
let thread = "";
const item = (kind, turn, item) =>
  say({ method: `item/${kind}`, params: { threadId: thread, turnId: turn, item } });
const tool = (id) => ({
  type: "commandExecution", id, command: "/bin/bash -c 'touch x'", status: "inProgress",
});

function words(turn, text) {
  const message = { type: "agentMessage", id: `m-${turn}`, text };
  item("started", turn, { ...message, text: "" });
  if (PLAY === "exits_in_a_text") {
    const params = { threadId: thread, turnId: turn, itemId: message.id, delta: text.slice(0, 3) };
    say({ method: "item/agentMessage/delta", params });
    process.exit(7);
  }
  item("completed", turn, message);
}

function end(turn) {
  const done = { id: turn, items: [], status: "completed", error: null };
  say({ method: "turn/completed", params: { threadId: thread, turn: done } });
}

function prompted(id, params) {
  turns += 1;
  const turn = `u-${turns}`;
  say({ id, result: { turn: { id: turn, items: [], status: "inProgress", error: null } } });
  const begun = { id: turn, items: [], status: "inProgress", error: null };
  say({ method: "turn/started", params: { threadId: thread, turn: begun } });
  item("completed", turn, {
    type: "userMessage", id: "x", clientId: params.clientUserMessageId, content: params.input,
  });
  if (PLAY === "exits_after_the_prompt") process.exit(7);
  if (PLAY === "silent_in_the_turn" || PLAY === "ignores_term") return;
  if (PLAY === "exits_in_a_tool" || PLAY === "asks_and_dies") {
    item("started", turn, tool("c1"));
    if (PLAY === "asks_and_dies") {
      say({
        method: "item/commandExecution/requestApproval", id: 0,
        params: { threadId: thread, turnId: turn, itemId: "c1", command: "/bin/bash -c 'touch x'" },
      });
    }
    process.exit(7);
  }
  noise();
  if (PLAY === "unknown_events") {
    say({ method: "weather/changed", params: { sky: "blue" } });
    item("completed", turn, { type: "hologram", id: "h" });
    say({ method: "what/isThis", id: 77, params: {} });
    say({ method: "item/completed", params: { threadId: thread, turnId: turn, item: 7 } });
  }
  if (PLAY !== "success_without_a_word") words(turn, "all well");
  end(turn);
  if (PLAY === "answers_twice") end(turn);
}

if (PLAY === "silent_from_the_start") setInterval(() => {}, 1000);

listen((message) => {
  const { id, method, params } = message;
  if (PLAY === "silent_from_the_start" || method === undefined) return;
  if (method === "initialize") say({ id, result: { userAgent: "hostile" } });
  else if (method === "thread/resume" && PLAY === "refuses_resume") {
    say({ id, error: { code: -32600, message: "this thread cannot be resumed" } });
  } else if (method === "thread/start" || method === "thread/resume") {
    thread = params.threadId || "t-1";
    say({ id, result: { thread: { id: thread }, model: "m" } });
  } else if (method === "turn/start") prompted(id, params);
  else if (method === "turn/interrupt" && PLAY !== "ignores_term") {
    say({ id, result: {} });
    const done = { id: params.turnId, items: [], status: "interrupted", error: null };
    say({ method: "turn/completed", params: { threadId: thread, turn: done } });
  } else if (id !== undefined) say({ id, result: {} });
});
