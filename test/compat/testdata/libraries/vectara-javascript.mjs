// What Vectara's client for streams does with a chat. BASE is the address of the service; it and KEY come from TestLibraries.
import { createRequire } from "node:module";

const { streamQueryV2 } = createRequire(import.meta.url)("@vectara/stream-query-client");
const { BASE: domain, KEY: apiKey } = process.env;

async function call(method, path, body) {
  const answer = await fetch(domain + path, { method, headers: { "x-api-key": apiKey, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}
await call("POST", "/v2/corpora", { key: "shop" });
await call("POST", "/v2/corpora/shop/documents", { id: "hours", type: "core", document_parts: [{ text: "The shop opens at nine." }, { text: "The shop closes at six." }] });

// ask resolves to the events of an answer by their types.
const ask = (query, chat) => new Promise((resolve) => {
  const events = {};
  streamQueryV2({
    streamQueryConfig: { domain, apiKey, customerId: "any", corpusKey: "shop", query, search: { metadataFilter: "", offset: 0, limit: 1 }, generation: {}, chat },
    onStreamEvent: (event) => {
      events[event.type] = event;
      if (["end", "error", "requestError", "genericError", "unexpectedError"].includes(event.type)) resolve(events);
    },
  });
});

const first = await ask("When does the shop open?", { store: true });
console.log("created", Object.keys(first).join(" "), "|", first.generationChunk.updatedText);
const second = await ask("And when does it close?", { store: true, conversationId: first.chatInfo.chatId });
console.log("turn", Object.keys(second).join(" "), "|", second.generationChunk.updatedText, "|", second.generationInfo.rephrasedQuery, second.chatInfo.chatId === first.chatInfo.chatId);
const lost = await ask("And?", { store: true, conversationId: "cht_nothing" });
console.log("unknown chat", lost.genericError?.error.message, JSON.parse(lost.genericError?.error.cause).code);
