# What Vectara's library for Python does with chats, summaries and completions. BASE is the address of the service; it and
# KEY come from TestLibraries, and so do the models. The library warns where an event is not as it expects.
import logging
import os
import sys

from vectara import (
    ChatParameters, CoreDocumentPart, CreateDocumentRequest_Core, GenerationParameters, KeyedSearchCorpus, SearchCorporaParameters, Vectara,
)
from vectara.core.api_error import ApiError
from vectara.environment import VectaraEnvironment

logging.basicConfig(stream=sys.stdout)
logging.getLogger("httpx").setLevel(logging.WARNING)
base = os.environ["BASE"]
client = Vectara(api_key=os.environ["KEY"], environment=VectaraEnvironment(default=base, auth=base))
client.corpora.create(key="shop", name="shop")
client.documents.create("shop", request=CreateDocumentRequest_Core(id="hours", document_parts=[
    CoreDocumentPart(text="The shop opens at nine."), CoreDocumentPart(text="The shop closes at six on Saturdays."),
]))
search = SearchCorporaParameters(corpora=[KeyedSearchCorpus(corpus_key="shop")], limit=1)


def streamed(events):
    """The events by their types, and the text in them."""
    types, text, last = [], "", {}
    for event in events:
        types += [event.type] if types[-1:] != [event.type] else []
        text += getattr(event, "generation_chunk", None) or ""
        last[event.type] = event
    print(" ", *types)
    return text, last


def shown(what, turn):
    print(what, turn.answer, "|", turn.rephrased_query, len(turn.search_results), turn.chat_id == chat, turn.turn_id is not None)


first = client.chats.create(query="When does the shop open?", search=search)
chat = first.chat_id
shown("created", first)
second = client.chats.create_turns(chat, query="And when does it close?", search=search)
shown("turn", second)
text, last = streamed(client.chats.create_turns_stream(chat, query="And on Saturdays?", search=search))
print("streamed", text, "|", last["generation_info"].rephrased_query, last["chat_info"].chat_id == chat)
third = last["chat_info"].turn_id

print("chats", [(c.id == chat, c.first_query, c.first_answer, c.enabled) for c in client.chats.list()])
got = client.chats.get(chat)
print("chat", got.id == chat, got.first_query, got.first_answer, got.enabled, got.created_at is not None)
print("turns", [t.id for t in client.chats.list_turns(chat).turns] == [first.turn_id, second.turn_id, third])
got = client.chats.get_turn(chat, third)
print("turn", got.query, "|", got.answer == text, got.enabled, got.chat_id == chat)
print("disabled", client.chats.update_turn(chat, second.turn_id, enabled=False).enabled, [t.enabled for t in client.chats.list_turns(chat).turns])
client.chats.delete_turn(chat, second.turn_id)
print("left", [t.query for t in client.chats.list_turns(chat).turns])

text, last = streamed(client.chats.create_stream(
    query="When does the shop open?", search=search, generation=GenerationParameters(response_language="eng", enable_factual_consistency_score=False),
))
print("streamed", text, last["generation_info"].rephrased_query)
kept = client.chats.create(query="When does the shop open?", search=search, chat=ChatParameters(store=False))
print("not stored", kept.answer, kept.chat_id, kept.turn_id)
client.chats.delete(chat)
client.chats.delete(last["chat_info"].chat_id)
print("chats", list(client.chats.list()))

print("summary", client.documents.summarize("shop", "hours", llm_name="extractive-1.0").summary)
print("summary", client.documents.summarize("shop", "hours", llm_name="answers").summary)
done = client.llm.chat_completion(model="answers", messages=[{"role": "user", "content": "When does the shop open?"}])
print("completion", done.choices[0].message.content, done.choices[0].finish_reason)


def raised(what, run):
    try:
        print(what, run())
    except ApiError as e:
        print(what, type(e).__name__, e.status_code)


raised("chat that is gone", lambda: client.chats.get(chat))
raised("turn of a chat that is gone", lambda: client.chats.create_turns(chat, query="Why?", search=search))
raised("blank", lambda: client.chats.create(query=" ", search=search))
raised("unknown model", lambda: client.documents.summarize("shop", "hours", llm_name="nobody"))
raised("unknown document", lambda: client.documents.summarize("shop", "nothing", llm_name="answers"))
