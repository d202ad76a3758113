# The official MCP client for Python; the arguments are the server's program and its arguments.
# Tells what it got, one JSON object a line.
import asyncio
import json
import os
import sys

from mcp import Client, ClientSession, MCPError, StdioServerParameters, stdio_client

server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


async def call(client, name, arguments):
    try:
        result = await client.call_tool(name, arguments)
        return {"text": result.content[0].text, "failed": result.is_error}
    except MCPError as error:
        return {"thrown": str(error)}


async def main():
    async with Client(server) as client:
        tell("version", client.protocol_version)
        tell("tools", [tool.name for tool in (await client.list_tools()).tools])
        tell("channels", await call(client, "channels", {}))
        tell("said", await call(client, "send", {"to": "#general", "text": "from an editor"}))
        tell("ghost", await call(client, "send", {"to": "ghost", "text": "x"}))
        long = {"to": "#general", "text": "x" * 1_100_000}
        tell("long", await call(client, "send", long))
        tell("after", await call(client, "who", {"target": "ghost"}))
        topic = {"channel": "#general", "text": "by hand"}
        tell("topic set", await call(client, "topic", topic))
        tell("topic", await call(client, "topic", {"channel": "#general"}))
        tell("who", await call(client, "who", {"target": "#general"}))
        tell("read", await call(client, "read", {"from": "#general", "limit": 1}))
        pings = await asyncio.gather(*(client.send_ping() for _ in range(20)))
        tell("pings", len(pings))
    # What programs of the older kind are written with.
    async with stdio_client(server) as (reader, writer):
        async with ClientSession(reader, writer) as session:
            await session.initialize()
            tell("session", len((await session.list_tools()).tools))


asyncio.run(main())
