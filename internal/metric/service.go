package metric

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"quarry/internal/fault"
)

// Service answers with series. Safe for concurrent use.
type Service struct {
	*Catalogue
	store    Store
	recorder *Recorder
}

// New returns a service over what a recorder counts.
func New(c *Catalogue, s Store, r *Recorder) *Service { return &Service{c, s, r} }

// Ask is what a series is asked for.
type Ask struct {
	Metric *Descriptor
	Start  time.Time // inclusive
	End    time.Time // exclusive
	Bins   int       // at most this many points, 1 to MaxBins
	// Labels are the values that count, by label: one of them for each label. Empty takes everything.
	Labels map[string][]string
}

const (
	// MaxBins bounds the points of a series.
	MaxBins = 1000
	// reach is how long ago a series may begin, and grace what a request may take to arrive.
	reach = 30 * 24 * time.Hour
	grace = time.Minute
	// maxDays is the longest bin: its seconds have to fit into 32 bits.
	maxDays = 24_855
)

// Series returns the points of a metric. What this node has counted is in it; what other nodes have, at most a second later.
func (s *Service) Series(ctx context.Context, a Ask) (Series, error) {
	f := fault.Invalid()
	if a.Start.Before(time.Now().Add(-reach - grace)) {
		f.Field("start", "must be at most 30 days ago")
	}
	if !a.End.After(a.Start) {
		f.Field("end", "must be after start")
	}
	if a.Bins < 1 || a.Bins > MaxBins {
		f.Field("max_bins", "must be between 1 and %d", MaxBins)
	}
	match := a.match(f)
	if err := f.Err(); err != nil {
		return Series{}, err
	}
	w := newWindow(a.Start, a.End, int64(a.Bins))
	if w.size > maxDays*dayMinutes {
		return Series{}, fault.InvalidField("end", "must be at most %d days times max_bins after start", maxDays)
	}
	_ = s.recorder.Flush(ctx) // Run reports what is wrong; what can't be written is in no series until it can
	t := newTally(a.Metric, w)
	if err := s.store.Read(ctx, Selection{Family: a.Metric.family.Name, From: w.from, To: w.to, Match: match}, t.add); err != nil {
		return Series{}, err
	}
	return Series{Metric: a.Metric, Bin: time.Duration(w.size) * time.Minute, Points: t.points()}, nil
}

// match returns what reports whether a combination has the values that are asked for, nil where all have; it adds labels that the
// metric doesn't have to f.
func (a *Ask) match(f *fault.Fault) func(Combination) bool {
	if len(a.Labels) == 0 {
		return nil
	}
	wanted := make([][]string, len(a.Metric.Labels))
	for _, label := range slices.Sorted(maps.Keys(a.Labels)) {
		i := slices.Index(a.Metric.Labels, label)
		if i < 0 {
			f.Field("labels", "names %q, which is no label of %s; it has %s", label, a.Metric.Name, strings.Join(a.Metric.Labels, " and "))
			continue
		}
		wanted[i] = a.Labels[label]
	}
	return func(c Combination) bool {
		values, err := c.Values()
		if err != nil || len(values) != len(wanted) {
			return false
		}
		for i, of := range wanted {
			if of != nil && !slices.ContainsFunc(values[i], func(v string) bool { return slices.Contains(of, v) }) {
				return false
			}
		}
		return true
	}
}
