// Package describe writes the descriptions of sessions that were made without one: by the model of their agent, or from the first
// question.
package describe

import (
	"context"
	"strings"
	"time"

	"quarry/internal/agent/session"
	"quarry/internal/llm"
)

// Rows is what is read and written of sessions; session.Store is one.
type Rows interface {
	Events(ctx context.Context, p session.Page) (found []session.Event, more bool, err error)
	// Describe sets the description of a session if it still waits for one.
	Describe(ctx context.Context, no int64, text string) error
}

// The bounds of what is read and written: events, and characters of the question, of the answer and of a description.
const (
	readEvents = 50
	readText   = 4_000
	most       = 200
)

// patience is how long the model may take.
const patience = time.Minute

const prompt = "Describe in one sentence of at most 20 words what the following conversation is about, in its language. Answer with the sentence alone."

// Session describes a session by its first exchange. A session without a question stays as it is.
func Session(ctx context.Context, rows Rows, models llm.Models, model string, no int64) error {
	events, _, err := rows.Events(ctx, session.Page{Session: no, Limit: readEvents})
	if err != nil {
		return err
	}
	question, answer := exchange(events)
	if question == "" {
		return nil
	}
	text := ask(ctx, models, model, question, answer)
	if err := context.Cause(ctx); err != nil {
		return err // a later turn finds it without one
	}
	if text == "" {
		text = clip(question, most)
	}
	return rows.Describe(ctx, no, text)
}

// exchange returns the first question and the last answer to it.
func exchange(events []session.Event) (question, answer string) {
	for i := range events {
		e := &events[i]
		switch {
		case e.Type == session.InputMessage && question == "":
			for _, p := range e.Parts {
				if p.Skill == "" {
					question += " " + p.Text
				}
			}
			question = line(question)
		case e.Type == session.InputMessage && answer != "":
			return question, answer
		case e.Type == session.AgentOutput && question != "":
			answer = e.Text
		case e.Type == session.StructuredOutput && question != "":
			answer = string(e.Content)
		}
	}
	return question, answer
}

// ask returns what a model writes, "" if it is the embedded one, which would quote, or if it fails.
func ask(ctx context.Context, models llm.Models, name, question, answer string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := models.Model(ctx, name)
	if err != nil || m.Embedded || m.Admit(ctx) != nil {
		return ""
	}
	said, err := m.Stream(ctx, llm.Request{Partial: true, Messages: []llm.Message{
		llm.Text(llm.System, prompt), llm.Text(llm.User, "Question: "+clip(question, readText)+"\n\nAnswer: "+clip(answer, readText)),
	}}, func(llm.Event) error { return context.Cause(ctx) })
	if err != nil || said.Reason == llm.Refused {
		return ""
	}
	return clip(strings.Trim(line(said.Text), `"“”„«»`), most)
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// clip returns the beginning of a text that has more than n characters.
func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
