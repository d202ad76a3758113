# The official model SDKs: plain and streamed, and their loops that run tools. The argument is the
# stand-in's address. Tells what it got, one JSON object a line.
import json
import sys

from anthropic import Anthropic, beta_tool
from google import genai
from openai import BadRequestError, OpenAI

address = sys.argv[1]
PLAIN = "say exactly kumquat"
ran = []


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


def run(command):
    ran.append(command)
    return f"{command} ran"


def bash(command: str) -> str:
    """A shell."""
    return run(command)


def run_shell_command(command: str) -> str:
    """A shell."""
    return run(command)


anthropic = Anthropic(base_url=address, api_key="any")
prompt = {"model": "m", "max_tokens": 200, "messages": [{"role": "user", "content": PLAIN}]}
tell("messages", anthropic.messages.create(**prompt).content[0].text)
with anthropic.messages.stream(**prompt) as stream:
    tell("messages, streamed", "".join(stream.text_stream))
for streamed in (False, True):
    asked = [{"role": "user", "content": f"run echo {str(streamed).lower()}"}]
    runner = anthropic.beta.messages.tool_runner(
        model="m", max_tokens=200, tools=[beta_tool(bash)], messages=asked, stream=streamed
    )
    last = None
    for message in runner:
        last = message.get_final_message() if streamed else message
    tell(f"anthropic {str(streamed).lower()}", [block.text for block in last.content])

openai = OpenAI(base_url=f"{address}/v1", api_key="any")
schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
chat = {"model": "m", "messages": [{"role": "user", "content": PLAIN}]}
tell("chat", openai.chat.completions.create(**chat).choices[0].message.content)
chunks = openai.chat.completions.create(**chat, stream=True)
tell("chat, streamed", "".join(c.choices[0].delta.content or "" for c in chunks if c.choices))
function = {"name": "bash", "description": "a shell", "parameters": schema}
tools = [{"type": "function", "function": function}]
messages = [{"role": "user", "content": "run echo openai"}]
said = openai.chat.completions.create(model="m", messages=messages, tools=tools).choices[0].message
messages.append(said.model_dump(exclude_none=True))
for call in said.tool_calls:
    output = bash(**json.loads(call.function.arguments))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": output})
said = openai.chat.completions.create(model="m", messages=messages, tools=tools)
tell("openai", said.choices[0].message.content)


def refused(make):
    try:
        make()
        return "taken"
    except BadRequestError as error:
        return f"{error.status_code} {error.param}"


tell("several", refused(lambda: openai.chat.completions.create(**chat, n=2)))

tell("responses", openai.responses.create(model="m", input=PLAIN).output_text)
with openai.responses.stream(model="m", input=PLAIN) as stream:
    deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
tell("responses, streamed", "".join(deltas))
functions = [{"type": "function", **function, "strict": False}]
entries = [{"role": "user", "content": "run echo responses"}]
first = openai.responses.create(model="m", input=entries, tools=functions)
entries += [item.model_dump(exclude_none=True) for item in first.output]
for call in (item for item in first.output if item.type == "function_call"):
    output = bash(**json.loads(call.arguments))
    entries.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
second = openai.responses.create(model="m", input=entries, tools=functions)
tell("responses, tools", second.output_text)
unknown = {"frobnicate": 1}
more = {"model": "m", "input": PLAIN, "extra_body": unknown}
tell("unknown", refused(lambda: openai.responses.create(**more)))

google = genai.Client(api_key="any", http_options={"base_url": address})
tell("google", google.models.generate_content(model="m", contents=PLAIN).text)
stream = google.models.generate_content_stream(model="m", contents=PLAIN)
tell("google, streamed", "".join(chunk.text or "" for chunk in stream))
automatic = {"tools": [run_shell_command]}
called = google.models.generate_content(model="m", contents="run echo google", config=automatic)
tell("google, tools", called.text)
tell("google, counted", google.models.count_tokens(model="m", contents=PLAIN).total_tokens > 0)
try:
    config = {"http_options": {"extra_body": unknown}}
    google.models.generate_content(model="m", contents=PLAIN, config=config)
    tell("google, unknown", "taken")
except genai.errors.ClientError as error:
    tell("google, unknown", str(error.code))
tell("ran", ran)
