# What the official client of the Model Context Protocol for Python does with Quarry's tools.
import asyncio
import os

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

base, key, form, mode = os.environ["BASE"], os.environ["KEY"], os.environ["FORM"], os.environ["MODE"]


def way(key):
    if form == "stdio":
        return StdioServerParameters(command=os.environ["QUARRY"], args=["mcp", "serve"], env={"QUARRY_URL": base, "QUARRY_API_KEY": key})
    return streamable_http_client(base + "/mcp", http_client=httpx2.AsyncClient(headers={"x-api-key": key}, timeout=60))


async def call(client, name, show, **arguments):
    told = []

    async def progress(done, total, message):
        told.append(message.split(" ase_")[0])

    result = await client.call_tool(name, arguments, progress_callback=progress)
    if result.is_error:
        print(name, "failed:", result.content[0].text)
        return None
    print(name, "returns", show(result.structured_content), told or "")
    return result.structured_content


async def main():
    async with Client(way(key), mode=mode) as client:
        print("instructions", client.instructions.split(" ")[0])
        for tool in (await client.list_tools()).tools:
            print("tool", tool.name, "reads" if tool.annotations.read_only_hint else "acts", "takes", sorted(tool.input_schema["properties"]))
        await call(client, "list_corpora", lambda out: [c["corpus_key"] for c in out["corpora"]])
        await call(client, "search", lambda out: out["results"][0]["document_id"], corpus_keys=["weather"], query="How warm is it in Oslo?")
        await call(client, "ask", lambda out: [s["title"] for s in out["sources"]], corpus_keys=["weather"], query="How warm is it in Oslo?")
        await call(client, "get_document", lambda out: out["text"], corpus_key="weather", document_id="oslo")
        await call(client, "list_agents", lambda out: [a["agent_key"] for a in out["agents"]])
        begun = await call(client, "talk_to_agent", lambda out: out["answer"], agent_key="helper", message="Oslo?")
        more = await call(client, "talk_to_agent", lambda out: out["answer"], agent_key="helper", message="Oslo, again?", session_key=begun["session_key"])
        print("the same session:", more["session_key"] == begun["session_key"])
        await call(client, "search", str, corpus_keys=["none"], query="x")
        await call(client, "search", str, corpus_keys=["weather"], query="x", limit=99)
        try:
            await client.call_tool("eat_corpus", {})
        except MCPError as e:
            print("an unknown tool:", e.error.message)

        answered = asyncio.Event()

        async def progress(done, total, message):
            if message == "search has answered":
                answered.set()

        talk = asyncio.create_task(client.call_tool("talk_to_agent", {"agent_key": "stuck", "message": "Oslo?"}, progress_callback=progress))
        await answered.wait()
        talk.cancel()
        try:
            await talk
        except asyncio.CancelledError:
            print("cancelled")
        await call(client, "list_corpora", lambda out: len(out["corpora"]))
    try:
        async with Client(way("zqt_wrong"), mode=mode) as client:
            result = await client.call_tool("list_corpora", {})
            print("a wrong key:", "refused" if result.is_error else result)
    except* Exception as e:
        print("a wrong key: refused")


asyncio.run(main())
