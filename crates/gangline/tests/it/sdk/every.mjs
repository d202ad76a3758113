// The official MCP client for TypeScript makes a list of calls, one after the other. The first argument
// is a file with the calls; then `http URL TOKEN`, or `stdio PROGRAM ARGUMENT…`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.SDK);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const [file, kind, first, ...rest] = process.argv.slice(2);
const transport = kind === "http"
  ? new StreamableHTTPClientTransport(new URL(first), {
      requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
    })
  : new StdioClientTransport({ command: first, args: rest, env: process.env });
const client = new Client({ name: "editor", version: "1" });
const tell = (name, value) => console.log(JSON.stringify({ name, value }));

await client.connect(transport);
tell("tools", (await client.listTools()).tools.map((tool) => tool.name));
for (const [name, tool, input] of JSON.parse(readFileSync(file, "utf8"))) {
  try {
    const result = await client.callTool({ name: tool, arguments: input });
    const { content, isError, structuredContent } = result;
    tell(name, { text: content[0].text, failed: isError, data: structuredContent ?? null });
  } catch (error) {
    tell(name, { thrown: error.message });
  }
}
tell("version", transport.protocolVersion ?? null);
await client.close();
