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
	if err := Allowed(c, req.Ask.Search.Sources); err != nil {
		return err
	}
	if req.Stream {
		return a.stream(w, r, c, req)
	}
	return a.whole(w, r, c, req)
}

// Allowed checks the role on every corpus of the body; that of the path has been checked already.
func Allowed(c *httpapi.Call, sources []retrieve.Source) error {
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

// whole writes the answer in one piece.
func (a *Area) whole(w http.ResponseWriter, r *http.Request, c *httpapi.Call, req *Request) error {
	req.Ask.Places = c
	found, err := a.queries.Run(r.Context(), req.Ask, nil)
	if err != nil {
		return req.Failed(err, &found)
	}
	return httpapi.WriteJSON(w, http.StatusOK, WireAnswer(&found))
}

// stream writes the answer in events. An error before the first event is returned as usual.
func (a *Area) stream(w http.ResponseWriter, r *http.Request, c *httpapi.Call, req *Request) error {
	s := NewStream(w, c)
	defer s.Close()
	req.Ask.Places = c
	found, err := a.queries.Run(r.Context(), req.Ask, s.Event)
	return s.End(req.Fault(err), found.Warnings)
}

// Failed returns the error of an answer in one piece. When only the model has failed, it keeps the results.
func (r *Request) Failed(err error, found *query.Answer) error {
	if err = r.Fault(err); found.Results == nil {
		return err
	}
	return httpapi.WithResults(err, wireResults(found.Results))
}
