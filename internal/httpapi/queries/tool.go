package queries

import (
	"context"
	"encoding/json"

	"quarry/internal/agent/tool/mask"
	toolsearch "quarry/internal/agent/tool/search"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/query"
	"quarry/internal/query/history"
)

// Searcher runs the queries of agents' tools, which are written as those of clients are. It is a search.Searcher.
type Searcher struct{ queries *query.Service }

// NewSearcher returns the searcher over a service.
func NewSearcher(s *query.Service) *Searcher { return &Searcher{s} }

// Check implements search.Searcher.
func (s *Searcher) Check(request json.RawMessage) error {
	r, err := parseTool(request)
	if err != nil {
		return err
	}
	f := fault.Invalid()
	s.queries.CheckAhead(&r.Ask, f)
	return r.Fault(f.Err())
}

// Search implements search.Searcher.
func (s *Searcher) Search(ctx context.Context, q toolsearch.Query) (json.RawMessage, error) {
	r, err := parseTool(q.Request)
	if err != nil {
		return nil, err
	}
	r.Ask.Label = func(to *history.Record) bool {
		to.AgentKey, to.SessionKey = q.Agent, q.Session
		hide(to, q.Mask)
		return true
	}
	found, err := s.queries.Run(ctx, r.Ask, nil)
	if err != nil {
		return nil, r.Fault(err)
	}
	return json.Marshal(WireAnswer(&found))
}

// parseTool parses a request whose fields faults name as they are.
func parseTool(raw json.RawMessage) (*Request, error) {
	var b body
	if err := httpapi.Unmarshal(raw, &b); err != nil {
		return nil, err
	}
	return b.parse("", "")
}

// hide replaces secrets in the words of a record. What was found is the corpus's own.
func hide(r *history.Record, m *mask.Mask) {
	if m == nil {
		return
	}
	r.Text, r.Request = m.Text(r.Text), m.JSON(r.Request)
	if r.Generation != nil {
		r.Generation = new(m.Text(*r.Generation))
	}
	for i := range r.Spans {
		s := &r.Spans[i]
		s.Rephrased, s.Prompt, s.Generation = m.Text(s.Rephrased), m.Text(s.Prompt), m.Text(s.Generation)
	}
}
