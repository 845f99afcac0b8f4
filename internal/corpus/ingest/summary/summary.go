// Package summary has a language model describe the tables of a file: the request is checked before the file is parsed, and then every
// table is a call of its own. Package ingest makes the descriptions part of the document.
package summary

import (
	"context"
	_ "embed"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/table"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/prompt"
	"quarry/internal/llm/write"
	"quarry/internal/text/lang"
	"quarry/internal/usage"
)

// Request is how tables are described.
type Request struct {
	LLM        string // registered name; "" is the default model
	Template   string // of the prompt; "" is Default
	Parameters llm.Parameters
}

// The fields of a Request that faults name.
const (
	modelField    = "llm_name"
	templateField = "prompt_template"
)

// Default is the template of the prompt where a request has none.
//
//go:embed default.vtl
var Default string

const (
	longest = 32 << 10 // bytes of a description
	atOnce  = 4        // tables of a file that are described at the same time
)

// Service describes tables. It is safe for concurrent use.
type Service struct{ models llm.Models }

// New returns a service.
func New(m llm.Models) *Service { return &Service{m} }

// Plan is a request that was checked. It is for the tables of one file.
type Plan struct {
	models   llm.Models
	request  Request
	model    *llm.Model
	template *prompt.Template
}

// Plan checks a request. A model that can't be used and a template that makes no prompt are fault.KindInvalid with their fields.
func (s *Service) Plan(ctx context.Context, r Request) (*Plan, error) {
	m, err := s.models.Model(ctx, r.LLM)
	if err != nil {
		return nil, llm.Named(err, modelField)
	}
	if r.Template == "" {
		r.Template = Default
	}
	t, err := prompt.Compile(r.Template)
	if err != nil {
		return nil, llm.Named(err, templateField)
	}
	p := &Plan{s.models, r, m, t}
	if _, err := p.render(&sample); err != nil {
		return nil, err
	}
	return p, nil
}

// Waits reports whether the model is outside this process, so that its calls take no processor.
func (p *Plan) Waits() bool { return !p.model.Embedded }

// Describe sets the description of every table, or none where it fails. A model over one of its bounds refuses the first table
// (fault.KindLimited); once there is a description the other tables wait for their place until ctx ends. Failures of the model are
// faults, too.
func (p *Plan) Describe(ctx context.Context, tables []*document.Table) error {
	if len(tables) == 0 {
		return nil
	}
	if err := p.model.Admit(ctx); err != nil {
		return err
	}
	out := make([]string, len(tables))
	all, inside := errgroup.WithContext(usage.Patient(ctx))
	all.SetLimit(atOnce)
	for i, t := range tables {
		all.Go(func() error {
			m := p.model
			if i > 0 { // each is for one call
				var err error
				if m, err = p.models.Model(inside, p.request.LLM); err != nil {
					return llm.Named(err, modelField)
				}
			}
			text, err := p.describe(inside, m, t)
			out[i] = text
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	for i, t := range tables {
		t.Description = out[i]
	}
	return nil
}

func (p *Plan) describe(ctx context.Context, m *llm.Model, t *document.Table) (string, error) {
	call := llm.Request{Parameters: p.request.Parameters, Summarize: true}
	lead := ""
	if m.Embedded { // it quotes and does not write: some rows follow what we say of the table
		lead, call.Language, call.Evidence = evidence(t)
		if len(call.Evidence) == 0 {
			return lead, nil
		}
	}
	var err error
	if call.Messages, err = p.prompt(m, t); err != nil {
		return "", err
	}
	said, err := write.Run(ctx, m, call, longest, func(string) error { return nil })
	return strings.TrimSpace(lead + " " + strings.TrimSpace(said.Whole)), err
}

// prompt returns the prompt for a table. Of one that does not fit the model, the first rows that do are shown.
func (p *Plan) prompt(m *llm.Model, t *document.Table) ([]llm.Message, error) {
	for shown := *t; ; {
		rendered, err := p.render(&shown)
		if err != nil {
			return nil, err
		}
		call := llm.Request{Messages: rendered.Messages}
		need, room := call.Tokens(), prompt.Room(m.Can.Context, p.request.Parameters.MaxTokens)
		if m.Embedded || need <= room {
			return rendered.Messages, nil
		}
		less, ok := shown.Beginning(float64(room) / float64(need))
		if !ok {
			return nil, fault.InvalidSentence(modelField, "the prompt for a table needs about %d tokens without its rows, and the language model %q takes %d beside its answer; "+
				"take a model with a larger context, or a prompt_template that shows less of the table", need, m.Name, room)
		}
		shown = less
	}
}

// evidence returns what the embedded generator can choose from, the rows that have words, their language, and what stands before its choice.
func evidence(t *document.Table) (lead, language string, all []llm.Evidence) {
	data := table.Read("data", t.Data, func(string, string, ...any) {})
	rows := data.RowTexts()
	for _, row := range rows {
		if strings.ContainsFunc(row, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			all = append(all, llm.Evidence{Text: row + ".", Title: t.Title})
		}
	}
	language, _ = lang.Detect(t.Title + "\n" + strings.Join(rows, "\n"))
	return data.Summary(), language, all
}
