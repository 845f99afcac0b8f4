package main

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"

	"quarry/internal/app"
	"quarry/internal/evaluate"
	"quarry/internal/rerank"
	"quarry/internal/retrieve"
)

// asked is a query with what the default search found for it.
type asked struct {
	Set   string
	Train bool
	Found []found
}

// found is a result.
type found struct {
	Cosine, BM25 float64
	Relevant     bool
}

// ask runs the queries of d, and those set apart for tuning, and keeps what was found. Queries of collections without
// such a part are divided by the hash of their id.
func (b *bench) ask(ctx context.Context, name string, d *evaluate.Dataset, e *app.Evaluation) error {
	training, has, err := evaluate.ReadTraining(filepath.Join(b.data, name))
	if err != nil {
		return err
	}
	if has {
		if err := b.askEach(ctx, name, training, e, func(string) bool { return true }); err != nil {
			return err
		}
	}
	return b.askEach(ctx, name, d, e, func(id string) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(id)) // a hash never fails to take bytes
		return !has && h.Sum32()%2 == 0
	})
}

func (b *bench) askEach(ctx context.Context, name string, d *evaluate.Dataset, e *app.Evaluation, train func(id string) bool) error {
	for _, q := range d.Queries {
		ranked, err := e.Retrieve().Rank(ctx, retrieve.Query{
			Text: evaluate.Plain(q.Text), Limit: 100, Reranker: rerank.Spec{Type: "none"}, RerankerPath: "reranker", BestPerDocument: true,
			Sources: []retrieve.Source{{Corpus: app.EvaluationCorpus, Lambda: retrieve.DefaultLambda, Path: "query"}},
		})
		if err != nil {
			return err
		}
		a := asked{Set: name, Train: train(q.ID)}
		for _, r := range ranked {
			a.Found = append(a.Found, found{r.Signals.Cosine, r.Signals.BM25, d.Judged[q.ID][r.DocumentID] > 0})
		}
		b.asked = append(b.asked, a)
	}
	return nil
}

func (b *bench) calibration() error {
	if p := os.Getenv("DUMP"); p != "" {
		f, err := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		enc := json.NewEncoder(f)
		for _, a := range b.asked {
			if err := enc.Encode(a); err != nil {
				return err
			}
		}
	}
	return nil
}
