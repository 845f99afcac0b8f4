import { streamQueryV2 } from "@vectara/stream-query-client";

streamQueryV2({
  streamQueryConfig: {
    domain: "http://127.0.0.1:8080", apiKey: process.env.QUARRY_API_KEY, customerId: "any",
    corpusKey: "docs,more",
    query: "how long does \"the pump\" run?",
    search: { metadataFilter: "", offset: 0, limit: 3, contextConfiguration: { sentencesBefore: 1, startTag: "<b>", endTag: "</b>" }, reranker: { type: "chain", rerankers: [{ type: "customer_reranker", rerankerId: "rnk_272725719" }, { type: "mmr", diversityBias: 0.5 }, { type: "userfn", userFunction: "get('$.score') * 2" }] } },
  },
  onStreamEvent: (event) => {
    if (event.type === "searchResults") {
      for (const r of event.searchResults) console.log(r.score.toFixed(3), r.document_id, r.text);
    } else if (event.type !== "end") console.error(event);
  },
});
