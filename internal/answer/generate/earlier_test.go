package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

const messages = `[{"role":"system","content":"Be brief."},
#foreach ($r in $vectaraQueryResults){"role":"user","content":"$r.getText()"},{"role":"assistant","content":"Noted."},#end
{"role":"user","content":"$vectaraQuery"}]`

// exchanges returns exchanges of about so many tokens each.
func exchanges(n, words int) []generate.Exchange {
	out := make([]generate.Exchange, n)
	for i := range out {
		out[i] = generate.Exchange{Question: fmt.Sprintf("Question %d?", i+1), Answer: fmt.Sprintf("Answer %d. %s", i+1, strings.Repeat("word ", words))}
	}
	return out
}

// recalled returns the newest of the exchanges, as many as the model can read.
func recalled(all []generate.Exchange) generate.Earlier {
	return func(_ context.Context, m generate.Memory) ([]generate.Exchange, error) {
		return all[max(0, len(all)-m.Exchanges):], nil
	}
}

// drafted runs a request and returns what the model was asked and the answer.
func drafted(t *testing.T, m *model, q generate.Request, alone string, results []generate.Passage) (*llm.Request, generate.Answer) {
	t.Helper()
	m.says = []string{"Yes [1]."}
	r := newRig(m)
	p, err := r.Plan(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if alone != "" {
		p.Restate(alone)
	}
	got, err := p.Answer(t.Context(), results, told(new([]string)))
	if err != nil {
		t.Fatal(err)
	}
	return m.asked, got
}

func TestEarlierExchanges(t *testing.T) {
	// Proves that earlier exchanges stand as messages of user and assistant before the last message, that the prompt shown
	// is the one sent, and that it is the template's output where there are none.
	t.Parallel()
	for _, c := range []struct {
		template string
		earlier  []generate.Exchange
		shown    string
	}{
		{messages, exchanges(2, 0), `[{"role":"system","content":"Be brief."},{"role":"user","content":"Passage number 1 tells of pumps."},{"role":"assistant","content":"Noted."},` +
			`{"role":"user","content":"Question 1?"},{"role":"assistant","content":"Answer 1. "},{"role":"user","content":"Question 2?"},{"role":"assistant","content":"Answer 2. "},` +
			`{"role":"user","content":"And \"<in>\" winter?"}]`},
		{"Asked: $vectaraQuery", exchanges(1, 0), `[{"role":"user","content":"Question 1?"},{"role":"assistant","content":"Answer 1. "},{"role":"user","content":"Asked: And \"<in>\" winter?"}]`},
		{"Asked: $vectaraQuery", nil, `Asked: And "<in>" winter?`},
	} {
		q := request()
		q.Question, q.Template, q.Earlier = `And "<in>" winter?`, c.template, recalled(c.earlier)
		asked, got := drafted(t, &model{}, q, "How often is the filter changed in winter?", some(1))
		if diff := cmp.Diff(c.shown, got.Prompt); diff != "" {
			t.Errorf("the prompt (-want +got): %s", diff)
		}
		var sent []struct{ Role, Content string }
		if len(c.earlier) > 0 && json.Unmarshal([]byte(got.Prompt), &sent) != nil {
			t.Fatalf("%q is not JSON", got.Prompt)
		}
		for i, m := range sent {
			if i >= len(asked.Messages) || string(asked.Messages[i].Role) != m.Role || asked.Messages[i].Plain() != m.Content {
				t.Errorf("message %d is shown as %v, and %v were sent", i, m, asked.Messages)
			}
		}
	}
}

func TestEarlierExchangesGoFirst(t *testing.T) {
	// Proves that a short context costs the oldest exchanges first, each as a whole and without a warning, and passages only
	// after all exchanges.
	t.Parallel()
	for _, c := range []struct {
		name           string
		passages, each int // how many, and the words of each
		earlier, words int
		used, kept     int
	}{
		{"all fit", 3, 100, 4, 50, 3, 4},
		{"the oldest goes", 3, 100, 12, 400, 3, 6},
		{"one long exchange in the middle ends the list", 1, 10, 2, 2500, 1, 1},
		{"passages have the room of all exchanges", 5, 500, 3, 900, 5, 0},
		{"then passages go", 20, 500, 3, 900, 5, 0},
	} {
		results := some(c.passages)
		for i := range results {
			results[i].Text = fmt.Sprintf("Passage %d. %s", i+1, strings.Repeat("word ", c.each))
		}
		q := request()
		earlier := exchanges(c.earlier, c.words)
		q.Earlier = recalled(earlier)
		asked, got := drafted(t, &model{}, q, "", results)
		if len(asked.Evidence) != c.used || len(asked.Messages) != 1+2*c.kept || (len(got.Warnings) > 0) != (c.used < c.passages) {
			t.Errorf("%s: %d passages and %d messages, want %d and %d; warnings %q", c.name, len(asked.Evidence), len(asked.Messages), c.used, 1+2*c.kept, got.Warnings)
			continue
		}
		for i, e := range earlier[c.earlier-c.kept:] {
			if asked.Messages[2*i].Plain() != e.Question || asked.Messages[2*i+1].Plain() != e.Answer {
				t.Errorf("%s: exchange %d is not the one asked %q", c.name, i, e.Question)
			}
		}
		if n := asked.Tokens(); n > llm.MinContext*3/4 {
			t.Errorf("%s: the prompt has %d tokens", c.name, n)
		}
	}
}

func TestEarlierStatements(t *testing.T) {
	// Proves that the embedded generator gets what the user said last as evidence without a number, behind the passages, and
	// the question as it stands by itself, which is what the score reads; and that other models get no such evidence.
	t.Parallel()
	for _, embedded := range []bool{true, false} {
		m := &model{local: embedded, context: 200_000}
		q := request()
		q.Earlier = recalled(exchanges(40, 0))
		asked, _ := drafted(t, m, q, "What does it cost in Oslo?", some(2))
		said := slices.DeleteFunc(slices.Clone(asked.Evidence), func(e llm.Evidence) bool { return e.N > 0 })
		if asked.Question != "What does it cost in Oslo?" || len(asked.Evidence)-len(said) != 2 {
			t.Errorf("asked %q over %v", asked.Question, asked.Evidence)
		}
		if !embedded {
			if len(said) > 0 || len(asked.Messages) != 81 {
				t.Errorf("%d statements and %d messages", len(said), len(asked.Messages))
			}
			continue
		}
		if len(said) != 30 || said[0].Text != "Question 40?" || said[29].Text != "Question 11?" || asked.Evidence[2].N != 0 || said[0].Score > some(2)[1].Score ||
			len(asked.Messages) != 61 {
			t.Errorf("evidence %v, %d messages", asked.Evidence, len(asked.Messages))
		}
	}
}

func TestLanguageOfFollowUps(t *testing.T) {
	// Proves that a follow-up too short to show its language takes that of the question as it stands by itself, and a longer
	// one keeps its own.
	t.Parallel()
	for question, want := range map[string]string{"Oslo?": "deu", "What does it cost in the other towns?": "eng"} {
		q := request()
		q.Question, q.Earlier = question, recalled(exchanges(1, 0))
		if asked, got := drafted(t, &model{}, q, "Was kostet das Zimmer im Hotel in Oslo?", some(1)); got.Language != want || asked.Language != want {
			t.Errorf("%q is answered in %s", question, got.Language)
		}
	}
}

func TestMemory(t *testing.T) {
	// Proves that what a plan asks of a conversation leaves nothing out that the model can read: neither many short exchanges
	// nor the texts that take the fewest tokens for their length; that the embedded generator asks for the last ones alone; and
	// that a conversation which can't be read is the error of the plan, before the model has admitted it.
	t.Parallel()
	for _, window := range []int{llm.MinContext, 1_000_000} {
		var asked generate.Memory
		q := request()
		q.Earlier = func(_ context.Context, m generate.Memory) ([]generate.Exchange, error) {
			asked = m
			return nil, nil
		}
		drafted(t, &model{context: window}, q, "", some(1))
		short := llm.MessageTokens(llm.Text(llm.User, ""), llm.Text(llm.Assistant, ""))
		long := strings.Repeat("word   ", asked.Bytes/7)
		if (asked.Exchanges+1)*short <= window || llm.MessageTokens(llm.Text(llm.User, long)) <= window {
			t.Errorf("a context of %d tokens: %+v", window, asked)
		}
		drafted(t, &model{context: window, local: true}, q, "", some(1))
		if asked.Exchanges != 30 {
			t.Errorf("embedded: %+v", asked)
		}
	}
	gone := errors.New("gone")
	q := request()
	q.Earlier = func(context.Context, generate.Memory) ([]generate.Exchange, error) { return nil, gone }
	if _, err := newRig(&model{full: fault.Limited("x", "over")}).Plan(t.Context(), q); !errors.Is(err, gone) {
		t.Error(err)
	}
}
