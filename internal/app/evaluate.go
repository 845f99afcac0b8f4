package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"

	"quarry/internal/config"
	"quarry/internal/corpus"
	"quarry/internal/embed"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/retrieve"
)

// Report is the outcome of an evaluation.
type Report struct {
	Dataset  string           `json:"dataset"`
	Settings map[string]any   `json:"settings"`
	Runs     []evaluate.Score `json:"runs"`
}

// Progress follows an evaluation: it starts a stage of n steps and returns the function to call after each.
type Progress func(stage string, n int) (step func())

// Evaluation is a collection indexed in a folder of its own that lasts until Close. It opens no port.
type Evaluation struct {
	app      *App
	dataset  *evaluate.Dataset
	progress Progress
}

// EvaluationCorpus is the key of the corpus that holds the collection.
const EvaluationCorpus = "eval"

// OpenEvaluation indexes d in a temporary folder. encoders, if not nil, may change the encoders first.
func OpenEvaluation(ctx context.Context, cfg config.Config, d *evaluate.Dataset, progress Progress, encoders func(*embed.Registry)) (_ *Evaluation, err error) {
	dir, err := os.MkdirTemp("", "quarry-eval-")
	if err != nil {
		return nil, err
	}
	cfg.Data, cfg.Listen, cfg.Database = dir, "", ""
	a, err := Open(ctx, cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e := &Evaluation{a, d, progress}
	if encoders != nil {
		encoders(a.corpus.encoders)
	}
	if _, err = a.Corpora.Create(ctx, corpus.Create{Key: EvaluationCorpus}); err == nil {
		err = evaluate.Load(ctx, a.Ingest, EvaluationCorpus, d, progress("documents", len(d.Documents)))
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// Retrieve answers queries to EvaluationCorpus.
func (e *Evaluation) Retrieve() *retrieve.Service { return e.app.Retrieve }

// Service returns the whole service behind the evaluation, whose Handler is called without a listener.
func (e *Evaluation) Service() *App { return e.app }

// Measure runs every query of the collection with the settings of each of evaluate.Runs.
func (e *Evaluation) Measure(ctx context.Context) (*Report, error) {
	read, err := e.app.Corpora.Get(ctx, EvaluationCorpus)
	if err != nil {
		return nil, err
	}
	lambda, err := e.app.Retrieve.DefaultLambda(ctx, read)
	if err != nil {
		return nil, err
	}
	report := &Report{Dataset: e.dataset.Name, Settings: map[string]any{
		"encoder": e.app.Encoder(), "documents": len(e.dataset.Documents), "lexical_interpolation": lambda,
		"passage": "one part per document, title in force", "max_by": "doc.id",
		"queries": "as plain text: operator characters taken out",
	}}
	for _, run := range evaluate.Runs {
		score, err := evaluate.Measure(ctx, e.app.Retrieve, EvaluationCorpus, e.dataset, run, e.progress(run.Name, len(e.dataset.Queries)))
		if err != nil {
			return nil, err
		}
		report.Runs = append(report.Runs, score)
	}
	return report, nil
}

// Close closes the service and removes its folder.
func (e *Evaluation) Close() error {
	return errors.Join(e.app.Close(), os.RemoveAll(e.app.cfg.Data))
}

// Evaluate indexes d in a temporary folder and measures every run of evaluate.Runs on it. It opens no port.
func Evaluate(ctx context.Context, cfg config.Config, d *evaluate.Dataset, progress Progress) (_ *Report, err error) {
	e, err := OpenEvaluation(ctx, cfg, d, progress, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return e.Measure(ctx)
}
