# What LangChain does with Quarry. BASE and KEY come from TestLibraries, and so do the models.
import os

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

shop = "The shop opens at nine. The moon is round.\n\nWhen does the shop open?"
city = "The city of Oslo lies at the fjord. It has 4 degrees today.\n\nWhich city is it, and how many degrees has it?"


def chat(model, **more):
    return ChatOpenAI(**{"model": model, "base_url": os.environ["BASE"], "api_key": os.environ["KEY"], "max_retries": 0} | more)


@tool
def search(query: str) -> str:
    """Searches the documents."""
    return "The weather in Oslo is cold: 4 degrees."


class Weather(BaseModel):
    city: str
    degrees: int


def exchange(answers, calls, fills):
    done = chat(answers).invoke(shop)
    print(answers, done.content, done.response_metadata["finish_reason"], done.usage_metadata["total_tokens"] > 0)
    whole = None
    for chunk in chat(answers, stream_usage=True).stream(shop):
        whole = chunk if whole is None else whole + chunk
    print("streamed", whole.content == done.content, whole.response_metadata["finish_reason"], whole.usage_metadata == done.usage_metadata)
    several = chat(answers, n=3).generate([[HumanMessage(shop)]]).generations[0]
    print("several", [g.message.content == done.content for g in several])

    model, asked = chat(calls).bind_tools([search]), [HumanMessage("What is the weather in Oslo?")]
    asked.append(model.invoke(asked))
    call = asked[-1].tool_calls[0]
    print(calls, call["name"], call["args"], asked[-1].response_metadata["finish_reason"])
    whole = None
    for chunk in model.stream(asked[:1]):
        whole = chunk if whole is None else whole + chunk
    print("streamed", whole.tool_calls[0]["args"] == call["args"], whole.response_metadata["finish_reason"])
    asked.append(search.invoke(call))
    print("then", isinstance(asked[-1], ToolMessage), model.invoke(asked).content)

    print(fills, chat(fills).with_structured_output(Weather).invoke(city))
    print("streamed", list(chat(fills).with_structured_output(Weather).stream(city))[-1])


exchange("answers", "calls", "fills")
exchange(*["extractive-1.0"] * 3)


def raised(what, run):
    try:
        print(what, run())
    except openai.APIStatusError as e:
        print(what, type(e).__name__, e.status_code, e.param, e.type)
    except openai.APIError as e:
        print(what, type(e).__name__, e.type)
    except Exception as e:
        print(what, type(e).__name__)


def invoke(model, **more):
    return lambda: chat(model, **more).invoke(city).content


def stream(model):
    return lambda: "".join(chunk.content for chunk in chat(model).stream(city))


raised("refused", lambda: chat("refuses").with_structured_output(Weather).invoke(city))
raised("unknown model", invoke("nowhere"))
raised("nine answers", invoke("answers", n=9))
raised("nine answers, embedded", invoke("extractive-1.0", n=9))
raised("wrong key", invoke("answers", api_key="wrong"))
raised("cut off", lambda: chat("is-cut-off").with_structured_output(Weather).invoke(city))
invoke("is-spent")()
raised("quota", invoke("is-spent"))
raised("quota, streamed", stream("is-spent"))
raised("model fails", invoke("fails"))
raised("model fails, streamed", stream("fails"))
raised("model is away", invoke("is-away"))
raised("model is away, streamed", stream("is-away"))
raised("breaks in the middle", stream("breaks"))
