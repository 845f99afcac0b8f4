# What LlamaIndex does with Quarry. BASE and KEY come from TestLibraries, and so do the models. It reads one answer of
# several, so it asks for no more than one.
import os

import openai
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

shop = "The shop opens at nine. The moon is round.\n\nWhen does the shop open?"
city = "The city of Oslo lies at the fjord. It has 4 degrees today.\n\nWhich city is it, and how many degrees has it?"


def chat(model, **more):
    return OpenAILike(**{
        "model": model, "api_base": os.environ["BASE"], "api_key": os.environ["KEY"], "max_retries": 0, "is_chat_model": True,
        "is_function_calling_model": True, "should_use_structured_outputs": True,
    } | more)


def search(query: str) -> str:
    """Searches the documents."""
    return "The weather in Oslo is cold: 4 degrees."


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    degrees: int


def exchange(answers, calls, fills):
    done = chat(answers).chat([ChatMessage(role="user", content=shop)])
    print(answers, done.message.content, done.raw.choices[0].finish_reason, done.raw.usage.total_tokens > 0)
    pieces = list(chat(answers).stream_chat([ChatMessage(role="user", content=shop)]))
    print("streamed", "".join(p.delta for p in pieces) == pieces[-1].message.content == done.message.content, pieces[-1].raw.choices[0].finish_reason)
    print("completed", chat(answers).complete(shop).text == done.message.content, list(chat(answers).stream_complete(shop))[-1].text == done.message.content)

    model, tool, asked = chat(calls), FunctionTool.from_defaults(search), [ChatMessage(role="user", content="What is the weather in Oslo?")]
    first = model.chat_with_tools([tool], chat_history=asked)
    call = model.get_tool_calls_from_response(first)[0]
    print(calls, call.tool_name, call.tool_kwargs, first.raw.choices[0].finish_reason)
    whole = list(model.stream_chat_with_tools([tool], chat_history=asked))[-1]
    print("streamed", model.get_tool_calls_from_response(whole)[0].tool_kwargs == call.tool_kwargs)
    asked += [first.message, ChatMessage(role="tool", content=str(tool(**call.tool_kwargs)), additional_kwargs={"tool_call_id": call.tool_id})]
    print("then", model.chat_with_tools([tool], chat_history=asked).message.content)

    prompt = PromptTemplate(city)
    print(fills, repr(chat(fills).structured_predict(Weather, prompt)))
    print("streamed", repr(list(chat(fills).stream_structured_predict(Weather, prompt))[-1]))


exchange("answers", "calls", "fills")
exchange(*["extractive-1.0"] * 3)
by_call = chat("calls-to-fill", should_use_structured_outputs=False)
print("by a call", repr(by_call.structured_predict(Weather, PromptTemplate(city))))


def raised(what, run):
    try:
        print(what, run())
    except openai.APIStatusError as e:
        print(what, type(e).__name__, e.status_code, e.param, e.type)
    except openai.APIError as e:
        print(what, type(e).__name__, e.type)


def complete(model, **more):
    return lambda: chat(model, **more).complete(city).text


def stream(model):
    return lambda: [piece.delta for piece in chat(model).stream_complete(city)]


raised("unknown model", complete("nowhere"))
raised("nine answers", complete("answers", additional_kwargs={"n": 9}))
raised("nine answers, embedded", complete("extractive-1.0", additional_kwargs={"n": 9}))
raised("wrong key", complete("answers", api_key="wrong"))
complete("is-spent")()
raised("quota", complete("is-spent"))
raised("quota, streamed", stream("is-spent"))
raised("model fails", complete("fails"))
raised("model fails, streamed", stream("fails"))
raised("model is away", complete("is-away"))
raised("model is away, streamed", stream("is-away"))
raised("breaks in the middle", stream("breaks"))
