package complete_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/complete"
	"quarry/internal/llm/llmtest"
	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// asked is a request for n answers.
func asked(n int) complete.Request {
	return complete.Request{Model: "m", Answers: n, Request: llm.Request{Messages: []llm.Message{llm.Text(llm.User, "hello")}}}
}

// bounded is a model that admits some calls.
type bounded struct {
	llmtest.Fixed
	left *int
}

func (b bounded) Admit(context.Context) error {
	if *b.left--; *b.left < 0 {
		return fault.Limited("llm_rate_limited", "too many")
	}
	return nil
}

// TestAnswers proves that each of several answers comes in pieces under its own number, with its end last.
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := complete.New(llmtest.Only{Use: &llm.Model{Provider: llmtest.Fixed{Text: "yes"}, Name: "m"}})
	seen := make([][]string, complete.MaxAnswers)
	answers, err := s.Run(t.Context(), asked(complete.MaxAnswers), func(e complete.Event) error {
		if e.Whole != nil {
			seen[e.N] = append(seen[e.N], "end of "+e.Whole.Text)
		} else {
			seen[e.N] = append(seen[e.N], e.Piece.Text)
		}
		return nil
	})
	if err != nil || len(answers) != complete.MaxAnswers {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for n, events := range seen {
		if !slices.Equal(events, []string{"yes", "end of yes"}) || answers[n].Text != "yes" {
			t.Errorf("answer %d came as %q and is %q", n, events, answers[n].Text)
		}
	}
}

// TestBounds proves that each answer takes a place under the bounds of the model, and that none begins without all places.
func TestBounds(t *testing.T) {
	t.Parallel()
	left := 2
	s := complete.New(llmtest.Only{Use: &llm.Model{Provider: bounded{llmtest.Fixed{Text: "yes"}, &left}, Name: "m"}})
	fail := func(complete.Event) error { t.Error("an answer began"); return nil }
	if _, err := s.Run(t.Context(), asked(3), fail); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("three answers where two are allowed: %v", err)
	}
}

// TestLeaving proves that an error of emit ends all answers and is returned, and that so is the end of the context.
func TestLeaving(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	s := complete.New(llmtest.Only{Use: &llm.Model{Provider: waiting{}, Name: "m"}})
	if _, err := s.Run(t.Context(), asked(3), func(complete.Event) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("emit failed, and the error is %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := s.Run(ctx, asked(1), func(complete.Event) error { cancel(gone); return nil })
	if !errors.Is(err, gone) {
		t.Errorf("the context ended, and the error is %v", err)
	}
}

// waiting is a model that says one word and then nothing until its context ends.
type waiting struct{}

func (waiting) Stream(ctx context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if err := emit(llm.Event{Text: "well"}); err != nil {
		return llm.Answer{}, err
	}
	<-ctx.Done()
	return llm.Answer{}, context.Cause(ctx)
}

// TestRefusals proves which requests are refused, with their fields, before a model is called.
func TestRefusals(t *testing.T) {
	t.Parallel()
	var called llm.Request
	use := &llm.Model{Provider: llmtest.Fixed{Last: &called}, Name: "m"}
	for field, change := range map[string]func(*complete.Request){
		"model":                    func(r *complete.Request) { r.Model = "" },
		"n":                        func(r *complete.Request) { r.Answers = 9 },
		"messages":                 func(r *complete.Request) { r.Messages = nil },
		"messages[1].content":      func(r *complete.Request) { r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant}) },
		"messages[1].tool_call_id": func(r *complete.Request) { r.Messages = append(r.Messages, llm.Message{Role: llm.Result, CallID: "c"}) },
		"tools":                    func(r *complete.Request) { r.Tools = []llm.Tool{{Name: "f"}} },
		"tool_choice":              func(r *complete.Request) { r.Choice = llm.Choice{Mode: "tool", Name: "g"} },
		"messages[0].content[0]":   func(r *complete.Request) { r.Messages[0].Parts[0].Image = &llm.Image{URL: "u"} },
		"response_format.json_schema.schema.additionalProperties": func(r *complete.Request) {
			r.Format = &llm.Format{Type: "json_schema", Strict: true, Schema: []byte(`{"type":"object"}`)}
		},
	} {
		r := asked(1)
		change(&r)
		_, err := complete.New(llmtest.Only{Use: use}).Run(t.Context(), r, func(complete.Event) error { return nil })
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid || len(f.Fields) != 1 || f.Fields[field] == "" || called.Messages != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}
