package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/evaluate"
)

// Report is what an evaluation found.
type Report struct {
	Dataset  string           `json:"dataset"`
	Settings map[string]any   `json:"settings"`
	Runs     []evaluate.Score `json:"runs"`
}

// Progress hears how far an evaluation is: begin starts a stage of n steps and gives the function to call after each.
type Progress func(stage string, n int) (step func())

const evaluationCorpus = "eval"

// Evaluate indexes d in a temporary folder and measures every run of evaluate.Runs on it. It opens no port.
func Evaluate(ctx context.Context, cfg config.Config, d *evaluate.Dataset, progress Progress) (_ *Report, err error) {
	dir, err := os.MkdirTemp("", "quarry-eval-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg.Data, cfg.Listen, cfg.Database = dir, "", ""
	a, err := Open(ctx, cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if _, err := a.Corpora.Create(ctx, corpus.Create{Key: evaluationCorpus}); err != nil {
		return nil, err
	}
	if err := evaluate.Load(ctx, a.Ingest, evaluationCorpus, d, progress("documents", len(d.Documents))); err != nil {
		return nil, err
	}
	report := &Report{Dataset: d.Name, Settings: map[string]any{
		"encoder": a.Encoder(), "documents": len(d.Documents), "lexical_interpolation": evaluate.Runs[2].Lambda,
		"passage": "one part per document, title in force", "max_by": "doc.id",
		"queries": "as plain text: operator characters taken out",
	}}
	for _, run := range evaluate.Runs {
		score, err := evaluate.Measure(ctx, a.Retrieve, evaluationCorpus, d, run, progress(run.Name, len(d.Queries)))
		if err != nil {
			return nil, err
		}
		report.Runs = append(report.Runs, score)
	}
	return report, nil
}
