// Package jobs holds the handlers that list and read background jobs, and of the operations that only start one: deleting
// and changing many documents. The queue is in package job, the operations in package bulk. Package app plugs the area in.
package jobs

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"quarry/internal/api"
	"quarry/internal/corpus/bulk"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/page"
)

// Area answers the operations of jobs.
type Area struct {
	queue   *job.Queue
	bulk    *bulk.Service
	cursors *page.Cursors
}

// New returns the area; cursors sign the page keys.
func New(q *job.Queue, b *bulk.Service, cursors *page.Cursors) *Area { return &Area{q, b, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"listJobs": a.list, "getJob": a.get,
		"bulkDeleteCorpusDocuments": a.bulkDelete, "bulkUpdateCorpusDocumentMetadata": a.bulkUpdate,
	}
}

func (a *Area) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.queue.Get(r.Context(), account, id.Job(c.Path["job_id"]))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireJob(&found))
}

const (
	// account is the one of the installation; see job.Job.
	account = ""
	// maxFilter keeps the statement within what every database takes.
	maxFilter = 1000
)

// filters are the repeated parameters of the list.
var filters = []string{"corpus_key", "state"}

// list answers a page. With a page key, filters that the request leaves out are those of the page before.
func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	l := job.List{Account: account, Limit: c.Limit()}
	scope := c.Scope("after")
	for _, name := range filters {
		values := slices.Compact(slices.Sorted(slices.Values(c.Query[name])))
		if len(values) > maxFilter {
			return fault.InvalidField("query."+name, "must be given at most %d times", maxFilter)
		}
		if len(values) > 0 {
			scope.Filters[name] = strings.Join(values, ",") // neither keys nor states hold commas
		}
	}
	var err error
	if l.Before, err = c.After(a.cursors, &scope); err != nil {
		return err
	}
	if err := read(&l, scope.Filters); err != nil {
		return err
	}
	found, more, err := a.queue.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := api.ListJobsResponse{Jobs: wireJobs(found), Metadata: &api.ListMetadata{}}
	if more {
		last := &found[len(found)-1]
		out.Metadata.PageKey = a.cursors.Next(scope, page.At(last.Created, last.ID))
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// read sets the filters of l from those of a scope.
func read(l *job.List, from map[string]string) error {
	if v := from["corpus_key"]; v != "" {
		l.Corpora = strings.Split(v, ",")
	}
	if v := from["after"]; v != "" {
		var err error
		if l.After, err = time.Parse(time.RFC3339Nano, v); err != nil {
			return fault.InvalidField("query.after", "must be an RFC 3339 instant such as 2031-04-02T08:00:00Z")
		}
	}
	if v := from["state"]; v != "" {
		for _, s := range strings.Split(v, ",") {
			l.States = append(l.States, job.State(s))
		}
	}
	return nil
}
