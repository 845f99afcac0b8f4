// Package analytics is the HTTP handlers of what agents have done: traces and their spans, and of metrics. wire.go and metricswire.go
// are the only places where their wire types meet packages trace and metric, which have the rules. Package app makes the areas.
package analytics

import (
	"net/http"
	"strconv"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
	"quarry/internal/trace"
)

// Traces answers the operations of traces.
type Traces struct {
	traces  *trace.Service
	cursors *page.Cursors
}

// NewTraces returns the area; cursors sign its page keys.
func NewTraces(s *trace.Service, cursors *page.Cursors) *Traces { return &Traces{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Traces) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"listTraces": a.list, "getTrace": a.get, "listTraceSpans": a.spans, "getTraceSpan": a.span}
}

// reader returns what the caller may see: everything with a role over the account, otherwise what belongs to the agents that it has a
// role on.
func reader(c *httpapi.Call) (r trace.Reader) {
	r.All, r.Agents = c.Agents(c.Op.ID)
	return r
}

func (a *Traces) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("agent_key", "session_key", "status", "error_type", "operation", "tool_name", "tool_error_type", "started_after", "started_before",
		"min_duration_ms", "max_duration_ms")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l, err := conditions(scope.Filters)
	if err != nil {
		return err
	}
	l.After, l.Limit, l.Reader = after, c.Limit(), reader(c)
	found, more, err := a.traces.List(r.Context(), l)
	if err != nil {
		return fault.Under(err, "query")
	}
	out := listBody{Traces: make([]traceBody, len(found))}
	for i := range found {
		out.Traces[i] = wireTrace(&found[i])
	}
	if more {
		out.Metadata.PageKey = a.cursors.Next(scope, found[len(found)-1].Place())
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// conditions returns the list that filters ask for; the chain has checked their words.
func conditions(filters map[string]string) (l trace.List, err error) {
	l = trace.List{
		Agent: filters["agent_key"], Session: filters["session_key"], Class: trace.Class(filters["error_type"]), Operation: trace.Operation(filters["operation"]),
		Tool: filters["tool_name"], ToolClass: trace.Class(filters["tool_error_type"]),
	}
	if status := filters["status"]; status != "" {
		l.Failed = new(status == failed)
	}
	if l.StartedAfter, err = httpapi.Time(filters, "started_after"); err != nil {
		return l, err
	}
	if l.StartedBefore, err = httpapi.Time(filters, "started_before"); err != nil {
		return l, err
	}
	if l.Shortest, err = milliseconds(filters, "min_duration_ms"); err != nil {
		return l, err
	}
	l.Longest, err = milliseconds(filters, "max_duration_ms")
	return l, err
}

// milliseconds returns a filter that is a number of milliseconds, nil if it is not there.
func milliseconds(filters map[string]string, name string) (*int64, error) {
	text, given := filters[name]
	if !given {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fault.InvalidField("query."+name, "must be a number of milliseconds of at most 64 bits, not %s", text)
	}
	return &n, nil
}

func (a *Traces) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.traces.Get(r.Context(), reader(c), c.Path["trace_id"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireTrace(&found))
}

// defaultSpans is the size of a page of spans where a request asks for none.
const defaultSpans = 100

func (a *Traces) spans(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("include_content", "operation", "parent_span_id", "exclude_subagents")
	scope.Filters["trace"] = c.Path["trace_id"]
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := trace.Spans{
		Trace: c.Path["trace_id"], Limit: c.LimitOr(defaultSpans), After: after, Reader: reader(c), Operation: trace.Operation(scope.Filters["operation"]),
		Parent: scope.Filters["parent_span_id"], Own: scope.Filters["exclude_subagents"] == "true", Content: scope.Filters["include_content"] == "true",
	}
	found, more, err := a.traces.Spans(r.Context(), l)
	if err != nil {
		return err
	}
	out := spansBody{Spans: make([]spanBody, len(found))}
	for i := range found {
		out.Spans[i] = wireSpan(&found[i], l.Content)
	}
	if more {
		out.Metadata.PageKey = a.cursors.Next(scope, found[len(found)-1].Place())
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Traces) span(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	content := c.Query.Get("include_content") == "true"
	found, err := a.traces.Span(r.Context(), reader(c), c.Path["trace_id"], c.Path["span_id"], content)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireSpan(&found, content))
}
