# What OpenAI's own library does with Quarry, whole and streamed, and what it raises. BASE, KEY and PROVIDER come from
# TestOpenAIPython; each line that is printed is compared.
import os

import httpx2  # what the library speaks with
import openai
from openai import OpenAI
from pydantic import BaseModel

base, key, provider = os.environ["BASE"], os.environ["KEY"], os.environ["PROVIDER"]
client = OpenAI(base_url=base, api_key=key, max_retries=0)
rest = httpx2.Client(base_url=os.environ["URL"], headers={"x-api-key": key})


def register(name, model, **more):
    body = {"type": "openai-compatible", "name": name, "model": model, "uri": provider + "/v1/chat/completions"}
    rest.post("/v2/llms", json=body | more).raise_for_status()


for name, model in {
    "lib-plain": "small-chat", "lib-call": 'on:weather:call:weather:{"city":"Oslo"}', "lib-json": 'say:{"city":"Oslo","degrees":4}',
    "lib-length": "on:long:length", "lib-down": "on:fail:unavailable", "lib-cut": "on:fail:cut", "lib-refusal": "on:fail:refusal",
}.items():
    register(name, model, capabilities={"tool_calling": True, "structured_outputs": True})
register("lib-spent", "on:spend:tokens:50:50", output_tokens_per_month=30)
say = lambda text: [{"role": "user", "content": text}]


class Weather(BaseModel):
    city: str
    degrees: int


def exchange(model, text):
    done = client.chat.completions.create(model=model, messages=say(text))
    print(model, done.choices[0].message.content, done.choices[0].finish_reason, done.usage.total_tokens > 0)
    text_so_far, reason, usage = "", None, None
    with client.chat.completions.create(
        model=model, messages=say(text), stream=True, stream_options={"include_usage": True}
    ) as chunks:
        for chunk in chunks:
            for choice in chunk.choices:
                text_so_far += choice.delta.content or ""
                reason = choice.finish_reason or reason
            usage = chunk.usage or usage
    print("streamed", text_so_far == done.choices[0].message.content, reason, usage == done.usage)


exchange("lib-plain", "hello")
exchange("extractive-1.0", "The shop opens at nine. The moon is round.\n\nWhen does the shop open?")

tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]
asked = say("weather?")
first = client.chat.completions.create(model="lib-call", messages=asked, tools=tools).choices[0]
call = first.message.tool_calls[0]
print("call", call.function.name, call.function.arguments, first.finish_reason)
asked += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "4 degrees"}]
print("then", client.chat.completions.create(model="lib-call", messages=asked, tools=tools).choices[0].message.content)
with client.chat.completions.stream(model="lib-call", messages=say("weather?"), tools=tools) as stream:
    whole = stream.get_final_completion().choices[0]
print("streamed call", whole.message.tool_calls[0].function.arguments, whole.finish_reason)

print("parsed", client.chat.completions.parse(model="lib-json", messages=say("x"), response_format=Weather).choices[0].message.parsed)
print("refused", client.chat.completions.parse(model="lib-refusal", messages=say("fail"), response_format=Weather).choices[0].message.refusal)
several = client.chat.completions.create(model="lib-plain", messages=say("hello"), n=3)
print("several", [c.index for c in several.choices])
print("models", {m.id for m in client.models.list()} >= {"lib-plain", "extractive-1.0", "gpt-4o"})


def raised(what, run):
    try:
        run()
    except openai.APIStatusError as e:
        print(what, type(e).__name__, e.status_code, e.param, e.type)
    except openai.APIError as e:
        print(what, type(e).__name__, e.type)
    except openai.LengthFinishReasonError as e:
        print(what, type(e).__name__)


def complete(model, text, using=client, **more):
    return lambda: list(using.chat.completions.create(model=model, messages=say(text), **more))


raised("unknown model", complete("nowhere", "x"))
raised("nine answers", complete("lib-plain", "x", n=9))
raised("wrong key", complete("lib-plain", "x", using=OpenAI(base_url=base, api_key="wrong", max_retries=0)))
raised("cut off", lambda: client.chat.completions.parse(model="lib-length", messages=say("long"), response_format=Weather))
complete("lib-spent", "spend")()
raised("quota", complete("lib-spent", "spend"))
raised("quota, streamed", complete("lib-spent", "spend", stream=True))
raised("model is down", complete("lib-down", "fail"))
raised("breaks in the middle", complete("lib-cut", "fail", stream=True))
