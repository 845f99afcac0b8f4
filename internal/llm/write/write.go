// Package write has a language model write one text for a prompt. The text is bounded while it comes, and a failure of the model is the
// fault that its caller answers with.
package write

import (
	"context"
	"errors"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Text is what a model wrote.
type Text struct {
	Whole string
	Cut   bool // the model stopped at its token limit
}

// Run asks the model for a text of at most so many bytes: a longer one comes from a model that does not end. emit gets the pieces as they
// come; an error of it ends the call and is returned unchanged. What has come before a failure is returned with it.
func Run(ctx context.Context, m *llm.Model, call llm.Request, most int, emit func(piece string) error) (Text, error) {
	var text strings.Builder
	answer, err := m.Stream(ctx, call, func(e llm.Event) error {
		if e.Text == "" {
			return nil
		}
		if text.Len()+len(e.Text) > most {
			return &llm.Error{Failure: llm.Broken, Model: m.Name, Text: "its answer is longer than any that is wanted", Begun: true}
		}
		text.WriteString(e.Text)
		return emit(e.Text)
	})
	out := Text{Whole: text.String()}
	if err == nil && strings.TrimSpace(out.Whole) == "" {
		err = &llm.Error{Failure: llm.Empty, Model: m.Name, Text: answer.Refusal}
	}
	if err == nil {
		out.Cut = answer.Reason == llm.Length
	}
	return out, failed(err)
}

// failed returns the fault of a model's failure. A provider's error without a body keeps its status (contract: Further operations),
// so that the client can tell what it is.
func failed(err error) error {
	var e *llm.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Text == "" && e.Status >= 400:
		return fault.UpstreamStatus(e.Status, "%s, without saying why", e.Error()).Because(e.Cause)
	}
	return e.Fault()
}
