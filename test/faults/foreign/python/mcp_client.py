"""Calls recalld with the official MCP client: `mcp_client.py URL KEY NODE PROGRAM HOME`.

It does so over HTTP, and over stdio with a server's address and without one, in the protocols of 2025 and 2026.
Ends with one line of figures.
"""

import asyncio
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

# As the client calls them: by a handshake, as in 2025, or of this version without one.
MODES = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28", "auto": "2026-07-28"}
TOOLS = [f"memory_{name}" for name in ("store", "recall", "list", "update", "update_many", "forget", "namespaces")]
TIMEOUT_S = 120
calls = 0


def expect(holds, message):
    if not holds:
        raise AssertionError(message)


async def call(client, name, **given):
    """Calls a tool. Returns its structured result, or the text of its error."""
    global calls
    calls += 1
    result = await client.call_tool(name, given)
    text = result.content[0].text
    return text if result.is_error else result.structured_content


async def lives(client, version):
    """Lists the tools, stores, recalls, updates and forgets."""
    expect(client.protocol_version == version, f"the protocol is {client.protocol_version}, not {version}")
    names = [tool.name for tool in (await client.list_tools()).tools]
    expect(sorted(names) == sorted(TOOLS), f"the tools are {names}")
    stored = await call(client, "memory_store", text="Ada prefers tea.", metadata={"source": "chat"})
    question = {"query": "What does Ada like to drink?"}
    found = await call(client, "memory_recall", **question)
    expect([each["id"] for each in found["memories"]] == [stored["id"]], f"recalled {found}")
    await call(client, "memory_update", id=stored["id"], text="Ada prefers milk.")
    found = await call(client, "memory_recall", **question)
    expect(found["memories"][0]["text"] == "Ada prefers milk.", f"recalled {found}")
    refused = await call(client, "memory_store", text=" ")
    expect(isinstance(refused, str) and "text" in refused, f"a blank text: {refused}")
    gone = await call(client, "memory_forget", ids=[stored["id"]])
    expect(gone == {"deleted": 1}, f"forgot {gone}")
    listed = await call(client, "memory_list")
    expect(listed["memories"] == [], f"listed {listed}")


def ways(url, key, node, program, home):
    """Each way to reach the tools, by its name; a connection is for one client."""

    def over_http():
        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=TIMEOUT_S)
        return streamable_http_client(f"{url}/mcp?namespace=python", http_client=http)

    def over_stdio(env):
        return StdioServerParameters(command=node, args=[program, "mcp"], env={"HOME": home, **env})

    return {
        "HTTP": over_http,
        "stdio": lambda: over_stdio({"RECALLD_URL": url, "RECALLD_API_KEY": key}),
        "stdio without a server": lambda: over_stdio({}),
    }


async def main():
    reached = ways(*sys.argv[1:])
    for way, connection in reached.items():
        for mode, version in MODES.items():
            try:
                async with Client(connection(), mode=mode, read_timeout_seconds=TIMEOUT_S) as client:
                    await lives(client, version)
            except Exception as error:
                raise AssertionError(f"{way}, {mode}: {error!r}") from error
    versions = " and ".join(sorted(set(MODES.values())))
    print(f"{calls} calls of tools, {', '.join(reached)}, {versions}: all as expected")


asyncio.run(main())
