// What OpenAI's library for JavaScript does with Quarry. BASE and KEY come from TestLibraries, and so do the models.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const { BASE: baseURL, KEY: apiKey } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const say = (content) => [{ role: "user", content }];
const shop = say("The shop opens at nine. The moon is round.\n\nWhen does the shop open?");
const city = say("The city of Oslo lies at the fjord. It has 4 degrees today.\n\nWhich city is it, and how many degrees has it?");
const tools = [{ type: "function", function: {
  name: "search", description: "Searches the documents.",
  parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
} }];
const weather = zodResponseFormat(z.object({ city: z.string(), degrees: z.number().int() }), "weather");
const print = (...values) => console.log(values.map((v) => (typeof v === "string" ? v : JSON.stringify(v))).join(" "));

async function streamed(model, messages, more) {
  const text = [];
  let reason, usage;
  const chunks = await client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true }, ...more });
  for await (const chunk of chunks) {
    for (const choice of chunk.choices) {
      text[choice.index] = (text[choice.index] ?? "") + (choice.delta.content ?? "");
      reason = choice.finish_reason ?? reason;
    }
    usage = chunk.usage ?? usage;
  }
  return { text, reason, usage };
}

async function exchange(answers, calls, fills) {
  const done = await client.chat.completions.create({ model: answers, messages: shop });
  const answer = done.choices[0].message.content;
  print(answers, answer, done.choices[0].finish_reason, done.usage.total_tokens > 0);
  const { text, reason, usage } = await streamed(answers, shop);
  print("streamed", text.length === 1 && text[0] === answer, reason, JSON.stringify(usage) === JSON.stringify(done.usage));
  const several = await client.chat.completions.create({ model: answers, messages: shop, n: 3 });
  print("several", several.choices.map((c) => c.message.content === answer));
  print("several, streamed", (await streamed(answers, shop, { n: 3 })).text.map((t) => t === answer));

  const asked = say("What is the weather in Oslo?");
  const first = (await client.chat.completions.create({ model: calls, messages: asked, tools })).choices[0];
  const call = first.message.tool_calls[0];
  print(calls, call.function.name, call.function.arguments, first.finish_reason);
  const whole = (await client.chat.completions.stream({ model: calls, messages: asked, tools }).finalChatCompletion()).choices[0];
  print("streamed", whole.message.tool_calls[0].function.arguments === call.function.arguments, whole.finish_reason);
  asked.push(first.message, { role: "tool", tool_call_id: call.id, content: "The weather in Oslo is cold: 4 degrees." });
  print("then", (await client.chat.completions.create({ model: calls, messages: asked, tools })).choices[0].message.content);

  print(fills, (await client.chat.completions.parse({ model: fills, messages: city, response_format: weather })).choices[0].message.parsed);
  const filled = await client.chat.completions.stream({ model: fills, messages: city, response_format: weather }).finalChatCompletion();
  print("streamed", filled.choices[0].message.parsed);
}

await exchange("answers", "calls", "fills");
await exchange("extractive-1.0", "extractive-1.0", "extractive-1.0");
const listed = new Set();
for await (const m of client.models.list()) listed.add(m.id);
print("models", ["answers", "extractive-1.0", "gpt-4o"].every((name) => listed.has(name)));
print("refused", (await client.chat.completions.parse({ model: "refuses", messages: city, response_format: weather })).choices[0].message.refusal);

async function raised(what, run) {
  try {
    print(what, await run());
  } catch (e) {
    print(what, e.constructor.name, ...(e instanceof OpenAI.APIError ? [e.status ?? null, e.param, e.type] : []));
  }
}

const complete = (model, more, using = client) => async () => {
  const answer = await using.chat.completions.create({ model, messages: city, ...more });
  if (more?.stream) for await (const _ of answer);
  return "answered";
};

await raised("unknown model", complete("nowhere"));
await raised("nine answers", complete("answers", { n: 9 }));
await raised("nine answers, embedded", complete("extractive-1.0", { n: 9 }));
await raised("wrong key", complete("answers", {}, new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 })));
await raised("cut off", () => client.chat.completions.parse({ model: "is-cut-off", messages: city, response_format: weather }));
await complete("is-spent")();
await raised("quota", complete("is-spent"));
await raised("quota, streamed", complete("is-spent", { stream: true }));
await raised("model fails", complete("fails"));
await raised("model fails, streamed", complete("fails", { stream: true }));
await raised("model is away", complete("is-away"));
await raised("model is away, streamed", complete("is-away", { stream: true }));
await raised("breaks in the middle", complete("breaks", { stream: true }));
