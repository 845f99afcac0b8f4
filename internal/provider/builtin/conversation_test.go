package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/llmtest"
)

func said(pairs ...string) []llm.Message {
	var out []llm.Message
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, llm.Text(llm.Role(pairs[i]), pairs[i+1]))
	}
	return out
}

// Proves that without evidence of a query the conversation is it: statements of the user, blocks around the question,
// results of tools with their numbers.
func TestConversation(t *testing.T) {
	t.Parallel()
	found := `{"search_results":[{"text":"Bread is baked.","score":1},{"text":"The warranty of the drill lasts three years.","document_id":"d"}]}`
	for name, c := range map[string]struct {
		messages []llm.Message
		want     string
		not      string
	}{
		"a statement before": {said("user", "My dog is called Rex. He is brown. Do you like dogs?", "assistant", "The dog is called Max.", "user", "What is my dog called?"),
			"My dog is called Rex.", "Max"},
		"a context in the prompt": {said("system", "The secret word is swordfish.", "user", "Answer from the context.\n\nContext: The plant in Lyon makes 300 pumps a day. It was built in 1970.\n\nQuestion: How many pumps does the plant in Lyon make?"),
			"The plant in Lyon makes 300 pumps a day.", "swordfish"},
		"a result of a tool": {append(said("user", "How long is the warranty of the drill?"),
			llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "search"}}}, llm.Message{Role: llm.Result, CallID: "1", Parts: []llm.Part{{Text: found}}}),
			"The warranty of the drill lasts three years. [2]", "Bread"},
		"a plain result": {append(said("user", "How long is the warranty of the drill?"), llm.Message{Role: llm.Result, Parts: []llm.Part{{Text: "The warranty of the drill lasts three years."}}}),
			"The warranty of the drill lasts three years.", "["},
		"a question only": {said("user", "Who was the first person on the moon?"), "The search results do not contain enough information to answer this question.", "moon"},
		"earlier questions": {said("user", "What is my dog called?", "assistant", "I do not know.", "user", "What is my dog called?"),
			"The search results do not contain enough information to answer this question.", "dog"},
		"nothing at all": {nil, "The search results do not contain enough information to answer this question.", "["},
	} {
		got := complete(t, llm.Request{Messages: c.messages}).Text
		if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%s: %q, want %q and no %q", name, got, c.want, c.not)
		}
	}
}

// Proves that texts in messages of the system are evidence, that rules for the model are none, and that what has merely some
// words in common with the question is no answer.
func TestTold(t *testing.T) {
	t.Parallel()
	const none = "The search results do not contain enough information to answer this question."
	const shop = "You are a helpful assistant of Miller's shop. Answer the question from the context. If you don't know the answer, say that you don't know.\n\n" +
		"Context:\nThe shop opens at nine and closes at six. You can return shoes within 30 days. Miller's shop was founded in Bern in 1921 by Anna Miller."
	const mower = "# Rules\n- Always answer in German.\n- Never mention the price.\n- Use only the following passages.\n\n# Passages\n[1] The mower needs SAE 30 oil.\n[2] The blade is sharpened every 25 hours."
	const role = "You are a helpful assistant. You answer questions about the weather in Oslo. Be concise."
	for _, c := range []struct {
		name, system, asked, want string
	}{
		{"a context", shop, "When does the shop close?", "The shop opens at nine and closes at six."},
		{"addressed to customers", shop, "Within how many days can shoes be returned?", "You can return shoes within 30 days."},
		{"a name", shop, "Who founded the shop?", "Miller's shop was founded in Bern in 1921 by Anna Miller."},
		{"a list", mower, "Which oil does the mower need?", "The mower needs SAE 30 oil."},
		{"another of it", mower, "How often is the blade sharpened?", "The blade is sharpened every 25 hours."},
		{"in German", "Du bist ein hilfreicher Assistent. Beantworte die Frage aus dem Kontext.\n\nKontext: Das Museum öffnet um zehn Uhr. Der Eintritt kostet acht Euro.", "Was kostet der Eintritt?", "Der Eintritt kostet acht Euro."},
		{"not in it", shop, "Who wrote the Odyssey?", none},
		{"a role alone", role, "Who are you?", none},
		{"what the role is about", role, "How is the weather in Oslo?", none},
		{"a rule alone", "Answer every question about pumps with one sentence and cite the passages.", "How are pumps serviced?", none},
		{"a greeting", role, "hi", "I have nothing to quote yet"},
		{"nearer in the message of the user", role, "The weather in Oslo is fine today.\n\nHow is the weather in Oslo?", "The weather in Oslo is fine today."},
		{"both", shop, "On Sundays the shop opens at eleven. When does the shop open on Sundays?", "On Sundays the shop opens at eleven."},
	} {
		got := complete(t, llm.Request{Messages: said("system", c.system, "user", c.asked)}).Text
		if c.want == none && got != none || !strings.Contains(got, c.want) || strings.Contains(got, "elpful assistant") || strings.Contains(got, "ontext") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	form := &llm.Format{Type: "json_schema", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)}
	got := complete(t, llm.Request{Messages: said("system", "Extract the name of the person. Return JSON.", "user", "The bridge was built by Ada Lovelace."), Format: form}).Text
	if !strings.Contains(got, "Lovelace") || strings.Contains(got, "Extract") {
		t.Errorf("a form to be filled from the message: %s", got)
	}
}

var tools = []llm.Tool{
	{Name: "delete_document", Description: "Deletes a document found by search", Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
	{Name: "get_weather", Description: "Weather of a place", Parameters: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`)},
	{Name: "corpora_search", Description: "Searches the documents", Parameters: json.RawMessage(`{"type":"object","properties":{
		"query":{"type":"string","maxLength":200},"limit":{"type":"integer","minimum":1,"maximum":50,"default":10},"mode":{"enum":["fast","deep"]},
		"exact":{"type":"boolean"},"weight":{"type":"number","exclusiveMinimum":0},"tags":{"type":"array","items":{"type":"string"},"minItems":1},"note":{"type":"string"}},
		"required":["query","limit","mode","exact","weight","tags"],"additionalProperties":false}`)},
}

// Proves that a question with tools calls the one that searches, once, with arguments that its schema admits.
func TestSearchesOnce(t *testing.T) {
	t.Parallel()
	r := llm.Request{Messages: said("user", "How long is the warranty of the drill?"), Tools: tools}
	out := complete(t, r)
	if len(out.Calls) != 1 || out.Calls[0].Name != "corpora_search" || out.Calls[0].ID == "" || out.Reason != llm.Calls || out.Text != "" {
		t.Fatalf("got %+v, want one call of corpora_search", out)
	}
	accepts(t, tools[2].Parameters, out.Calls[0].Arguments)
	var arguments map[string]any
	if err := json.Unmarshal(out.Calls[0].Arguments, &arguments); err != nil || arguments["query"] != "How long is the warranty of the drill?" || arguments["limit"] != 10.0 || arguments["note"] != nil {
		t.Errorf("arguments %s", out.Calls[0].Arguments)
	}
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: out.Calls}, llm.Message{Role: llm.Result, CallID: out.Calls[0].ID, Parts: []llm.Part{{Text: `[{"text":"The warranty of the drill lasts three years."}]`}}})
	out = complete(t, r)
	if len(out.Calls) != 0 || out.Text != "The warranty of the drill lasts three years. [1]" || out.Reason != llm.Stop {
		t.Errorf("with results there: %+v", out)
	}
	r.Messages = append(r.Messages, llm.Text(llm.Assistant, out.Text), llm.Text(llm.User, "And who repairs it?"))
	if out = complete(t, r); len(out.Calls) != 1 {
		t.Errorf("the next question: %+v, want a call", out)
	}
}

// Proves when no tool is called, and that one is where the request insists.
func TestChoice(t *testing.T) {
	t.Parallel()
	question := said("user", "How long is the warranty of the drill?")
	for name, c := range map[string]struct {
		r    llm.Request
		want string
	}{
		"none":             {llm.Request{Messages: question, Tools: tools, Choice: llm.Choice{Mode: "none"}}, ""},
		"no tool searches": {llm.Request{Messages: question, Tools: tools[:2]}, ""},
		"required":         {llm.Request{Messages: question, Tools: tools[1:2], Choice: llm.Choice{Mode: "required"}}, "get_weather"},
		"named":            {llm.Request{Messages: question, Tools: tools, Choice: llm.Choice{Mode: "tool", Name: "get_weather"}}, "get_weather"},
		"named, not there": {llm.Request{Messages: question, Tools: tools, Choice: llm.Choice{Mode: "tool", Name: "other"}}, ""},
		"thanks":           {llm.Request{Messages: said("user", "Thanks!"), Tools: tools}, ""},
		"evidence there":   {llm.Request{Messages: question, Tools: tools, Evidence: passages()}, ""},
		"no parameters":    {llm.Request{Messages: question, Tools: []llm.Tool{{Name: "search"}}, Choice: llm.Choice{Mode: "required"}}, "search"},
		"broken schema":    {llm.Request{Messages: question, Tools: []llm.Tool{{Name: "search", Parameters: json.RawMessage(`[1`)}}, Choice: llm.Choice{Mode: "required"}}, "search"},
	} {
		out := complete(t, c.r)
		got := ""
		if len(out.Calls) == 1 {
			got = out.Calls[0].Name
		}
		if got != c.want || got == "" && out.Text == "" {
			t.Errorf("%s: %+v, want a call of %q", name, out, c.want)
		}
	}
}

// Proves that the generator keeps what every model promises.
func TestBehaves(t *testing.T) {
	t.Parallel()
	llmtest.Behaves(t, generator(t),
		llm.Request{Question: "When did the bridge open?", Evidence: passages()},
		llm.Request{Messages: said("user", "Who is there?")},
		llm.Request{Question: "When did it open?", Evidence: passages(), Format: &llm.Format{Type: "json_object"}},
		llm.Request{Question: "When did it open?", Evidence: passages(), Format: &llm.Format{Type: "json_object"}, Partial: true})
}

// Proves that statements of the user, given as evidence without a number, are quoted without one, and that what the user has
// asked is not, however it was put.
func TestQuotesWhatWasSaid(t *testing.T) {
	t.Parallel()
	passage := llm.Evidence{N: 1, Score: 0.5, Text: "The filter of every pump is replaced each 500 hours. The hall is open on Monday."}
	for _, c := range []struct {
		said, question, quotes string
	}{
		{"My pump is the red model X200. How often is its filter replaced?", "Which model is my pump?", "My pump is the red model X200."},
		{"Meine Pumpe ist das rote Modell X200.", "Welches Modell ist meine Pumpe?", "Meine Pumpe ist das rote Modell X200."},
		{"How long does the filter of the pump in the hall last", "How often is the filter of the pump replaced?", ""},
		{"Tell me more about the filter of the pump in the hall.", "How often is the filter of the pump replaced?", ""},
		{"and the filter of the other pump in the same hall", "How often is the filter of the pump replaced?", ""},
		{"Erkläre mir bitte den Filter der Pumpe in der Halle.", "Wie oft wird der Filter der Pumpe in der Halle gewechselt?", ""},
	} {
		got := complete(t, llm.Request{Question: c.question, Evidence: []llm.Evidence{passage, {Text: c.said, Score: 0.3}}}).Text
		if c.quotes != "" && (!strings.Contains(got, c.quotes) || strings.Contains(got, c.quotes+" [")) || c.quotes == "" && strings.Contains(got, c.said) {
			t.Errorf("%q after %q: %q", c.question, c.said, got)
		}
	}
}
