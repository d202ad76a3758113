// An MCP server for tests: `node server.js RECORD stdio`, or `node server.js RECORD http URLFILE`.
// Each message that comes is a line of RECORD. Ends when its standard input does.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const crypto = require("node:crypto");
const [record, way, urlFile] = process.argv.slice(2);

const text = (type) => ({ type: "object", properties: { [type]: { type: "string" } } });
const TOOLS = [
  { name: "echo", description: "Says the same again.", inputSchema: text("text") },
  { name: "fail", description: "Fails.", inputSchema: { type: "object", properties: {} } },
  {
    name: "slow",
    description: "Answers after some milliseconds.",
    inputSchema: { type: "object", properties: { ms: { type: "number" } } },
  },
  { name: "env", description: "Tells a variable.", inputSchema: text("name") },
];

const said = (words, isError = false) => ({ content: [{ type: "text", text: words }], isError });

async function call({ name, arguments: given = {} }) {
  switch (name) {
    case "echo":
      return said(`echo: ${given.text}`);
    case "fail":
      return said("it failed", true);
    case "slow":
      await new Promise((done) => setTimeout(done, given.ms ?? 1000));
      return said("slow but sure");
    case "env":
      return said(process.env[given.name] ?? "");
    default:
      throw { code: -32602, message: `no tool ${name}` };
  }
}

async function result({ method, params = {} }) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion ?? "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "probe", version: "1" },
        instructions: "Words of the probe.",
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return call(params);
    default:
      throw { code: -32601, message: `no method ${method}` };
  }
}

// Returns the answer to a message; nothing to a notification.
async function answer(message, headers) {
  fs.appendFileSync(record, JSON.stringify({ pid: process.pid, headers, message }) + "\n");
  if (message.id === undefined || message.method === undefined) return undefined;
  const { id } = message;
  try {
    return { jsonrpc: "2.0", id, result: await result(message) };
  } catch (error) {
    return { jsonrpc: "2.0", id, error };
  }
}

function stdio() {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((line) => line.trim() !== "")) {
      answer(JSON.parse(line), {}).then((it) => it && process.stdout.write(JSON.stringify(it) + "\n"));
    }
  });
}

async function respond(request, response) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (request.method === "DELETE") return response.writeHead(200).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(body);
  const replied = await answer(message, request.headers);
  if (!replied) return response.writeHead(202).end();
  if (message.method === "initialize") response.setHeader("Mcp-Session-Id", crypto.randomUUID());
  if (message.method !== "tools/call") {
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify(replied));
  }
  // The answer to a call comes as an event, as servers may do.
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(`event: message\ndata: ${JSON.stringify(replied)}\n\n`);
}

process.stdin.on("end", () => process.exit(0));
if (way === "stdio") {
  stdio();
} else {
  process.stdin.resume();
  const server = http.createServer((request, response) => {
    respond(request, response).catch(() => response.writeHead(500).end());
  });
  server.listen(0, "127.0.0.1", () => {
    fs.writeFileSync(`${urlFile}.new`, `http://127.0.0.1:${server.address().port}/mcp`);
    fs.renameSync(`${urlFile}.new`, urlFile);
  });
}
