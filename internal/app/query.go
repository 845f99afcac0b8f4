package app

import (
	"log/slog"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/config"
	"quarry/internal/httpapi"
	httpqueries "quarry/internal/httpapi/queries"
	"quarry/internal/page"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/store"
	"quarry/internal/store/queries"
)

// queryServices find passages, answer from them, and keep what was asked.
type queryServices struct {
	retrieve *retrieve.Service
	history  *history.Service
	answers  *generate.Service
}

func newQuery(cfg config.Config, db *store.DB, c *corpusServices, answers *generate.Service, log *slog.Logger) queryServices {
	return queryServices{
		retrieve: retrieve.New(c.rows, c.replicas, c.texts, c.encoders),
		history:  history.New(queries.New(db), time.Duration(cfg.HistoryDays)*24*time.Hour, log),
		answers:  answers,
	}
}

// areas returns the handlers of these services.
func (q queryServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{httpqueries.New(q.retrieve, q.answers, q.history), httpqueries.NewHistory(q.history, cursors)}
}
