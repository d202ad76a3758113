// An agent of the Agent Client Protocol. It does what the prompt says in its first word, and
// misbehaves as PLAY says. Sessions are kept below HOME, so that another process goes on with them.
const path = require("node:path");

const KEPT = path.join(process.env.HOME, "kept-sessions.json");
const kept = () => (fs.existsSync(KEPT) ? JSON.parse(fs.readFileSync(KEPT, "utf8")) : {});
const keep = (sessions) => fs.writeFileSync(KEPT, JSON.stringify(sessions));

const result = (id, value) => say({ jsonrpc: "2.0", id, result: value });
const refuse = (id, code, message, data) => say({ jsonrpc: "2.0", id, error: { code, message, data } });
const tell = (method, params) => say({ jsonrpc: "2.0", method, params });
const update = (sessionId, body) => tell("session/update", { sessionId, update: body });
const words = (session, text, kind = "agent_message_chunk") =>
  update(session, { sessionUpdate: kind, content: { type: "text", text } });

let numbers = 0;
const waiting = new Map(); // our requests, by id
let turn = null; // {id, session}
let model = "plain";

function ask(method, params, then) {
  numbers += 1;
  waiting.set(numbers, then);
  say({ jsonrpc: "2.0", id: numbers, method, params });
}

function end(reason, more = {}) {
  const { id } = turn;
  turn = null;
  result(id, { stopReason: reason, ...more });
  if (PLAY === "answers_twice") result(id, { stopReason: reason, ...more });
}

const options = [
  { optionId: "for-ever", name: "always", kind: "allow_always" },
  { optionId: "yes", name: "once", kind: "allow_once" },
  { optionId: "no", name: "no", kind: "reject_once" },
];

// Announced by the question alone, as some do.
function tool(session, title, kind, input, then) {
  const call = { toolCallId: `call-${numbers}`, title, kind, status: "pending", rawInput: input };
  if (PLAY === "exits_in_a_tool") {
    update(session, { sessionUpdate: "tool_call", ...call });
    process.exit(7);
  }
  const decided = (answer) => {
    const chosen = answer.outcome.outcome === "selected" ? answer.outcome.optionId : "cancelled";
    const status = chosen === "yes" ? "completed" : "failed";
    const content = [{ type: "content", content: { type: "text", text: `tool ${chosen}` } }];
    update(session, { sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status, content });
    then(chosen);
  };
  if (auto || mode === "auto") {
    update(session, { sessionUpdate: "tool_call", ...call });
    return decided({ outcome: { outcome: "selected", optionId: "yes" } });
  }
  ask("session/request_permission", { sessionId: session, toolCall: call, options }, decided);
  if (PLAY === "asks_and_dies") process.exit(7);
}

function prompt(id, session, text) {
  turn = { id, session };
  const sessions = kept();
  sessions[session].push(text);
  keep(sessions);
  if (PLAY === "silent_in_the_turn" || PLAY === "ignores_term") return;
  if (PLAY === "exits_after_the_prompt") process.exit(7);
  if (PLAY === "success_without_a_word") return end("end_turn");
  if (PLAY === "unknown_events") {
    update(session, { sessionUpdate: "dance", steps: 3 });
    update(session, { sessionUpdate: "tool_call", toolCallId: 7 });
    tell("session/update", {});
    tell("_kiro.dev/mcp/server_initialized", { serverName: "x" });
    tell("_kiro.dev/commands/available", { sessionId: session, commands: [{ name: "/x" }] });
    ask("fs/read_text_file", { sessionId: session, path: "/etc/passwd" }, () => {});
    ask("terminal/create", { sessionId: session, command: "sh" }, () => {});
    ask("_vendor/anything", {}, () => {});
  }
  noise();
  if (PLAY === "exits_in_a_text") {
    words(session, "half of a ");
    process.exit(7);
  }
  if (PLAY === "exits_in_a_tool" || PLAY === "asks_and_dies") return tool(session, "sh", "execute", { command: "x" }, () => {});
  const [word, ...rest] = text.split(" ");
  const others = rest.join(" ");
  if (word === "run") return tool(session, "innocent", "execute", { command: others }, (chosen) => {
    if (chosen === "cancelled") return end("cancelled");
    words(session, `it said ${chosen}`);
    end("end_turn");
  });
  if (word === "claim") return tool(session, others, "execute", { command: "x" }, () => end("end_turn"));
  if (word === "call") return tool(session, others, "other", { text: "x" }, () => end("end_turn"));
  if (word === "wait") return words(session, "waiting");
  if (word === "fail") {
    turn = null;
    return refuse(id, Number(rest[0]), rest.slice(1).join(" "), {});
  }
  if (word === "hide") {
    turn = null;
    return refuse(id, -32603, "Internal error", { details: others });
  }
  // "cancelled", as a process says whose parent was killed; with `die` it ends behind it.
  if (word === "give-up") {
    end("cancelled");
    if (rest[0] === "die") setTimeout(() => process.kill(process.pid, "SIGKILL"), 40);
    return;
  }
  if (word === "files") return ask("fs/read_text_file", { sessionId: session, path: "/etc/passwd" }, (_, error) => {
    words(session, `refused with ${error.code}`);
    end("end_turn");
  });
  if (replay.length === 0) return says(session, text);
  // Tells the past behind the prompt, in pieces, and then answers.
  for (const old of replay.splice(0)) {
    words(session, old.slice(0, 4));
    words(session, old.slice(4));
  }
  setTimeout(() => says(session, text), 200);
}

// The answer to the prompt of this number; with AGENT_REPLAYS=numbers it has nothing but that.
const answered = (text, number) =>
  process.env.AGENT_REPLAYS === "numbers" ? `ANSWER-${number}.` : `you said ${text} with ${model}`;
let replay = []; // answers of a loaded session that are told again with the next prompt

function says(session, text) {
  words(session, "hmm", "agent_thought_chunk");
  const answer = answered(text, kept()[session].length);
  words(session, answer.slice(0, 4));
  words(session, answer.slice(4));
  update(session, { sessionUpdate: "usage_update", used: 12, size: 100, cost: { amount: 0.5, currency: "USD" } });
  end("end_turn", { usage: { inputTokens: 10, outputTokens: 2, totalTokens: 12, cachedReadTokens: 4 } });
  // The last piece comes after the end.
  if (process.env.AGENT_LATE) setTimeout(() => words(session, ", late"), 50);
}

let auto = process.env.AGENT_AUTO !== undefined; // runs tools unasked until told not to
const choices = () => [
  { id: "model", name: "Model", category: "model", type: "select", currentValue: model, options: [] },
  { id: "auto_approve", name: "Auto", type: "boolean", currentValue: auto },
];
let mode = process.env.AGENT_MODE; // `auto` asks nobody
const modes = () =>
  mode && {
    currentModeId: mode,
    availableModes: [{ id: "auto", name: "Auto" }, { id: "default", name: "Default" }],
  };
let late = false;

const METHODS = {
  initialize: (id) => {
    if (PLAY === "silent_from_the_start") return;
    if (process.env.AGENT_LAST_WORDS) {
      raw(process.env.AGENT_LAST_WORDS + "\n");
      process.exit(0);
    }
    if (process.env.AGENT_BABBLES) {
      setInterval(() => raw("still warming up\n".repeat(50)), 1);
      return;
    }
    result(id, {
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { http: true },
        sessionCapabilities: process.env.AGENT_LISTS ? { list: {} } : {},
      },
      authMethods: [{ id: "x", name: "Say the word", description: "type `agent login`" }],
      agentInfo: { name: "agent", version: "1" },
    });
  },
  "session/new": (id) => {
    const login = process.env.AGENT_LOGIN;
    if (login && !fs.existsSync(login)) return refuse(id, -32000, "Authentication required", {});
    const sessions = kept();
    const session = `s-${Object.keys(sessions).length + 1}`;
    keep({ ...sessions, [session]: [] });
    result(id, { sessionId: session, configOptions: choices(), modes: modes() });
    update(session, { sessionUpdate: "available_commands_update", availableCommands: [{ name: "x" }] });
  },
  "session/load": (id, { sessionId }) => {
    const past = kept()[sessionId];
    if (!past || PLAY === "refuses_resume") return refuse(id, -32002, "Resource not found", {});
    if (process.env.AGENT_REPLAYS) {
      replay = past.map((text, index) => answered(text, index + 1));
      return result(id, { configOptions: choices(), modes: modes() });
    }
    for (const text of past) {
      words(sessionId, text, "user_message_chunk");
      words(sessionId, `of old: ${text}`);
    }
    result(id, { configOptions: choices(), modes: modes() });
  },
  "session/list": (id) => {
    const sessions = Object.keys(kept()).map((sessionId) => ({ sessionId, cwd: process.cwd(), updatedAt: "2026-01-02T03:04:05Z" }));
    result(id, { sessions });
  },
  "session/set_mode": (id, { modeId }) => {
    mode = modeId;
    result(id, {});
  },
  "session/set_config_option": (id, { configId, value }) => {
    if (configId === "auto_approve") {
      if (process.env.AGENT_AUTO === "always") return refuse(id, -32602, "it is so", {});
      auto = value;
      return result(id, { configOptions: choices() });
    }
    if (value === "nope") return refuse(id, -32602, "no such model", {});
    model = value;
    result(id, { configOptions: choices() });
  },
  "session/prompt": (id, { sessionId, prompt: blocks }) => {
    if (turn) process.exit(8); // never two at a time
    prompt(id, sessionId, blocks[0].text);
  },
};

listen((message) => {
  if (message.method === undefined) {
    const then = waiting.get(message.id);
    waiting.delete(message.id);
    if (then) then(message.result, message.error);
    if (late && turn) end("cancelled");
    return;
  }
  if (message.method === "session/cancel") {
    if (PLAY === "ignores_term" || !turn) return;
    // The end waits for the answer to the question, as with some.
    if (waiting.size > 0) late = true;
    else end("cancelled");
    return;
  }
  const method = METHODS[message.method];
  if (method) method(message.id, message.params);
  else if (message.id !== undefined) refuse(message.id, -32601, "Method not found", {});
});
