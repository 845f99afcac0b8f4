// Package builtin is the language model inside the program, which quotes and does not write. It answers a question with the
// sentences of the passages that answer it best, each with the number of its passage, calls a search tool once for each
// question, fills a JSON schema from the passages, and summarises a document in sentences of it. The only sentences of its own
// are that there is no answer, and that nothing was asked. It does not reason and follows no instruction of a prompt. Package
// llm/registry has it as the default model of the platform; package app builds it.
package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/question"
	"quarry/internal/text/lang"
	"quarry/internal/text/sentence"
)

// Model is the name of the model in answers.
const Model = "extractive-1.0"

// Provider is the generator. It is safe for concurrent use; the same request gives the same answer.
type Provider struct {
	encoders *embed.Registry
	kept     *vectors
}

var _ llm.Provider = (*Provider)(nil)

// New returns the generator over the default encoder of the registry.
func New(encoders *embed.Registry) *Provider {
	return &Provider{encoders: encoders, kept: newVectors()}
}

// Stream answers sentence by sentence, and so it summarises. With Request.Evidence it answers Request.Question from the evidence.
// Without, the question is in the last user message, and the evidence is earlier messages, those of the system, text around the
// question and the results of tools.
func (p *Provider) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	a := answering{provider: p, request: r, emit: emit}
	a.out.Model, a.out.Reason = Model, llm.Stop
	err := context.Cause(ctx)
	if err == nil {
		err = a.run(ctx)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return a.out, cause
	}
	var stopped stop
	if errors.As(err, &stopped) {
		return a.out, stopped.error
	}
	if err != nil {
		return a.out, &llm.Error{Failure: llm.Broken, Cause: err, Begun: a.out.Text != ""}
	}
	a.count()
	return a.out, nil
}

// stop is an error of emit on its way out.
type stop struct{ error }

// answering is one call.
type answering struct {
	provider     *Provider
	request      llm.Request
	conversation conversation
	emit         func(llm.Event) error
	out          llm.Answer
}

func (a *answering) run(ctx context.Context) error {
	if a.request.Summarize && a.request.Format == nil {
		return a.summarize(ctx)
	}
	a.conversation = parse(a.request)
	if call := a.conversation.call(a.request); call != nil {
		a.out.Calls, a.out.Reason = []llm.ToolCall{*call}, llm.Calls
		return a.send(llm.Event{Call: call})
	}
	if a.request.Format != nil {
		return a.fill(ctx)
	}
	if t := &a.conversation; !t.given && !t.called {
		if language, ok := greets(t.question); ok {
			return a.say(nothingAsked(a.request.Language, language))
		}
	}
	return a.quote(ctx)
}

// Quotation is a sentence of a passage.
type Quotation struct {
	Text string
	N    int // of its passage; 0 for one without a number
}

// Quote returns the sentences of the answer that Stream would return, all of them best first; none if there is no answer.
// Benchmarks measure it.
func (p *Provider) Quote(ctx context.Context, r llm.Request) ([]Quotation, error) {
	a := answering{provider: p, request: r, conversation: parse(r)}
	_, chosen, err := a.choose(ctx)
	var out []Quotation
	for _, q := range quotations(chosen) {
		out = append(out, Quotation{q.quoted, a.conversation.passages[q.passage].N})
	}
	return out, err
}

// choose returns the sentences of the answer, best first.
func (a *answering) choose(ctx context.Context) (*findings, []*candidate, error) {
	found, err := a.search(ctx)
	if err != nil {
		return nil, nil, err
	}
	return found, found.choose(a.room), nil
}

// search scores the sentences of the conversation.
func (a *answering) search(ctx context.Context) (*findings, error) {
	t := &a.conversation
	around := ""
	if len(t.passages) > 0 {
		around, _ = lang.Detect(t.passages[0].Text)
	}
	found, err := a.provider.search(ctx, question.Parse(t.question, around), t.passages)
	if err == nil {
		t.weed(found)
		t.setAside(found)
	}
	return found, err
}

// quote answers in sentences.
func (a *answering) quote(ctx context.Context) error {
	found, chosen, err := a.choose(ctx)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		return a.say(llm.NoAnswer(a.request.Language, found.question.Language))
	}
	if found.cut {
		a.out.Reason = llm.Length
	}
	a.out.Evidence = new(found.certain(chosen))
	between := ""
	for _, s := range quotations(found.readable(chosen)) {
		text := s.quoted
		if n := a.conversation.passages[s.passage].N; n > 0 {
			text = fmt.Sprintf("%s [%d]", text, n)
		}
		if first, _ := utf8.DecodeRuneInString(text); between != "" && unicode.IsLower(first) {
			between = "\n\n" // behind a full stop, too, it would not pass for a sentence
		}
		if err := a.say(between + text); err != nil {
			return err
		}
		if between = " "; !sentence.Ended(s.text) { // such as a row of a table, which would run into the next one
			between = "\n\n"
		}
	}
	return nil
}

// room reports whether a text of these sentences fits the token limit of the request.
func (a *answering) room(sentences []*candidate) bool {
	limit := a.request.Parameters.MaxTokens
	if limit == nil {
		return true
	}
	n := int64(0)
	for _, s := range sentences {
		n += a.tokens(cmp.Or(s.Wide, s.text)) + markTokens
	}
	return n <= int64(*limit)
}

// markTokens is what " [12]" takes.
const markTokens = 3

func (a *answering) say(text string) error {
	a.out.Text += text
	return a.send(llm.Event{Text: text})
}

func (a *answering) send(e llm.Event) error {
	if err := a.emit(e); err != nil {
		return stop{err}
	}
	return nil
}

// count sets the usage, in tokens of the encoder.
func (a *answering) count() {
	for _, m := range a.request.Messages {
		a.out.Usage.Input += a.tokens(m.Plain())
	}
	if len(a.request.Messages) == 0 {
		a.out.Usage.Input = a.tokens(a.conversation.question)
		for _, e := range a.request.Evidence {
			a.out.Usage.Input += a.tokens(e.Text)
		}
	}
	a.out.Usage.Output = a.tokens(a.out.Text)
	for _, c := range a.out.Calls {
		a.out.Usage.Output += a.tokens(c.Name) + a.tokens(string(c.Arguments))
	}
}

// tokens counts the tokens of a text, and marks the usage as estimated if the encoder does not split texts.
func (a *answering) tokens(text string) int64 {
	e, ok := a.provider.encoders.Find("")
	if !ok || strings.TrimSpace(text) == "" {
		return 0
	}
	if _, ok := e.(embed.Splitter); !ok {
		a.out.Usage.Estimated = true
	}
	return int64(countTokens(e, text))
}
