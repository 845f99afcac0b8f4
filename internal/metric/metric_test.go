package metric_test

import (
	"log/slog"
	"testing"
	"time"

	"quarry/internal/metric"
	"quarry/internal/store"
	"quarry/internal/store/metrics"
	"quarry/internal/store/storetest"
)

// catalogue is what the service counts.
var catalogue = metric.NewCatalogue(metric.Traces, metric.Tokens, metric.Tools, metric.Queries)

// node is a process that counts.
type node struct {
	*metric.Recorder
	*metric.Service
	store *metrics.Store
}

func newNode(db *store.DB) node {
	s := metrics.New(db)
	r := metric.NewRecorder(s, slog.New(slog.DiscardHandler))
	return node{r, metric.New(catalogue, s, r), s}
}

// open returns a node over a database of its own.
func open(t *testing.T) node {
	t.Helper()
	return newNode(storetest.Open(t, store.Config{Dir: t.TempDir()}))
}

// series returns a series, which must be one.
func (n node) series(t *testing.T, name string, a metric.Ask) metric.Series {
	t.Helper()
	d, err := n.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	a.Metric = d
	if a.Bins == 0 {
		a.Bins = 60
	}
	s, err := n.Series(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sum returns what a counter has counted in the last hour.
func (n node) sum(t *testing.T, name string, labels map[string][]string) (total uint64) {
	t.Helper()
	now := time.Now()
	for _, p := range n.series(t, name, metric.Ask{Start: now.Add(-time.Hour), End: now, Labels: labels}).Points {
		total += p.Value
	}
	return total
}
