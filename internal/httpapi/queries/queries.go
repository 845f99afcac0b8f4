// Package queries holds the handlers of the three query operations, whole and streamed, of the query over metadata, and of
// the query history. They map bodies and answers; what a query does is in package query.
package queries

import (
	"net/http"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/query"
	"quarry/internal/query/retrieve"
)

// Area holds the query operations.
type Area struct{ queries *query.Service }

// New returns the area over a service.
func New(s *query.Service) *Area { return &Area{s} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"searchCorpus": a.searchCorpus,
		"queryCorpus":  a.queryCorpus,
		"query":        a.query,
	}
}

func (a *Area) searchCorpus(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	req, err := parseParameters(c.Query, c.Path["corpus_key"])
	if err != nil {
		return err
	}
	return a.whole(w, r, c, req)
}

func (a *Area) queryCorpus(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return a.post(w, r, c, c.Path["corpus_key"])
}

func (a *Area) query(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return a.post(w, r, c, "")
}

func (a *Area) post(w http.ResponseWriter, r *http.Request, c *httpapi.Call, key string) error {
	req, err := parseBody(c.Body, key)
	if err != nil {
		return err
	}
	if err := allowed(c, req.ask.Search.Sources); err != nil {
		return err
	}
	if req.stream {
		return a.stream(w, r, c, req)
	}
	return a.whole(w, r, c, req)
}

// allowed checks the role on every corpus of the body; that of the path has been checked already.
func allowed(c *httpapi.Call, sources []retrieve.Source) error {
	t := authz.Target{}
	for _, s := range sources {
		t.Corpora = append(t.Corpora, s.Corpus)
	}
	rule := authz.Rule{APIRoles: c.Op.APIRoles, CorpusRoles: c.Op.CorpusRoles, AgentRoles: c.Op.AgentRoles}
	if !authz.Allow(c.Principal, rule, t) {
		return fault.Forbidden("querying needs the role viewer or better on every corpus named: %s", strings.Join(t.Corpora, ", "))
	}
	return nil
}

// whole writes the answer in one piece. When only the model has failed, the error keeps the results.
func (a *Area) whole(w http.ResponseWriter, r *http.Request, c *httpapi.Call, req *request) error {
	req.ask.Places = c
	found, err := a.queries.Run(r.Context(), req.ask, nil)
	switch err = fault.Under(err, req.place, req.names); {
	case err != nil && found.Results != nil:
		return httpapi.WithResults(err, wireResults(found.Results))
	case err != nil:
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireAnswer(&found))
}

// stream writes the answer in events. An error before the first event is returned as usual.
func (a *Area) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, req *request) error {
	s := c.Stream(w)
	defer s.Close()
	req.ask.Places = c
	found, err := a.queries.Run(r.Context(), req.ask, func(e query.Event) error { return send(s, e) })
	err = fault.Under(err, req.place, req.names)
	if !s.Begun() {
		return err
	}
	if err != nil {
		_ = s.Fail(err) // the client may be gone
	}
	_ = s.Send("end", doneEvent{"end", found.Warnings})
	return nil
}
