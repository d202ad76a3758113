// The official MCP client for TypeScript; the arguments are the server's program and its arguments.
// Tells what it got, one JSON object a line.
import { createRequire } from "node:module";

const require = createRequire(process.env.SDK);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env });
const client = new Client({ name: "editor", version: "1" });
const odd = [];
client.onerror = (error) => odd.push(String(error));
const tell = (name, value) => console.log(JSON.stringify({ name, value }));
const call = async (name, input) => {
  try {
    const result = await client.callTool({ name, arguments: input });
    return { text: result.content[0].text, failed: result.isError };
  } catch (error) {
    return { thrown: error.message };
  }
};

await client.connect(transport);
tell("tools", (await client.listTools()).tools.map((tool) => tool.name));
tell("channels", await call("channels", {}));
tell("said", await call("send", { to: "#general", text: "from an editor" }));
// Two calls, the second one taken back while the first runs.
const abort = new AbortController();
const kept = call("send", { to: "#general", text: "kept" });
const back = client
  .callTool({ name: "send", arguments: { to: "#general", text: "taken back" } }, undefined, { signal: abort.signal })
  .then(() => "done", () => "taken back");
abort.abort();
tell("kept", await kept);
tell("back", await back);
tell("ghost", await call("send", { to: "ghost", text: "x" }));
tell("long", await call("send", { to: "#general", text: "x".repeat(1_100_000) }));
tell("after", await call("who", { target: "ghost" }));
tell("topic set", await call("topic", { channel: "#general", text: "by hand" }));
tell("topic", await call("topic", { channel: "#general" }));
tell("who", await call("who", { target: "#general" }));
tell("read", await call("read", { from: "#general", limit: 2 }));
const pings = await Promise.all(Array.from({ length: 20 }, () => client.ping()));
tell("pings", pings.length);
tell("odd", odd);
await client.close();
