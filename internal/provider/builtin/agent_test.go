package builtin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quarry/internal/llm"
)

// handbook is the tool of an agent that searches, under the name and with the description that its configuration has.
func handbook(name, description string) []llm.Tool {
	return []llm.Tool{
		{Name: "web_get", Description: "Reads a page of the web.", Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`)},
		{Name: name, Description: description, Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":5000}},"required":["query"],"additionalProperties":false}`)},
	}
}

// turn is a question to an agent with what its search finds for it, as the loop of an agent asks a model. It returns the calls
// and the answer at the end.
func turn(t *testing.T, messages []llm.Message, asked string, tools []llm.Tool, found string) ([]llm.Message, []llm.ToolCall, string) {
	t.Helper()
	messages = append(messages, llm.Text(llm.User, asked))
	var calls []llm.ToolCall
	for range 5 {
		out := complete(t, llm.Request{Messages: messages, Tools: tools, Partial: true})
		if len(out.Calls) == 0 {
			return append(messages, llm.Text(llm.Assistant, out.Text)), calls, out.Text
		}
		calls = append(calls, out.Calls...)
		messages = append(messages, llm.Message{Role: llm.Assistant, Calls: out.Calls})
		for _, c := range out.Calls {
			messages = append(messages, llm.Message{Role: llm.Result, CallID: c.ID, Name: c.Name, Parts: []llm.Part{{Text: found}}})
		}
	}
	t.Fatalf("%q is searched for again and again", asked)
	return nil, nil, ""
}

const (
	instructions = "You are the assistant of Miller's shop. Today is 2026-05-01T08:00:00Z. Use the tool handbook, answer briefly and cite."
	pumpFound    = `{"search_results":[
		{"text":"The pump X200 weighs twelve kilograms. Its filter is replaced every 500 hours.","score":0.9,"document_id":"pump","part_metadata":{"page":3},"document_metadata":{"title":"Pumps"}},
		{"text":"The warranty of every pump lasts three years.","score":0.8,"document_id":"terms","part_metadata":{},"document_metadata":{}}],
		"summary":"Someone else's words about the filter of the pump.","response_language":"eng","factual_consistency_score":0.9}`
	nothingFound = `{"search_results":[],"query":"How often is the filter of the pump replaced?"}`
	noAnswer     = "The search results do not contain enough information to answer this question."
	nothingAsked = "I have nothing to quote yet: ask me a question, and I will look for passages that answer it."
)

// Proves that an agent's question is searched for once, whatever the tool is called, and answered in quotations with citations.
func TestAgentSearches(t *testing.T) {
	t.Parallel()
	for name, description := range map[string]string{
		"search": "Search", "corpora_search": "", "handbook": "All about the things in our shop.", "manuals": "Searches the documents of this agent's knowledge base.",
	} {
		for found, want := range map[string]string{
			pumpFound: "Its filter is replaced every 500 hours. [1]", nothingFound: noAnswer, `{"error":"The filter of the pump: the corpus is gone"}`: noAnswer, `[]`: noAnswer, `{}`: noAnswer,
			`{"search_results":[],"summary":null,"error":null}`: noAnswer, `{"search_results":[{"text":"Bread is baked.","score":2.5},{"text":"The filter of the pump is replaced every 500 hours.","score":2}]}`: "The filter of the pump is replaced every 500 hours. [2]",
		} {
			_, calls, answer := turn(t, said("system", instructions), "How often is the filter of the pump replaced?", handbook(name, description), found)
			if len(calls) != 1 || calls[0].Name != name || string(calls[0].Arguments) != `{"query":"How often is the filter of the pump replaced?"}` || calls[0].ID == "" {
				t.Errorf("%s: called %+v", name, calls)
			}
			if !strings.Contains(answer, want) || strings.Contains(answer, "Someone else") || strings.ContainsAny(answer, "{}") {
				t.Errorf("%s with %.60s: %q, want %q", name, found, answer, want)
			}
		}
	}
}

// Proves that a conversation answers from what the user said in it before, also one part of a question of two, that each
// question is searched for anew, and that a result has the number of its place in the latest search.
func TestAgentRemembers(t *testing.T) {
	t.Parallel()
	tools := handbook("handbook", "Searches the handbook.")
	ids := []string{}
	messages := said("system", instructions)
	for _, c := range []struct {
		asked, found string
		searches     int
		want         []string
		not          string
	}{
		{"Hello", "", 0, []string{nothingAsked}, "["},
		{"My pump is the red model X200, and I bought it in Oslo in 2024.", nothingFound, 1, []string{noAnswer}, "["},
		{"Tell me about the filter of the pump in the hall.", nothingFound, 1, []string{noAnswer}, "hall"},
		{"Where did I buy my pump and how often is its filter replaced?", pumpFound, 1, []string{"I bought it in Oslo in 2024.", "Its filter is replaced every 500 hours. [1]"}, "hall"},
		{"How long does the warranty of the pump last?", pumpFound, 1, []string{"The warranty of every pump lasts three years. [2]"}, "Oslo"},
		{"Which model is my pump?", nothingFound, 1, []string{"My pump is the red model X200"}, "["},
		{"Thank you very much!", "", 0, []string{nothingAsked}, "["},
	} {
		var calls []llm.ToolCall
		var answer string
		messages, calls, answer = turn(t, messages, c.asked, tools, c.found)
		if len(calls) != c.searches {
			t.Errorf("%q: called %+v, want %d", c.asked, calls, c.searches)
		}
		for _, call := range calls {
			if slices.Contains(ids, call.ID) {
				t.Errorf("%q: the id %s was there before", c.asked, call.ID)
			}
			ids = append(ids, call.ID)
		}
		for _, want := range c.want {
			if !strings.Contains(answer, want) {
				t.Errorf("%q: %q, want %q", c.asked, answer, want)
			}
		}
		if strings.Contains(answer, c.not) {
			t.Errorf("%q: %q holds %q", c.asked, answer, c.not)
		}
	}
}

// Proves that a question which is named stays the one to answer behind a message in which one step hands over to the next, and
// that what was found for it before is quoted, without another search.
func TestAgentSteps(t *testing.T) {
	t.Parallel()
	const asked = "How often is the filter of the pump replaced?"
	tools := handbook("handbook", "Searches the handbook.")
	handOver := llm.Text(llm.User, "The step triage handed over to the step answer.")
	r := llm.Request{Messages: append(said("system", instructions, "user", asked, "assistant", "pumps"), handOver), Tools: tools, Question: asked}
	out := complete(t, r)
	if len(out.Calls) != 1 || string(out.Calls[0].Arguments) != `{"query":"`+asked+`"}` {
		t.Fatalf("got %+v, want a search for the question", out)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: out.Calls},
		llm.Message{Role: llm.Result, CallID: out.Calls[0].ID, Name: "handbook", Parts: []llm.Part{{Text: pumpFound}}}, handOver)
	if out = complete(t, r); len(out.Calls) != 0 || !strings.Contains(out.Text, "Its filter is replaced every 500 hours. [1]") {
		t.Errorf("got %+v", out)
	}
}

// Proves that a question which is named as all of a message is the question in it, as where none is named.
func TestAgentAsksTheQuestionAlone(t *testing.T) {
	t.Parallel()
	const message = "We bought a pump in Oslo. It stands in the hall.\n\nHow often is its filter replaced?"
	for _, named := range []string{"", message} {
		out := complete(t, llm.Request{Messages: said("user", message), Tools: handbook("handbook", "Searches the handbook."), Question: named})
		if len(out.Calls) != 1 || string(out.Calls[0].Arguments) != `{"query":"How often is its filter replaced?"}` {
			t.Errorf("named %q: %+v", named, out.Calls)
		}
	}
}

// Proves that a message that asks nothing is answered in its language without a search, with and without tools, and that one
// which asks is not taken for such a message.
func TestGreetings(t *testing.T) {
	t.Parallel()
	tools := handbook("search", "")
	for asked, begins := range map[string]string{
		"Hello": "I have nothing", "hello there!": "I have nothing", "Good morning, how are you?": "I have nothing", "OK": "I have nothing", "Guten Tag!": "Ich habe noch nichts", "Danke.": "Ich habe noch nichts",
		"Bonjour": "Je n'ai encore rien", "¡Hola!": "Todavía no tengo nada", "Olá, bom dia": "Ainda não", "Buongiorno": "Non ho ancora", "Goedemorgen": "Ik heb nog niets", "Привет!": "Мне пока нечего",
	} {
		for _, offered := range [][]llm.Tool{nil, tools} {
			_, calls, answer := turn(t, said("system", instructions, "user", "Hello, my name is Anna.", "assistant", nothingAsked), asked, offered, "")
			if len(calls) != 0 || !strings.HasPrefix(answer, begins) {
				t.Errorf("%q: %+v, %q", asked, calls, answer)
			}
		}
	}
	if out := complete(t, llm.Request{Messages: said("user", "Hello"), Language: "deu"}).Text; !strings.HasPrefix(out, "Ich habe") {
		t.Errorf("a language that is asked for: %q", out)
	}
	for _, asked := range []string{"Hello, who founded the shop?", "Good pumps", "no warranty", "How do I say good morning in Norwegian"} {
		if _, calls, answer := turn(t, said("system", instructions), asked, tools, nothingFound); len(calls) != 1 || answer != noAnswer {
			t.Errorf("%q: %+v, %q", asked, calls, answer)
		}
	}
}
