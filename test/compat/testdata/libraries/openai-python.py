# What OpenAI's library for Python does with Quarry. BASE and KEY come from TestLibraries, and so do the models.
import os

import openai
from openai import OpenAI
from pydantic import BaseModel

base, key = os.environ["BASE"], os.environ["KEY"]
client = OpenAI(base_url=base, api_key=key, max_retries=0)
say = lambda text: [{"role": "user", "content": text}]
shop = say("The shop opens at nine. The moon is round.\n\nWhen does the shop open?")
city = say("The city of Oslo lies at the fjord. It has 4 degrees today.\n\nWhich city is it, and how many degrees has it?")
tools = [{"type": "function", "function": {
    "name": "search", "description": "Searches the documents.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}}]


class Weather(BaseModel):
    city: str
    degrees: int


def streamed(model, messages, **more):
    text, calls, reason, usage = {}, {}, None, None
    for chunk in client.chat.completions.create(model=model, messages=messages, stream=True, stream_options={"include_usage": True}, **more):
        for choice in chunk.choices:
            text[choice.index] = text.get(choice.index, "") + (choice.delta.content or "")
            reason = choice.finish_reason or reason
        usage = chunk.usage or usage
    return [text[i] for i in sorted(text)], reason, usage


def exchange(answers, calls, fills):
    done = client.chat.completions.create(model=answers, messages=shop)
    print(answers, done.choices[0].message.content, done.choices[0].finish_reason, done.usage.total_tokens > 0)
    text, reason, usage = streamed(answers, shop)
    print("streamed", text == [done.choices[0].message.content], reason, usage == done.usage)
    print("several", [c.message.content == text[0] for c in client.chat.completions.create(model=answers, messages=shop, n=3).choices])
    print("several, streamed", [t == text[0] for t in streamed(answers, shop, n=3)[0]])

    asked = say("What is the weather in Oslo?")
    first = client.chat.completions.create(model=calls, messages=asked, tools=tools).choices[0]
    call = first.message.tool_calls[0]
    print(calls, call.function.name, call.function.arguments, first.finish_reason)
    with client.chat.completions.stream(model=calls, messages=asked, tools=tools) as stream:
        whole = stream.get_final_completion().choices[0]
    print("streamed", whole.message.tool_calls[0].function.arguments == call.function.arguments, whole.finish_reason)
    asked += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "The weather in Oslo is cold: 4 degrees."}]
    print("then", client.chat.completions.create(model=calls, messages=asked, tools=tools).choices[0].message.content)

    print(fills, client.chat.completions.parse(model=fills, messages=city, response_format=Weather).choices[0].message.parsed)
    with client.chat.completions.stream(model=fills, messages=city, response_format=Weather) as stream:
        print("streamed", stream.get_final_completion().choices[0].message.parsed)


exchange("answers", "calls", "fills")
exchange(*["extractive-1.0"] * 3)
print("models", {m.id for m in client.models.list()} >= {"answers", "extractive-1.0", "gpt-4o"})
print("refused", client.chat.completions.parse(model="refuses", messages=city, response_format=Weather).choices[0].message.refusal)


def raised(what, run):
    try:
        print(what, run())
    except openai.APIStatusError as e:
        print(what, type(e).__name__, e.status_code, e.param, e.type)
    except openai.APIError as e:
        print(what, type(e).__name__, e.type)
    except openai.LengthFinishReasonError as e:
        print(what, type(e).__name__)


def complete(model, using=client, **more):
    return lambda: list(using.chat.completions.create(model=model, messages=city, **more))


raised("unknown model", complete("nowhere"))
raised("nine answers", complete("answers", n=9))
raised("nine answers, embedded", complete("extractive-1.0", n=9))
raised("wrong key", complete("answers", OpenAI(base_url=base, api_key="wrong", max_retries=0)))
raised("cut off", lambda: client.chat.completions.parse(model="is-cut-off", messages=city, response_format=Weather))
complete("is-spent")()
raised("quota", complete("is-spent"))
raised("quota, streamed", complete("is-spent", stream=True))
raised("model fails", complete("fails"))
raised("model fails, streamed", complete("fails", stream=True))
raised("model is away", complete("is-away"))
raised("model is away, streamed", complete("is-away", stream=True))
raised("breaks in the middle", complete("breaks", stream=True))
