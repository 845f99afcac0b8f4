package queries

import (
	"net/http"

	"quarry/internal/httpapi"
	"quarry/internal/page"
	"quarry/internal/query/history"
)

// HistoryArea holds the operations that read the query history.
type HistoryArea struct {
	records history.Records
	cursors *page.Cursors
}

// NewHistory returns the area over r; cursors signs the page keys.
func NewHistory(r history.Records, cursors *page.Cursors) *HistoryArea {
	return &HistoryArea{r, cursors}
}

// Handlers implements httpapi.Area.
func (a *HistoryArea) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"getQueryHistories": a.list, "getQueryHistory": a.get}
}

func (a *HistoryArea) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.records.Get(r.Context(), c.Path["query_id"], reader(c))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireRecord(&found))
}

// list writes a page. With a page key, filters that the request leaves out are those of the previous page.
func (a *HistoryArea) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("corpus_key", "started_after", "started_before", "chat_id", "history_id")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := history.List{
		Limit: c.Limit(), After: after, Reader: reader(c),
		Corpus: scope.Filters["corpus_key"], Chat: scope.Filters["chat_id"], ID: scope.Filters["history_id"],
	}
	if l.StartedAfter, err = httpapi.Time(scope.Filters, "started_after"); err != nil {
		return err
	}
	if l.StartedBefore, err = httpapi.Time(scope.Filters, "started_before"); err != nil {
		return err
	}
	found, more, err := a.records.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := historyPage{Queries: wireSummaries(found)}
	if more {
		last := found[len(found)-1]
		out.Metadata.PageKey = *a.cursors.Next(scope, page.At(last.Started, last.ID))
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// reader returns which records the caller may see: all of them with a role over the account, otherwise those of the
// corpora that it has a role on.
func reader(c *httpapi.Call) history.Reader {
	all, keys := c.Corpora()
	return history.Reader{All: all, Keys: keys}
}
