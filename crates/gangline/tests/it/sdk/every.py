# The official MCP client for Python makes a list of calls, one after the other. The first argument is
# a file with the calls; then `http URL TOKEN`, or `stdio PROGRAM ARGUMENT…`.
import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

file, kind, first, *rest = sys.argv[1:]


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


async def calls(client):
    tell("tools", [tool.name for tool in (await client.list_tools()).tools])
    tell("version", client.protocol_version)
    with open(file) as script:
        wanted = json.load(script)
    for name, tool, arguments in wanted:
        try:
            result = await client.call_tool(tool, arguments)
            text, data = result.content[0].text, result.structured_content
            tell(name, {"text": text, "failed": result.is_error, "data": data})
        except MCPError as error:
            tell(name, {"thrown": str(error)})


async def main():
    if kind == "stdio":
        server = StdioServerParameters(command=first, args=rest, env=dict(os.environ))
        async with Client(server) as client:
            await calls(client)
        return
    headers = {"Authorization": f"Bearer {rest[0]}"}
    timeout = httpx2.Timeout(30, read=120)
    async with httpx2.AsyncClient(headers=headers, timeout=timeout) as http:
        async with Client(streamable_http_client(first, http_client=http)) as client:
            await calls(client)


asyncio.run(main())
