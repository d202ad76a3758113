#!/usr/bin/env node
// In the place of `kiro-cli acp`, whose models are its vendor's: an agent of the Agent Client
// Protocol as its documentation describes it, with messages of its own beside the protocol's, and
// a shell. What it asks the model goes to the stand-in, by chat completions.
"use strict";
const { spawn } = require("node:child_process");
const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

if (process.argv.includes("--version")) {
  console.log("kiro-cli 2.0.0");
  process.exit(0);
}

const KEPT = path.join(process.env.HOME, ".kiro/sessions/cli");
fs.mkdirSync(KEPT, { recursive: true });
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const result = (id, value) => say({ id, result: value });
const refuse = (id, code, message) => say({ id, error: { code, message } });

let numbers = 0;
const waiting = new Map(); // our requests, by id
const ask = (method, params) =>
  new Promise((then) => {
    waiting.set(++numbers, then);
    say({ id: numbers, method, params });
  });

let session = null; // {id, cwd, messages, tools, servers}
let model = "auto";
let turn = null; // {abort}
const tell = (update) =>
  say({ method: "session/update", params: { sessionId: session.id, update } });
const words = (kind, text) => text && tell({ sessionUpdate: kind, content: { type: "text", text } });

// A tool server over standard streams.
async function server({ name, command, args, env }) {
  const own = Object.fromEntries((env || []).map((it) => [it.name, it.value]));
  const child = spawn(command, args, {
    cwd: session.cwd, env: { ...process.env, ...own }, stdio: ["pipe", "pipe", "ignore"],
  });
  const answers = new Map();
  lines(child.stdout, (message) => answers.get(message.id)?.(message));
  let count = 0;
  const call = (method, params) =>
    new Promise((then) => {
      answers.set(++count, then);
      child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id: count, method, params }) + "\n");
    });
  const clientInfo = { name: "kiro", version: "2" };
  await call("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  child.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) + "\n");
  for (const tool of (await call("tools/list", {})).result.tools) {
    const named = `${name}__${tool.name}`;
    session.tools.push({
      type: "function",
      function: { name: named, description: tool.description, parameters: tool.inputSchema },
    });
    session.servers.set(named, (input) => call("tools/call", { name: tool.name, arguments: input }));
  }
  say({ method: "_kiro.dev/mcp/server_initialized", params: { sessionId: session.id, serverName: name } });
}

async function open(id, { cwd, mcpServers }, known) {
  const shell = { type: "object", properties: { command: { type: "string" } } };
  const tool = { name: "execute_bash", description: "Runs a command.", parameters: shell };
  const tools = [{ type: "function", function: tool }];
  session = { ...known, cwd, tools, servers: new Map() };
  await Promise.all(mcpServers.map(server));
  result(id, { sessionId: session.id });
  say({ method: "_kiro.dev/commands/available", params: { sessionId: session.id, commands: [{ name: "/usage" }] } });
}

function run(command) {
  return new Promise((then) => {
    const child = spawn("sh", ["-c", command], { cwd: session.cwd });
    let text = "";
    child.stdout.on("data", (data) => (text += data));
    child.stderr.on("data", (data) => (text += data));
    child.on("close", (code) => then({ text, failed: code !== 0 }));
    turn.abort.signal.addEventListener("abort", () => child.kill("SIGKILL"));
  });
}

const OPTIONS = [
  { optionId: "allow_always", name: "Always", kind: "allow_always" },
  { optionId: "allow_once", name: "Once", kind: "allow_once" },
  { optionId: "reject_once", name: "No", kind: "reject_once" },
];

async function tool({ id, function: { name, arguments: text } }) {
  const input = JSON.parse(text);
  const kind = name === "execute_bash" ? "execute" : "other";
  const call = { toolCallId: id, title: name, kind, status: "pending", rawInput: input };
  tell({ sessionUpdate: "tool_call", ...call });
  const { outcome } = await ask("session/request_permission", { sessionId: session.id, toolCall: call, options: OPTIONS });
  turn.abort.signal.throwIfAborted();
  let done = { text: "Tool use was rejected", failed: true };
  if (outcome.optionId === "allow_once") {
    const served = session.servers.get(name);
    if (served) {
      const answer = (await served(input)).result;
      done = { text: answer.content.map((it) => it.text).join("\n"), failed: !!answer.isError };
    } else done = await run(input.command);
  }
  const content = [{ type: "content", content: { type: "text", text: done.text } }];
  const status = done.failed ? "failed" : "completed";
  tell({ sessionUpdate: "tool_call_update", toolCallId: id, status, content });
  return { role: "tool", tool_call_id: id, content: done.text };
}

async function prompt(text) {
  const { messages, tools } = session;
  messages.push({ role: "user", content: text });
  for (;;) {
    const response = await fetch(`${process.env.KIRO_STANDIN}/chat/completions`, {
      method: "POST",
      signal: turn.abort.signal,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages, tools }),
    });
    const said = (await response.json()).choices[0].message;
    messages.push(said);
    words("agent_thought_chunk", said.reasoning_content);
    words("agent_message_chunk", said.content);
    for (const call of said.tool_calls || []) messages.push(await tool(call));
    if (!said.tool_calls?.length) return;
  }
}

const METHODS = {
  initialize: (id) =>
    result(id, {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, mcpCapabilities: { http: false, sse: false } },
      agentInfo: { name: "kiro-cli", version: "2.0.0" },
      authMethods: [],
    }),
  "session/new": (id, params) => open(id, params, { id: crypto.randomUUID(), messages: [] }),
  "session/load": (id, params) => {
    const file = path.join(KEPT, `${params.sessionId}.jsonl`);
    // As it was seen by others: no word of an error.
    if (!fs.existsSync(file)) process.exit(0);
    const messages = fs.readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    return open(id, params, { id: params.sessionId, messages });
  },
  "session/set_model": (id, { modelId }) => {
    model = modelId;
    result(id, {});
  },
  "session/prompt": async (id, { prompt: blocks }) => {
    turn = { abort: new AbortController() };
    const before = session.messages.length;
    try {
      await prompt(blocks.map((it) => it.text).join(""));
      result(id, { stopReason: "end_turn" });
    } catch (error) {
      if (!turn.abort.signal.aborted) return refuse(id, -32603, String(error));
      // What was cut off has no part in what comes later.
      session.messages.length = before;
      result(id, { stopReason: "cancelled" });
    } finally {
      turn = null;
      const kept = session.messages.map((it) => JSON.stringify(it)).join("\n");
      fs.writeFileSync(path.join(KEPT, `${session.id}.jsonl`), kept);
    }
  },
};

function lines(stream, take) {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (data) => {
    const all = (rest + data).split("\n");
    rest = all.pop();
    for (const line of all) if (line.trim()) take(JSON.parse(line));
  });
}

lines(process.stdin, (message) => {
  if (message.method === undefined) return waiting.get(message.id)?.(message.result);
  if (message.method === "session/cancel") return turn?.abort.abort();
  const method = METHODS[message.method];
  if (method) method(message.id, message.params);
  else if (message.id !== undefined) refuse(message.id, -32601, "Method not found");
});
process.stdin.on("end", () => process.exit(0));
