// The official model SDKs' loops that run tools; the argument is the stand-in's address.
// Tells what it got, one JSON object a line.
import { createRequire } from "node:module";

const require = createRequire(process.env.SDK);
const Anthropic = require("@anthropic-ai/sdk").default;
const { betaTool } = require("@anthropic-ai/sdk/helpers/beta/json-schema");
const OpenAI = require("openai").default;

const address = process.argv[2];
const tell = (name, value) => console.log(JSON.stringify({ name, value }));
const schema = {
  type: "object",
  properties: { command: { type: "string" } },
  required: ["command"],
};
const ran = [];
const run = (input) => {
  ran.push(input.command);
  return `${input.command} ran`;
};

const anthropic = new Anthropic({ baseURL: address, apiKey: "any" });
const bash = betaTool({ name: "Bash", description: "a shell", inputSchema: schema, run });
for (const stream of [false, true]) {
  const runner = anthropic.beta.messages.toolRunner({
    model: "stand-in",
    max_tokens: 200,
    stream,
    tools: [bash],
    messages: [{ role: "user", content: `run echo ${stream}` }],
  });
  const last = await runner;
  tell(`anthropic ${stream}`, last.content.map((block) => block.text));
}

const openai = new OpenAI({ baseURL: `${address}/v1`, apiKey: "any" });
const tools = [
  {
    type: "function",
    function: { name: "bash", function: run, parse: JSON.parse, description: "a shell", parameters: schema },
  },
];
const messages = [{ role: "user", content: "run echo openai" }];
tell("openai", await openai.chat.completions.runTools({ model: "m", messages, tools }).finalContent());
const several = openai.chat.completions.create({ model: "m", messages: [{ role: "user", content: "x" }], n: 2 });
tell("several", await several.then(() => "taken", (error) => `${error.status} ${error.param}`));
tell("ran", ran);
