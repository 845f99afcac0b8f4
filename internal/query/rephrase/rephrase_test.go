package rephrase_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/query/rephrase"
)

// model says the same to everybody.
type model struct {
	says    []string
	fails   error
	full    error // what Admit answers
	unknown error // what finding it answers
	local   bool
	context int
	asked   []llm.Request
}

func (m *model) Model(_ context.Context, name string) (*llm.Model, error) {
	return &llm.Model{Provider: m, Name: name, Embedded: m.local, Can: llm.Abilities{Context: max(m.context, llm.MinContext)}}, m.unknown
}

func (m *model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if m.full != nil {
		return llm.Answer{}, m.full
	}
	m.asked = append(m.asked, r)
	for _, s := range m.says {
		if err := emit(llm.Event{Text: s}); err != nil {
			return llm.Answer{}, err
		}
	}
	if ctx.Err() != nil {
		return llm.Answer{}, context.Cause(ctx)
	}
	return llm.Answer{Text: strings.Join(m.says, "")}, m.fails
}

func TestQuestion(t *testing.T) {
	// Proves that a model's question is taken without what it writes around it, that whatever fails leaves the question as it
	// was asked, and that the log tells of the failure without the conversation.
	t.Parallel()
	const original = "And the secret one?"
	for _, c := range []struct {
		name  string
		model model
		want  string
	}{
		{"as it is", model{says: []string{"How often is the ", "filter replaced?"}}, "How often is the filter replaced?"},
		{"blanks and lines", model{says: []string{"\n How often\nis it replaced? \n"}}, "How often is it replaced?"},
		{"in quotes", model{says: []string{`"How often is it replaced?"`}}, "How often is it replaced?"},
		{"a quotation in it", model{says: []string{`"Filter" or "pump"`}}, `"Filter" or "pump"`},
		{"with a label", model{says: []string{"Standalone question: How often is it replaced?"}}, "How often is it replaced?"},
		{"in a fence", model{says: []string{"```text\nHow often is it replaced?\n```"}}, "How often is it replaced?"},
		{"with thoughts", model{says: []string{"<think>The user means the filter.</think>\n\nHow often is it replaced?"}}, "How often is it replaced?"},
		{"the longest", model{says: []string{strings.Repeat("ü", 5000)}}, strings.Repeat("ü", 5000)},
		{"too long", model{says: []string{strings.Repeat("ü", 5001)}}, original},
		{"without end", model{says: strings.Split(strings.Repeat("word words,", 50_000), ",")}, original},
		{"empty", model{}, original},
		{"blank", model{says: []string{" \n"}}, original},
		{"no words", model{says: []string{"…?"}}, original},
		{"a failure", model{says: []string{"How"}, fails: &llm.Error{Failure: llm.Broken, Begun: true}}, original},
		{"silence", model{fails: &llm.Error{Failure: llm.TimedOut}}, original},
		{"a quota", model{full: fault.Limited("llm_quota_exhausted", "over")}, original},
		{"deleted meanwhile", model{unknown: fault.Invalid()}, original},
		{"a broken registration", model{unknown: errors.New("can't be read")}, original},
		{"the embedded one", model{local: true}, original + " often filter replaced"},
	} {
		var log bytes.Buffer
		s := rephrase.New(&c.model, slog.New(slog.NewTextHandler(&log, nil)))
		got, err := s.Question(t.Context(), rephrase.Request{Question: original, Earlier: asked("How often is the filter replaced?"), Model: "m"})
		if err != nil || got != c.want {
			t.Errorf("%s: %.100q, %v; want %.100q", c.name, got, err, c.want)
		}
		if failed := c.want == original; failed != strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "secret") {
			t.Errorf("%s: log %q", c.name, log.String())
		}
	}
}

func TestFirstQuestion(t *testing.T) {
	// Proves that a question without a conversation is not touched and asks no model.
	t.Parallel()
	m := &model{says: []string{"no"}}
	got, err := rephrase.New(m, slog.New(slog.DiscardHandler)).Question(t.Context(), rephrase.Request{Question: "Why?"})
	if got != "Why?" || err != nil || len(m.asked) > 0 {
		t.Errorf("%q, %v, %d calls", got, err, len(m.asked))
	}
}

func TestEnds(t *testing.T) {
	// Proves that the end of the request is an error, and not a question as it was asked.
	t.Parallel()
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	m := &model{fails: late}
	if got, err := rephrase.New(m, slog.New(slog.DiscardHandler)).Question(ctx, rephrase.Request{Question: "Why?", Earlier: asked("Who?")}); !errors.Is(err, late) {
		t.Errorf("%q, %v", got, err)
	}
}

// stuck is a model that never answers.
type stuck struct{}

func (stuck) Model(context.Context, string) (*llm.Model, error) {
	return &llm.Model{Provider: stuck{}, Can: llm.Abilities{Context: llm.MinContext}}, nil
}

func (stuck) Stream(ctx context.Context, _ llm.Request, _ func(llm.Event) error) (llm.Answer, error) {
	<-ctx.Done()
	return llm.Answer{}, context.Cause(ctx)
}

func TestPatience(t *testing.T) {
	// Proves that a model which does not answer costs half a minute and not the answer.
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got, err := rephrase.New(stuck{}, slog.New(slog.DiscardHandler)).Question(t.Context(), rephrase.Request{Question: "Why?", Earlier: asked("Who?")})
		if took := time.Since(began); got != "Why?" || err != nil || took != 30*time.Second {
			t.Errorf("%q, %v after %v", got, err, took)
		}
	})
}

func TestConversation(t *testing.T) {
	// Proves what the model is given: the last exchanges as JSON, oldest first, as many as its context admits, long answers cut
	// off, and nothing of them as instructions.
	t.Parallel()
	earlier := make([]generate.Exchange, 200)
	for i := range earlier {
		earlier[i] = generate.Exchange{Question: fmt.Sprintf("Question %d?", i), Answer: fmt.Sprintf("Answer %d <b>. ", i) + strings.Repeat("ü", 40*i)}
	}
	for _, context := range []int{llm.MinContext, 1_000_000} {
		m := &model{says: []string{"x"}, context: context}
		if _, err := rephrase.New(m, slog.New(slog.DiscardHandler)).Question(t.Context(), rephrase.Request{Question: `Ignore "this"?`, Earlier: earlier}); err != nil {
			t.Fatal(err)
		}
		r := m.asked[0]
		if n := r.Tokens(); len(r.Messages) != 2 || r.Messages[0].Role != llm.System || r.Messages[1].Role != llm.User || n > context-1000 || n > 9000 ||
			r.Parameters.Temperature == nil || *r.Parameters.Temperature != 0 {
			t.Errorf("%d messages of %d tokens, %+v", len(r.Messages), n, r.Parameters)
		}
		var got struct {
			Conversation []struct{ User, Assistant string }
			Question     string
		}
		if err := json.Unmarshal([]byte(r.Messages[1].Plain()), &got); err != nil {
			t.Fatal(err)
		}
		n := len(got.Conversation)
		if got.Question != `Ignore "this"?` || n < 2 || n > 20 || got.Conversation[n-1].User != "Question 199?" || got.Conversation[0].User != fmt.Sprintf("Question %d?", 200-n) {
			t.Errorf("given %+v", got)
		}
		if a := got.Conversation[n-1].Assistant; len(a) > 2010 || !strings.HasSuffix(a, "ü…") || !strings.HasPrefix(a, "Answer 199 <b>") {
			t.Errorf("the answer is %q", a)
		}
	}
	m := &model{says: []string{"x"}}
	if _, err := rephrase.New(m, slog.New(slog.DiscardHandler)).Question(t.Context(), rephrase.Request{Question: "Why?", Earlier: earlier, Plain: true}); err != nil ||
		m.asked[0].Parameters.Temperature != nil {
		t.Errorf("plain: %v, %+v", err, m.asked)
	}
	m.asked = nil
	long := strings.Repeat("7", 5000)
	if got, err := rephrase.New(m, slog.New(slog.DiscardHandler)).Question(t.Context(), rephrase.Request{Question: long, Earlier: earlier}); got != long || err != nil || len(m.asked) > 0 {
		t.Errorf("a question beyond the context: %d characters, %v, %d calls", len(got), err, len(m.asked))
	}
}
