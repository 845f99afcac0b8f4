package app

import (
	"log/slog"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/config"
	"quarry/internal/httpapi"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/query"
	"quarry/internal/query/history"
	"quarry/internal/query/rephrase"
	"quarry/internal/query/retrieve"
	"quarry/internal/query/rewrite"
	"quarry/internal/store"
	"quarry/internal/store/queries"
)

// queryServices find passages, answer from them, and keep what was asked.
type queryServices struct {
	retrieve *retrieve.Service
	history  *history.Service
	query    *query.Service
}

func newQuery(cfg config.Config, db *store.DB, c *corpusServices, answers *generate.Service, models llm.Models, seen query.Observer, log *slog.Logger) queryServices {
	finder := retrieve.New(c.rows, c.replicas, c.texts, c.encoders)
	kept := history.New(queries.New(db), time.Duration(cfg.HistoryDays)*24*time.Hour, log)
	return queryServices{finder, kept, query.New(query.Config{
		Searcher: finder, Rephraser: rephrase.New(models, log), Rewriter: rewrite.New(models, log), Planner: answers, History: kept, Models: models,
		Observer: seen, MaxCorpora: int(cfg.MaxQueryCorpora),
	})}
}

// areas returns the handlers of these services.
func (q queryServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{httpqueries.New(q.query), httpqueries.NewHistory(q.history, cursors)}
}
