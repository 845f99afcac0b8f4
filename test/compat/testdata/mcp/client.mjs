// What the official client of the Model Context Protocol for JavaScript does with Quarry's tools.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { BASE: base, KEY: key, FORM: form, QUARRY: quarry } = process.env;

function way(key) {
  return form === "stdio"
    ? new StdioClientTransport({ command: quarry, args: ["mcp", "serve"], env: { QUARRY_URL: base, QUARRY_API_KEY: key } })
    : new StreamableHTTPClientTransport(new URL(base + "/mcp"), { requestInit: { headers: { "x-api-key": key } } });
}

// What the service tells of a call, as it arrives: a client that reads a result together with the progress before it drops that progress.
let told = [];
const client = new Client({ name: "test", version: "1" });
const connection = way(key);
connection.onmessage = (m) => m.method === "notifications/progress" && told.push(m.params.message.split(" ase_")[0]);
await client.connect(connection);

async function call(name, show, args) {
  told = [];
  const result = await client.callTool({ name, arguments: args }, undefined, { onprogress: () => {} });
  if (result.isError) {
    console.log(name, "failed:", result.content[0].text);
    return;
  }
  console.log(name, "returns", JSON.stringify(show(result.structuredContent)), JSON.stringify(told));
  return result.structuredContent;
}

console.log("instructions", client.getInstructions().split(" ")[0]);
for (const tool of (await client.listTools()).tools) {
  console.log("tool", tool.name, tool.annotations.readOnlyHint ? "reads" : "acts", "takes", JSON.stringify(Object.keys(tool.inputSchema.properties).sort()));
}
await call("list_corpora", (out) => out.corpora.map((c) => c.corpus_key));
await call("search", (out) => out.results[0].document_id, { corpus_keys: ["weather"], query: "How warm is it in Oslo?" });
await call("ask", (out) => out.sources.map((s) => s.title), { corpus_keys: ["weather"], query: "How warm is it in Oslo?" });
await call("get_document", (out) => out.text, { corpus_key: "weather", document_id: "oslo" });
await call("list_agents", (out) => out.agents.map((a) => a.agent_key));
const begun = await call("talk_to_agent", (out) => out.answer, { agent_key: "helper", message: "Oslo?" });
const more = await call("talk_to_agent", (out) => out.answer, { agent_key: "helper", message: "Oslo, again?", session_key: begun.session_key });
console.log("the same session:", more.session_key === begun.session_key);
await call("search", String, { corpus_keys: ["none"], query: "x" });
await call("search", String, { corpus_keys: ["weather"], query: "x", limit: 99 });
await client.callTool({ name: "eat_corpus", arguments: {} }).catch((e) => console.log("an unknown tool:", e.message));

const stop = new AbortController();
await client
  .callTool({ name: "talk_to_agent", arguments: { agent_key: "stuck", message: "Oslo?" } }, undefined, {
    signal: stop.signal,
    onprogress: (p) => p.message === "search has answered" && stop.abort("enough"),
  })
  .catch(() => console.log("cancelled"));
await call("list_corpora", (out) => out.corpora.length);
await client.close();

const stranger = new Client({ name: "test", version: "1" });
try {
  await stranger.connect(way("zqt_wrong"));
  const result = await stranger.callTool({ name: "list_corpora", arguments: {} });
  console.log("a wrong key:", result.isError ? "refused" : result);
} catch {
  console.log("a wrong key: refused");
}
await stranger.close();
