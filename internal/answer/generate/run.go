package generate

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"quarry/internal/answer/generate/cite"
	"quarry/internal/answer/verify"
	"quarry/internal/llm"
)

// The warnings of the contract about a missing score.
const (
	WarningLanguage = "fcs_language_not_supported"
	WarningLength   = "exceeded_max_input_length_fcs"
)

// maxSummary bounds an answer, in bytes: a longer one comes from a model that does not end. Several copies are held while it
// arrives; the longest answers of models are half as long.
const maxSummary = 1 << 20

// Run asks the model; emit gets the pieces as they come, and an error of it ends the call and is returned unchanged.
// Failures of the model are an *llm.Error or a *fault.Fault.
func (d *Draft) Run(ctx context.Context, emit func(Event) error) (Answer, error) {
	out := Answer{Prompt: d.rendered.Text, Language: d.language, Warnings: d.warnings}
	if err := emit(Event{Prompt: &out.Prompt}); err != nil {
		return out, err
	}
	if d.nothing {
		out.Summary = llm.NoAnswer(d.language)
		if err := emit(Event{Chunk: out.Summary}); err != nil {
			return out, err
		}
		return out, emit(Event{Done: true})
	}
	started := time.Now()
	raw, err := d.generate(ctx, &out, emit)
	out.Steps = append(out.Steps, Step{StepGeneration, started, time.Since(started)})
	if err != nil {
		return out, err
	}
	if err := emit(Event{Done: true, Evidence: out.Evidence}); err != nil {
		return out, err
	}
	if !d.score(ctx, &out, raw) {
		return out, nil
	}
	return out, emit(Event{Score: out.Score})
}

// generate runs the model and sets the summary in out; raw is the output of the model.
func (d *Draft) generate(ctx context.Context, out *Answer, emit func(Event) error) (raw string, err error) {
	citations := cite.New(d.plan.request.Citations, d.sources())
	var output, summary strings.Builder
	pass := func(text string) error {
		if text == "" {
			return nil
		}
		summary.WriteString(text)
		return emit(Event{Chunk: text})
	}
	answer, err := d.plan.model.Stream(ctx, d.call(), func(e llm.Event) error {
		if output.Len()+len(e.Text) > maxSummary {
			return &llm.Error{Failure: llm.Broken, Model: d.plan.model.Name, Text: "its answer is longer than any that is wanted", Begun: true}
		}
		output.WriteString(e.Text)
		return pass(citations.Push(e.Text))
	})
	if err == nil {
		err = pass(citations.Close())
	}
	out.Summary, out.Evidence = summary.String(), answer.Evidence
	if err == nil && strings.TrimSpace(out.Summary) == "" {
		err = &llm.Error{Failure: llm.Empty, Model: d.plan.model.Name, Text: answer.Refusal}
	}
	if err == nil && answer.Reason == llm.Length {
		out.Warnings = append(out.Warnings, "answer_cut_off: the model stopped at its token limit; raise max_tokens for the whole answer")
	}
	return output.String(), err
}

// call is the request to the model.
func (d *Draft) call() llm.Request {
	r := &d.plan.request
	out := llm.Request{
		Messages: d.rendered.Messages, Parameters: r.Parameters, Question: d.plan.alone, Language: d.language,
		Evidence: make([]llm.Evidence, len(d.used)),
	}
	for i := range d.used {
		p := &d.used[i]
		title := documentTitle(p)
		out.Evidence[i] = llm.Evidence{
			N: i + 1, Text: p.plain(), Score: p.Score, Title: title, Label: isLabel(p), Vector: p.Vector,
			Headings: headings(p, title), Before: p.Before, After: p.After,
		}
	}
	if d.plan.model.Embedded {
		out.Evidence = append(out.Evidence, d.statements()...)
	}
	return out
}

// documentTitle returns the title of a passage's document: that of its metadata before that of its structure.
func documentTitle(p *Passage) string {
	var m struct {
		Title string `json:"title"`
	}
	if json.Unmarshal(p.DocumentMetadata, &m) == nil && m.Title != "" {
		return m.Title
	}
	return p.Title
}

// headings returns the headings above a passage, outermost first, without the title of its document.
func headings(p *Passage, title string) []string {
	var m struct {
		Around []any `json:"breadcrumb"`
		Own    any   `json:"title"`
	}
	_ = json.Unmarshal(p.PartMetadata, &m) // a client's own keys may have another form
	var out []string
	for _, x := range append(m.Around, m.Own) {
		if s, ok := x.(string); ok && strings.TrimSpace(s) != "" && s != title && s != p.Title && s != p.plain() && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// isLabel reports whether a passage is a title, or our own summary of a table without a description.
func isLabel(p *Passage) bool {
	var m struct {
		Title bool `json:"is_title"`
		Of    struct {
			Summary bool `json:"is_table_summary"`
		} `json:"vectara"`
	}
	if json.Unmarshal(p.PartMetadata, &m) != nil {
		return false
	}
	return m.Title || m.Of.Summary && (p.Table == nil || strings.TrimSpace(p.Table.Description) == "")
}

// sources returns what can be cited: the passages in the prompt.
func (d *Draft) sources() []cite.Source {
	out := make([]cite.Source, len(d.used))
	for i, p := range d.used {
		out[i] = cite.Source{DocumentID: p.DocumentID, Title: p.Title, DocumentMetadata: p.DocumentMetadata, PartMetadata: p.PartMetadata}
	}
	return out
}

// score sets how well the passages support the output of the model, without its marks, and reports whether there is a score. An
// answer without one is not a failure.
func (d *Draft) score(ctx context.Context, out *Answer, raw string) bool {
	s := d.plan.service
	if !d.plan.request.Score || s.scorer == nil || len(d.used) == 0 || llm.IsNoAnswer(raw) {
		return false
	}
	claim := verify.Claim{Text: cite.All(raw, cite.Options{Style: cite.None}, d.sources()), Question: d.plan.alone, Language: d.asked}
	for _, p := range d.used {
		claim.Sources = append(claim.Sources, p.plain())
	}
	started := time.Now()
	found, err := s.scorer.Score(ctx, claim)
	switch {
	case err == nil:
		out.Score = &found.Value
		out.Steps = append(out.Steps, Step{StepScore, started, time.Since(started)})
		return true
	case errors.Is(err, verify.ErrLanguage):
		out.Warnings = append(out.Warnings, WarningLanguage)
	case errors.Is(err, verify.ErrTooLong):
		out.Warnings = append(out.Warnings, WarningLength)
	case ctx.Err() == nil:
		s.log.Warn("an answer is without its consistency score", "error", err)
	}
	return false
}
