package app

import (
	"log/slog"

	"quarry/internal/answer/generate"
	"quarry/internal/answer/summarize"
	"quarry/internal/answer/verify"
	"quarry/internal/answer/verify/correct"
	"quarry/internal/config"
	"quarry/internal/httpapi"
	httpconsistency "quarry/internal/httpapi/consistency"
	httpgeneration "quarry/internal/httpapi/generation"
	httpsummaries "quarry/internal/httpapi/summaries"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/presets"
)

// answerServices make answers from passages, and score and correct texts.
type answerServices struct {
	presets  *generate.Presets
	verify   *verify.Service
	correct  *correct.Service
	generate *generate.Service

	summarize *summarize.Service
}

func newAnswer(cfg config.Config, db *store.DB, c *corpusServices, models llm.Models, log *slog.Logger) answerServices {
	kept := generate.NewPresets(presets.New(db), models)
	e, _ := c.encoders.Find("") // the default is always there
	checker := verify.New(verify.Config{Encoder: e, Models: models, Judge: cfg.ConsistencyJudge, Log: log})
	corrector := correct.New(correct.Config{Verify: checker, Models: models, Model: cfg.ConsistencyJudge})
	return answerServices{
		presets: kept, verify: checker, correct: corrector, generate: generate.New(kept, models, checker, log),
		summarize: summarize.New(c.documents, models, c.encoders),
	}
}

// areas returns the handlers of these services.
func (a answerServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{httpconsistency.New(a.verify, a.correct), httpgeneration.New(a.presets, cursors), httpsummaries.New(a.summarize)}
}
