package analytics

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/metric"
)

// Metrics answers the operations of metrics.
type Metrics struct{ metrics *metric.Service }

// NewMetrics returns the area.
func NewMetrics(s *metric.Service) *Metrics { return &Metrics{s} }

// Handlers implements httpapi.Area.
func (m *Metrics) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"listMetrics": m.list, "getMetric": m.get}
}

// MetricResolver returns a resolver that finds the metric in the path.
func MetricResolver(s *metric.Service) httpapi.Resolver {
	return func(_ context.Context, c *httpapi.Call) error {
		found, err := s.Find(c.Path["metric_name"])
		c.Found = found
		return err
	}
}

func (m *Metrics) list(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	found := m.metrics.List(c.Query["category"])
	out := metricsBody{Metrics: make([]descriptorBody, len(found))}
	for i, d := range found {
		out.Metrics[i] = wireDescriptor(d)
	}
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (m *Metrics) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	ask, err := ask(c)
	if err != nil {
		return err
	}
	s, err := m.metrics.Series(r.Context(), ask)
	if err != nil {
		return fault.Under(err, "query")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireSeries(s, ask.Labels))
}

// defaultBins is how many points a series has at most where the request doesn't say.
const defaultBins = 60

// ask reads what a series is asked for.
func ask(c *httpapi.Call) (a metric.Ask, err error) {
	a.Metric, _ = c.Found.(*metric.Descriptor)
	a.Bins = defaultBins
	if v := c.Query.Get("max_bins"); v != "" {
		a.Bins, _ = strconv.Atoi(v) // the schema has checked it
	}
	bad := fault.Invalid()
	a.Start, a.End = moment(c, "start", bad), moment(c, "end", bad)
	a.Labels = labels(c.Query, bad)
	return a, bad.Err()
}

// moment reads a time that the schema has checked.
func moment(c *httpapi.Call, name string, bad *fault.Fault) time.Time {
	t, err := time.Parse(time.RFC3339, c.Query.Get(name))
	if err != nil {
		bad.Field("query."+name, "must be a date-time such as 2030-01-31T00:00:00Z")
	}
	return t
}

// labels reads the parameters labels[NAME]=VALUE, each as often as it is given.
func labels(query url.Values, bad *fault.Fault) map[string][]string {
	out := map[string][]string{}
	for key, values := range query {
		rest, ok := strings.CutPrefix(key, "labels")
		if !ok || rest != "" && rest[0] != '[' {
			continue
		}
		name, closed := strings.CutSuffix(strings.TrimPrefix(rest, "["), "]")
		if !closed || name == "" {
			bad.Field("query.labels", "must be spelled labels[NAME]=VALUE, with the name of a label of the metric")
			continue
		}
		for _, v := range values {
			if v == "" || !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
				bad.Field("query.labels", "has a value of %q that is empty, no UTF-8 or has the character NUL", name)
			}
		}
		out[name] = values
	}
	return out
}
