// Package metric counts what the service does, by the minute, and answers with series over time. What belongs together is a
// family: it is counted in one go under the same labels, and each metric shows one side of it. Counts wait in memory for half a
// second, then they are rows that the nodes over one database share.
package metric

import (
	"slices"
	"strconv"

	"quarry/internal/fault"
	"quarry/internal/metric/sketch"
)

// Type is what the points of a metric are, in the contract's words.
type Type string

// The types.
const (
	Counter      Type = "counter"
	Percentiles  Type = "percentiles"
	Distribution Type = "distribution"
)

// Family is what is counted together: some sums, and how many durations were in each bucket.
type Family struct {
	Name   string   // of the rows; it never changes
	About  string   // what the names of its metrics begin with
	Labels []string // that series can be filtered by
	Sums   int      // how many there are
	// Buckets are the smallest durations of all buckets in microseconds, ascending from 0; nil where nothing is measured.
	Buckets []uint64
	Metrics []Descriptor
}

// Descriptor is a metric, as lists show it if it is of a catalogue.
type Descriptor struct {
	Name                               string // in a family without what it begins with
	Category, DisplayName, Description string
	Unit                               string // "" for none
	Type                               Type
	Labels                             []string     // set by NewCatalogue
	Percentiles                        []Percentile // of Percentiles
	Bins                               []Bin        // of Distribution; one for each bucket of the family

	Sum int // of Counter: which of the sums it is

	family *Family
}

// Percentile is one that a metric tells.
type Percentile struct {
	Label string
	Rank  float64 // 0.5 is the median
}

// Bin is a range of values.
type Bin struct {
	Label string
	Min   float64
	Max   *float64 // exclusive; nil of the last one, which is open
}

// Catalogue is all metrics. It does not change.
type Catalogue struct{ all []*Descriptor }

// NewCatalogue returns the catalogue of the metrics of families, in their order.
func NewCatalogue(families ...*Family) *Catalogue {
	c := &Catalogue{}
	for _, f := range families {
		for _, d := range f.Metrics {
			d.family, d.Name, d.Labels = f, f.About+"."+d.Name, f.Labels
			c.all = append(c.all, &d)
		}
	}
	return c
}

// List returns the metrics of some categories, all of them where none is named. A category that has none adds none.
func (c *Catalogue) List(categories []string) []*Descriptor {
	if len(categories) == 0 {
		return c.all
	}
	return slices.DeleteFunc(slices.Clone(c.all), func(d *Descriptor) bool { return !slices.Contains(categories, d.Category) })
}

// Find returns a metric by name, otherwise fault.KindNotFound "metric_not_found".
func (c *Catalogue) Find(name string) (*Descriptor, error) {
	for _, d := range c.all {
		if d.Name == name {
			return d, nil
		}
	}
	return nil, fault.NotFound("metric_not_found", name, "there is no metric %q; the list of metrics has the names", name)
}

// percentiles are those that every metric of durations tells.
var percentiles = []Percentile{{"p50", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}}

// edges are where the bins of durations of calls begin, in milliseconds.
var edges = []uint64{0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000}

// bins returns the bins between edges.
func bins() []Bin {
	out := make([]Bin, len(edges))
	for i, edge := range edges {
		from := strconv.FormatUint(edge, 10)
		out[i] = Bin{Label: from + "+", Min: float64(edge)}
		if i+1 < len(edges) {
			out[i].Label, out[i].Max = from+"-"+strconv.FormatUint(edges[i+1], 10), new(float64(edges[i+1]))
		}
	}
	return out
}

// buckets returns edges as the smallest durations of buckets.
func buckets() []uint64 {
	out := make([]uint64, len(edges))
	for i, edge := range edges {
		out[i] = edge * 1000
	}
	return out
}

// The labels.
const (
	agentKeys  = "agent_keys"
	modelNames = "model_names"
	toolNames  = "tool_names"
	corpusKeys = "corpus_keys"
)

// The families of agents, and that of queries.
var (
	Traces = &Family{
		Name: "agent.trace", About: "agent.trace", Labels: []string{agentKeys}, Sums: 2, Buckets: sketch.Bounds,
		Metrics: []Descriptor{
			{Name: "count", Category: "agent", DisplayName: "Traces", Description: "Turns of agents that have ended, with all that they had other agents do counted as one.", Type: Counter},
			{Name: "error_count", Category: "agent", DisplayName: "Failed traces", Description: "Turns of agents that have ended in an error.", Type: Counter, Sum: 1},
			{Name: "duration_ms", Category: "agent", DisplayName: "Duration of traces", Description: "How long turns of agents took, with all that they had other agents do.", Unit: "ms", Type: Percentiles, Percentiles: percentiles},
		},
	}
	Tokens = &Family{
		Name: "agent.tokens", About: "agent.trace", Labels: []string{agentKeys, modelNames}, Sums: 2,
		Metrics: []Descriptor{
			{Name: "input_tokens", Category: "agent", DisplayName: "Input tokens", Description: "Tokens that agents had language models read.", Unit: "tokens", Type: Counter},
			{Name: "output_tokens", Category: "agent", DisplayName: "Output tokens", Description: "Tokens that language models wrote for agents.", Unit: "tokens", Type: Counter, Sum: 1},
		},
	}
	Tools = &Family{
		Name: "agent.tool", About: "agent.tool", Labels: []string{agentKeys, toolNames}, Sums: 2, Buckets: buckets(),
		Metrics: []Descriptor{
			{Name: "call_count", Category: "agent", DisplayName: "Tool calls", Description: "Calls of tools by agents that have ended.", Type: Counter},
			{Name: "error_count", Category: "agent", DisplayName: "Failed tool calls", Description: "Calls of tools by agents that have failed.", Type: Counter, Sum: 1},
			{Name: "duration_ms", Category: "agent", DisplayName: "Duration of tool calls", Description: "How long calls of tools took, failed ones too.", Unit: "ms", Type: Distribution, Bins: bins()},
		},
	}
	Queries = &Family{
		Name: "query", About: "query", Labels: []string{corpusKeys}, Sums: 1, Buckets: sketch.Bounds,
		Metrics: []Descriptor{
			{Name: "count", Category: "query", DisplayName: "Queries", Description: "Queries that were answered, kept in the history or not.", Type: Counter},
			{Name: "duration_ms", Category: "query", DisplayName: "Duration of queries", Description: "How long queries took until the answer was complete, with the text that a model wrote for it.", Unit: "ms", Type: Percentiles, Percentiles: percentiles},
		},
	}
)
