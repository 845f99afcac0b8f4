package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/fault"
	"quarry/internal/metric"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
)

// naive answers from a list of events as the contract says, by looking at each of them for each bin.
type naive struct {
	metric *metric.Descriptor
	events []metric.Event
}

func (n naive) series(a metric.Ask) metric.Series {
	up := func(t time.Time) time.Time {
		if cut := t.UTC().Truncate(time.Minute); cut.Before(t) {
			return cut.Add(time.Minute)
		}
		return t.UTC()
	}
	start, end := up(a.Start), up(a.End)
	out := metric.Series{Metric: n.metric, Points: []metric.Point{}}
	sizes := []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour}
	for days := 1; days <= 31; days++ {
		sizes = append(sizes, time.Duration(days)*24*time.Hour)
	}
	var starts []time.Time
	for _, out.Bin = range sizes {
		starts = nil
		for at := end; at.After(start) && len(starts) <= a.Bins; at = at.Add(-out.Bin) {
			from := at.Add(-out.Bin)
			if from.Before(start) {
				from = start
			}
			starts = append([]time.Time{from}, starts...)
		}
		if len(starts) <= a.Bins {
			break
		}
	}
	for i, from := range starts {
		to := end
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		if p, ok := n.point(a.Labels, from, to); ok {
			out.Points = append(out.Points, p)
		}
	}
	return out
}

// point returns the bin between two moments.
func (n naive) point(labels map[string][]string, from, to time.Time) (p metric.Point, ok bool) {
	p.Start = from
	var took []float64
	for _, e := range n.events {
		if e.At.Before(from) || !e.At.Before(to) || !n.wanted(e, labels) {
			continue
		}
		if n.metric.Type == metric.Counter {
			p.Value += e.Sums[n.metric.Sum]
		}
		took = append(took, float64(e.Took.Microseconds())/1000)
	}
	if n.metric.Type == metric.Counter {
		return p, true
	}
	if len(took) == 0 {
		return p, false
	}
	slices.Sort(took)
	for _, x := range n.metric.Percentiles {
		p.Percentiles = append(p.Percentiles, took[max(1, int(math.Ceil(x.Rank*float64(len(took))-1e-9)))-1])
	}
	if n.metric.Type == metric.Distribution {
		p.Counts = make([]uint64, len(n.metric.Bins))
		for _, ms := range took {
			for i, b := range n.metric.Bins {
				if ms >= b.Min && (b.Max == nil || ms < *b.Max) {
					p.Counts[i]++
				}
			}
		}
	}
	return p, true
}

func (n naive) wanted(e metric.Event, labels map[string][]string) bool {
	for i, label := range n.metric.Labels {
		some := labels[label] == nil
		for _, v := range labels[label] {
			some = some || slices.Contains(e.Labels[i], v)
		}
		if !some {
			return false
		}
	}
	return true
}

// TestSeries proves on both databases that series of random windows, filters and sizes of bins are those of a naive model, however
// far the rows are merged, and that a new process sees the same.
func TestSeries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(_ *testing.T, db *store.DB) *store.DB { return db }, map[string]func(*testing.T, *store.DB){
		"queries": func(t *testing.T, db *store.DB) { compare(t, db, metric.Queries) },
		"traces":  func(t *testing.T, db *store.DB) { compare(t, db, metric.Traces) },
		"tokens":  func(t *testing.T, db *store.DB) { compare(t, db, metric.Tokens) },
		"tools":   func(t *testing.T, db *store.DB) { compare(t, db, metric.Tools) },
	})
}

// compare counts random events of a family and compares its series with those of the model, in each state of the rows.
func compare(t *testing.T, db *store.DB, f *metric.Family) {
	random := rand.New(rand.NewPCG(7, uint64(len(f.Name))))
	n := newNode(db)
	now := time.Now().UTC()
	var events []metric.Event
	count := func(many int, span time.Duration) {
		for range many {
			e := randomEvent(random, f, now.Add(-time.Duration(random.Int64N(int64(span)))))
			events = append(events, e)
			n.Count(f, e)
		}
		if err := n.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(state string) {
		t.Helper()
		for range 12 {
			for _, d := range f.Metrics {
				found, err := n.Find(f.About + "." + d.Name)
				if err != nil {
					t.Fatal(err)
				}
				a := randomAsk(random, found, now)
				got, err := n.Series(t.Context(), a)
				want := naive{found, events}.series(a)
				// A percent of what is true is a little more of the smaller one.
				near := cmp.Options{cmpopts.EquateApprox(0.0102, 0), cmpopts.IgnoreUnexported(metric.Descriptor{}), cmpopts.EquateEmpty()}
				if diff := cmp.Diff(want, got, near); diff != "" || err != nil {
					t.Fatalf("%s: %+v: %v (-want +got): %s", state, a, err, diff)
				}
			}
		}
	}
	all := func(step func(time.Time) (bool, error), before time.Time) {
		t.Helper()
		for more := true; more; {
			var err error
			if more, err = step(before); err != nil {
				t.Fatal(err)
			}
		}
	}
	merge := func(before time.Time) (bool, error) { return n.store.Merge(t.Context(), before) }
	pack := func(before time.Time) (bool, error) { return n.store.Pack(t.Context(), before) }
	for range 3 {
		count(150, 30*24*time.Hour)
	}
	check("batches")
	all(merge, time.Now().Add(time.Hour))
	check("hours")
	count(200, 3*24*time.Hour)
	count(100, time.Hour)
	check("hours and batches")
	all(pack, now.Add(-24*time.Hour).Truncate(24*time.Hour))
	check("days, hours and batches")
	all(merge, time.Now().Add(time.Hour))
	all(pack, now.Truncate(24*time.Hour))
	count(50, 30*24*time.Hour) // late ones
	all(merge, time.Now().Add(time.Hour))
	all(pack, now.Add(24*time.Hour))
	check("days")
	n = newNode(db)
	check("another process")
}

// randomEvent returns an event with up to three values of each label.
func randomEvent(random *rand.Rand, f *metric.Family, at time.Time) metric.Event {
	e := metric.Event{At: at, Took: time.Duration(math.Exp(random.NormFloat64()*3+9)) * time.Microsecond}
	for range f.Labels {
		var values []string
		for range 1 + random.IntN(3) {
			values = append(values, string(rune('a'+random.IntN(5))))
		}
		e.Labels = append(e.Labels, values)
	}
	for range f.Sums {
		e.Sums = append(e.Sums, random.Uint64N(2000))
	}
	return e
}

// randomAsk returns a window of the last 30 days, from seconds to all of them, with a filter at times.
func randomAsk(random *rand.Rand, d *metric.Descriptor, now time.Time) metric.Ask {
	const reach = 30 * 24 * time.Hour
	length := time.Duration(math.Exp(random.Float64() * math.Log(float64(reach))))
	start := now.Add(-length - time.Duration(random.Int64N(int64(reach-length)+1)))
	a := metric.Ask{Metric: d, Start: start, End: start.Add(length), Bins: 1 + random.IntN(1+int(math.Exp(random.Float64()*math.Log(999)))), Labels: map[string][]string{}}
	if random.IntN(3) == 0 { // whole minutes
		a.Start, a.End = a.Start.Truncate(time.Minute).Add(time.Minute), a.End.Truncate(time.Minute).Add(2*time.Minute)
	}
	for _, label := range d.Labels {
		for range random.IntN(4) {
			a.Labels[label] = append(a.Labels[label], string(rune('a'+random.IntN(6))))
		}
	}
	return a
}

// TestBins proves the choice of bins for windows of each length: the shortest of which max_bins are enough, the last ending at the
// end, the first cut at the start.
func TestBins(t *testing.T) {
	t.Parallel()
	n := open(t)
	end := time.Now().Truncate(time.Minute)
	for _, c := range []struct {
		length time.Duration
		most   int
		bin    time.Duration
		points int
	}{
		{time.Minute, 60, time.Minute, 1},
		{time.Hour, 60, time.Minute, 60},
		{time.Hour + time.Second, 60, 5 * time.Minute, 13}, // the start is rounded up, the end is a whole minute
		{time.Hour + time.Minute, 60, 5 * time.Minute, 13},
		{5 * time.Hour, 60, 5 * time.Minute, 60},
		{5*time.Hour + time.Minute, 60, 15 * time.Minute, 21},
		{15 * time.Hour, 60, 15 * time.Minute, 60},
		{24 * time.Hour, 60, time.Hour, 24},
		{60*time.Hour + time.Minute, 60, 6 * time.Hour, 11},
		{15 * 24 * time.Hour, 60, 6 * time.Hour, 60},
		{30 * 24 * time.Hour, 60, 24 * time.Hour, 30},
		{30 * 24 * time.Hour, 29, 2 * 24 * time.Hour, 15},
		{30 * 24 * time.Hour, 7, 5 * 24 * time.Hour, 6},
		{30 * 24 * time.Hour, 1, 30 * 24 * time.Hour, 1},
		{30 * 24 * time.Hour, 1000, time.Hour, 720},
		{1000 * time.Minute, 1000, time.Minute, 1000},
		{1001 * time.Minute, 1000, 5 * time.Minute, 201},
	} {
		start := end.Add(-c.length)
		if c.length%time.Minute != 0 { // a second before the minute that begins the last hour
			c.length = c.length.Truncate(time.Minute)
			c.bin, c.points = time.Minute, 60
		}
		got := n.series(t, "query.count", metric.Ask{Start: start, End: end, Bins: c.most})
		if got.Bin != c.bin || len(got.Points) != c.points {
			t.Errorf("%v in %d: %d bins of %v, want %d of %v", c.length, c.most, len(got.Points), got.Bin, c.points, c.bin)
			continue
		}
		if last := got.Points[len(got.Points)-1].Start; len(got.Points) > 1 && !last.Add(c.bin).Equal(end) {
			t.Errorf("%v in %d: the last bin begins at %v, want %v", c.length, c.most, last, end.Add(-c.bin))
		}
		if first := got.Points[0].Start; !first.Equal(end.Add(-c.length)) {
			t.Errorf("%v in %d: the first bin begins at %v, want %v", c.length, c.most, first, end.Add(-c.length))
		}
	}
	if got := n.series(t, "query.count", metric.Ask{Start: end.Add(time.Second), End: end.Add(30 * time.Second)}); len(got.Points) != 0 {
		t.Errorf("no minute ends in the window, and there are points %v", got.Points)
	}
}

// TestLabels proves that a query over several corpora counts for each of them, but once where both are asked for and in the total.
func TestLabels(t *testing.T) {
	t.Parallel()
	n := open(t)
	n.Searched([]string{"a", "b"}, time.Second)
	n.Searched([]string{"b", "a", "b"}, time.Second)
	n.Searched([]string{"b"}, time.Second)
	n.Searched([]string{"c", "ä\"\x00"}, time.Second)
	for _, c := range []struct {
		keys []string
		want uint64
	}{{nil, 4}, {[]string{"a"}, 2}, {[]string{"b"}, 3}, {[]string{"a", "b"}, 3}, {[]string{"a", "c"}, 3}, {[]string{"ä\"\x00"}, 1}, {[]string{"d"}, 0}} {
		labels := map[string][]string{}
		if c.keys != nil {
			labels["corpus_keys"] = c.keys
		}
		if got := n.sum(t, "query.count", labels); got != c.want {
			t.Errorf("%v: %d queries, want %d", c.keys, got, c.want)
		}
	}
}

// TestAskRefused proves that each fault of a request is named.
func TestAskRefused(t *testing.T) {
	t.Parallel()
	n := open(t)
	now := time.Now()
	d, err := n.Find("agent.tool.call_count")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field string
		ask   metric.Ask
	}{
		{"", metric.Ask{Start: now.Add(-30 * 24 * time.Hour), End: now, Bins: 1}},
		{"", metric.Ask{Start: now, End: now.Add(24 * 24_855 * time.Hour), Bins: 1}},
		{"start", metric.Ask{Start: now.Add(-30*24*time.Hour - 2*time.Minute), End: now, Bins: 1}},
		{"start", metric.Ask{Start: time.Time{}, End: now, Bins: 1}},
		{"end", metric.Ask{Start: now, End: now, Bins: 1}},
		{"end", metric.Ask{Start: now, End: now.Add(-time.Second), Bins: 1}},
		{"end", metric.Ask{Start: now, End: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Bins: 1}},
		{"max_bins", metric.Ask{Start: now.Add(-time.Hour), End: now}},
		{"max_bins", metric.Ask{Start: now.Add(-time.Hour), End: now, Bins: 1001}},
		{"labels", metric.Ask{Start: now.Add(-time.Hour), End: now, Bins: 1, Labels: map[string][]string{"corpus_keys": {"a"}}}},
	} {
		c.ask.Metric = d
		_, err := n.Series(t.Context(), c.ask)
		var fields []string
		if f, ok := fault.As(err); ok {
			fields = f.Paths()
		}
		if want := []string{c.field}; c.field == "" && err != nil || c.field != "" && !slices.Equal(fields, want) {
			t.Errorf("%+v: %v, want %q refused", c.ask, err, c.field)
		}
	}
	if _, err := n.Find("agent.nothing"); err == nil {
		t.Error("a metric that doesn't exist is found")
	}
}

// TestPoints proves that empty bins are zero in counters and left out elsewhere, and that values have milliseconds.
func TestPoints(t *testing.T) {
	t.Parallel()
	n := open(t)
	end := time.Now().Truncate(time.Minute).Add(-time.Minute)
	for minute, took := range map[int]time.Duration{1: 2 * time.Millisecond, 3: 5 * time.Minute} {
		n.Count(metric.Tools, metric.Event{At: end.Add(time.Duration(-minute) * time.Minute), Labels: [][]string{{"a"}, {"t"}}, Sums: []uint64{1, 0}, Took: took})
		n.Count(metric.Queries, metric.Event{At: end.Add(time.Duration(-minute) * time.Minute), Labels: [][]string{{"c"}}, Sums: []uint64{1}, Took: took})
	}
	a := metric.Ask{Start: end.Add(-4 * time.Minute), End: end}
	var got []string
	for _, name := range []string{"query.count", "query.duration_ms", "agent.tool.duration_ms"} {
		for _, p := range n.series(t, name, a).Points {
			got = append(got, fmt.Sprintf("%v %d %.3v %d", p.Start.Sub(a.Start), p.Value, p.Percentiles, p.Counts))
		}
	}
	want := []string{
		"0s 0 [] []", "1m0s 1 [] []", "2m0s 0 [] []", "3m0s 1 [] []",
		"1m0s 0 [3.02e+05 3.02e+05 3.02e+05 3.02e+05] []", "3m0s 0 [1.98 1.98 1.98 1.98] []",
		"1m0s 0 [] [0 0 0 0 0 0 0 0 0 0 0 0 1]", "3m0s 0 [] [0 1 0 0 0 0 0 0 0 0 0 0 0]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("points (-want +got):", diff)
	}
}
