// The official model SDKs: plain and streamed, and their loops that run tools. The argument is the
// stand-in's address.
// Tells what it got, one JSON object a line.
import { createRequire } from "node:module";

const require = createRequire(process.env.SDK);
const Anthropic = require("@anthropic-ai/sdk").default;
const { betaTool } = require("@anthropic-ai/sdk/helpers/beta/json-schema");
const OpenAI = require("openai").default;
const { GoogleGenAI } = require("@google/genai");

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

const PLAIN = "say exactly kumquat";
const joined = async (stream, text) => {
  let all = "";
  for await (const event of stream) all += text(event) ?? "";
  return all;
};

const anthropic = new Anthropic({ baseURL: address, apiKey: "any" });
const prompt = { model: "m", max_tokens: 200, messages: [{ role: "user", content: PLAIN }] };
tell("messages", (await anthropic.messages.create(prompt)).content[0].text);
tell("messages, streamed", await anthropic.messages.stream(prompt).finalText());
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
const refused = (promise) => promise.then(() => "taken", (error) => `${error.status} ${error.param}`);
const chat = { model: "m", messages: [{ role: "user", content: PLAIN }] };
tell("chat", (await openai.chat.completions.create(chat)).choices[0].message.content);
const chunks = await openai.chat.completions.create({ ...chat, stream: true });
tell("chat, streamed", await joined(chunks, (chunk) => chunk.choices[0]?.delta.content));
const tools = [
  {
    type: "function",
    function: { name: "bash", function: run, parse: JSON.parse, description: "a shell", parameters: schema },
  },
];
const messages = [{ role: "user", content: "run echo openai" }];
tell("openai", await openai.chat.completions.runTools({ model: "m", messages, tools }).finalContent());
tell("several", await refused(openai.chat.completions.create({ ...chat, n: 2 })));

const asked = { model: "m", input: PLAIN };
tell("responses", (await openai.responses.create(asked)).output_text);
const events = await openai.responses.create({ ...asked, stream: true });
tell("responses, streamed", await joined(events, (event) => event.type === "response.output_text.delta" ? event.delta : ""));
const functions = [{ type: "function", name: "bash", description: "a shell", parameters: schema, strict: false }];
const input = [{ role: "user", content: "run echo responses" }];
const first = await openai.responses.create({ model: "m", input, tools: functions });
input.push(...first.output);
for (const call of first.output.filter((item) => item.type === "function_call")) {
  const output = run(JSON.parse(call.arguments));
  input.push({ type: "function_call_output", call_id: call.call_id, output });
}
tell("responses, tools", (await openai.responses.create({ model: "m", input, tools: functions })).output_text);
tell("unknown", await refused(openai.responses.create({ ...asked, frobnicate: 1 })));

const google = new GoogleGenAI({ apiKey: "any", httpOptions: { baseUrl: address } });
const content = { model: "m", contents: PLAIN };
tell("google", (await google.models.generateContent(content)).text);
tell("google, streamed", await joined(await google.models.generateContentStream(content), (chunk) => chunk.text));
const shell = {
  tool: async () => ({
    functionDeclarations: [{ name: "run_shell_command", description: "a shell", parametersJsonSchema: schema }],
  }),
  callTool: async (calls) =>
    calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: run(args) } } })),
};
const called = { model: "m", contents: "run echo google", config: { tools: [shell] } };
tell("google, tools", (await google.models.generateContent(called)).text);
tell("google, counted", (await google.models.countTokens(content)).totalTokens > 0);
tell("google, unknown", await google.models
  .generateContent({ ...content, config: { httpOptions: { extraBody: { frobnicate: 1 } } } })
  .then(() => "taken", (error) => `${error.status}`));
tell("ran", ran);
