package main

import (
	"context"
	"hash/fnv"
	"path/filepath"
	"strings"

	"quarry/internal/app"
	"quarry/internal/opt"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
)

// asked is a query with the results of the default search.
type asked struct {
	Set   string
	Train bool
	Found []found
}

// found is a result.
type found struct {
	Cosine, BM25, Full float64
	Relevant           bool
}

// group returns the set that the query counts for in the fit. XQuAD's languages other than English are one set, since they
// are translations of the same questions.
func (a *asked) group() string {
	if strings.HasPrefix(a.Set, "xquad/") && a.Set != "xquad/en" {
		return "xquad/others"
	}
	return a.Set
}

// ask runs the queries of d and its training queries, and keeps the results. The queries of a collection without training
// queries are divided by a hash of their id.
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
		_, _ = h.Write([]byte(id)) // never fails
		return !has && h.Sum32()%2 == 0
	})
}

func (b *bench) askEach(ctx context.Context, name string, d *evaluate.Dataset, e *app.Evaluation, train func(id string) bool) error {
	for _, q := range d.Queries {
		ranked, err := e.Retrieve().Rank(ctx, retrieve.Query{
			Text: evaluate.Plain(q.Text), Limit: 100, Reranker: rerank.Spec{Type: "none"}, BestPerDocument: true,
			Sources: []retrieve.Source{{Corpus: app.EvaluationCorpus, Lambda: opt.Some(retrieve.DefaultLambda)}},
		})
		if err != nil {
			return err
		}
		a := asked{Set: name, Train: train(q.ID)}
		for _, r := range ranked {
			a.Found = append(a.Found, found{r.Signals.Cosine, r.Signals.BM25, r.Signals.Full, d.Judged[q.ID][r.DocumentID] > 0})
		}
		b.asked = append(b.asked, a)
	}
	return nil
}
