#!/usr/bin/env node
// A toy agent: one conversation, one tool, JSON lines in and out.
"use strict";
const { spawn } = require("node:child_process");

const url = process.env.TOY_URL;
const model = process.env.TOY_MODEL || "toy-1";
const tools = [{
  type: "function",
  function: {
    name: "shell",
    description: "Runs a command.",
    parameters: { type: "object", properties: { command: { type: "string" } } },
  },
}];
const messages = [];
let abort = new AbortController();
let decide = null;

const tell = (message) => process.stdout.write(JSON.stringify(message) + "\n");

async function ask() {
  const response = await fetch(url + "/chat/completions", {
    method: "POST",
    signal: abort.signal,
    headers: { "content-type": "application/json", authorization: "Bearer " + process.env.TOY_KEY },
    body: JSON.stringify({ model, messages, tools }),
  });
  const body = await response.json();
  if (!response.ok) {
    const wait = response.headers.get("retry-after");
    const retry_after = wait === null ? null : Number(wait);
    throw { status: response.status, code: body.error.code, why: body.error.message, retry_after };
  }
  return body;
}

function shell(command) {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", command]);
    let output = "";
    child.stdout.on("data", (data) => (output += data));
    child.stderr.on("data", (data) => (output += data));
    child.on("close", (code) => resolve({ output, failed: code !== 0 }));
    abort.signal.addEventListener("abort", () => child.kill("SIGKILL"));
  });
}

async function run(call) {
  const { command } = JSON.parse(call.function.arguments);
  tell({ kind: "ask", id: call.id, tool: "shell", input: { command } });
  const reply = await new Promise((resolve, reject) => {
    decide = resolve;
    abort.signal.addEventListener("abort", () => reject(new Error("interrupted")));
  });
  return reply.allow ? shell(command) : { output: reply.why, failed: true };
}

async function turn(text) {
  messages.push({ role: "user", content: text });
  tell({ kind: "accepted" });
  for (;;) {
    const body = await ask();
    const said = body.choices[0].message;
    messages.push(said);
    const calls = said.tool_calls || [];
    tell({
      kind: "said",
      model: body.model,
      thinking: said.reasoning_content || "",
      text: said.content || "",
      calls: calls.map((call) => ({
        id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments),
      })),
      usage: { input: body.usage.prompt_tokens, output: body.usage.completion_tokens },
    });
    if (calls.length === 0) return;
    for (const call of calls) {
      const result = await run(call).catch(() => ({ output: "interrupted", failed: true }));
      messages.push({ role: "tool", tool_call_id: call.id, content: result.output });
      tell({ kind: "result", id: call.id, name: call.function.name, ...result });
    }
    abort.signal.throwIfAborted();
  }
}

async function take(order) {
  if (order.prompt !== undefined) {
    abort = new AbortController();
    try {
      await turn(order.prompt);
      tell({ kind: "done" });
    } catch (error) {
      if (abort.signal.aborted) tell({ kind: "interrupted" });
      else tell({ kind: "failed", status: error.status || 0, code: error.code || "", why: String(error.why || error), retry_after: error.retry_after });
    }
  } else if (order.interrupt) {
    abort.abort();
  } else if (order.decide && decide) {
    decide(order.decide);
  }
}

let rest = "";
process.stdin.on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));
tell({ kind: "ready", session: "toy-" + process.pid });
