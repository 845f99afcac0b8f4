package app

import (
	"context"
	"log/slog"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/verify"
	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	httpconsistency "quarry/internal/httpapi/consistency"
	httpgeneration "quarry/internal/httpapi/generation"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/presets"
)

// answerServices make answers from passages, and score and correct texts.
type answerServices struct {
	presets  *generate.Presets
	verify   *verify.Service
	generate *generate.Service
}

func newAnswer(cfg config.Config, db *store.DB, encoders *embed.Registry, models *llm.Service, log *slog.Logger) answerServices {
	kept := generate.NewPresets(presets.New(db), models)
	e, _ := encoders.Find("") // the default is always there
	checker := verify.New(verify.Config{
		Encoder: e, Judge: cfg.ConsistencyJudge, Log: log,
		Models: func(ctx context.Context, name string) (verify.Model, error) {
			m, err := models.Model(ctx, name)
			if err != nil {
				return verify.Model{}, err
			}
			return verify.Model{Provider: m, Name: m.LLM.Name, Quotes: m.LLM.Platform}, nil
		},
	})
	return answerServices{kept, checker, generate.New(kept, provider{models}, checker, log)}
}

// areas returns the handlers of these services.
func (a answerServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{httpconsistency.New(a.verify), httpgeneration.New(a.presets, cursors)}
}

// provider gives the models of the registry as other packages want them.
type provider struct{ registry *llm.Service }

// Model implements generate.Models.
func (p provider) Model(ctx context.Context, name string) (generate.Model, error) {
	m, err := p.registry.Model(ctx, name)
	if err != nil {
		return nil, err
	}
	return model{m}, nil
}

// model is a model of the registry as generate.Model.
type model struct{ *llm.Model }

// Name implements generate.Model.
func (m model) Name() string { return m.LLM.Name }

// Embedded implements generate.Model.
func (m model) Embedded() bool { return m.LLM.Platform }
