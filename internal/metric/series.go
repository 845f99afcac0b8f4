package metric

import (
	"math"
	"time"

	"quarry/internal/metric/sketch"
)

// Series is the points of a metric over a span of time.
type Series struct {
	Metric *Descriptor
	Bin    time.Duration // length of a bin; the first one may be shorter
	Points []Point
}

// Point is a bin. Where a metric measures, bins without data have no point.
type Point struct {
	Start       time.Time // UTC
	Value       uint64    // of Counter
	Percentiles []float64 // by the percentiles of the metric
	Counts      []uint64  // by the bins of the metric
}

// window is bins of equal length, in minutes since 1970. The last one ends at to; the first one begins at from and may be shorter.
type window struct {
	from, to int64
	size     int64
	bins     int64
}

// sizes are the lengths of bins below whole days, in minutes.
var sizes = []int64{1, 5, 15, 60, 360}

const dayMinutes = 24 * 60

// newWindow returns the window between two moments, both rounded up to a minute, with the shortest bins of which most are enough.
func newWindow(start, end time.Time, most int64) window {
	w := window{from: ceil(start), to: ceil(end)}
	length := w.to - w.from
	for _, size := range sizes {
		if length <= size*most {
			w.size = size
			break
		}
	}
	if w.size == 0 {
		w.size = max(1, (length+most*dayMinutes-1)/(most*dayMinutes)) * dayMinutes
	}
	w.bins = (length + w.size - 1) / w.size
	return w
}

// ceil returns the first minute that begins at t or later.
func ceil(t time.Time) int64 {
	minute := t.Unix() / 60
	if t.After(time.Unix(minute*60, 0)) {
		minute++
	}
	return minute
}

// start returns when a bin begins.
func (w window) start(bin int64) time.Time {
	return time.Unix(max(w.from, w.to-(w.bins-bin)*w.size)*60, 0).UTC()
}

// tally is what the bins of a window have.
type tally struct {
	window
	metric *Descriptor
	sums   []uint64   // by bin, of Counter
	counts [][]uint64 // by bin and bucket, of the others; nil for a bin without data
}

func newTally(d *Descriptor, w window) *tally {
	t := &tally{window: w, metric: d}
	if d.Type == Counter {
		t.sums = make([]uint64, w.bins)
	} else {
		t.counts = make([][]uint64, w.bins)
	}
	return t
}

// add adds the cells of a block that lie in the window.
func (t *tally) add(began int64, b Block) error {
	sums, at := uvarint(b, 0)
	if at == 0 || sums > maxSums {
		return errBlock
	}
	minute := began
	bin, end := int64(-1), t.to-t.bins*t.size // where the bin ends; cells ascend, so it does
	for at < len(b) {
		gap, next := uvarint(b, at)
		if next == 0 {
			return errBlock
		}
		if minute += int64(gap); minute >= t.to {
			break
		}
		sum := uint64(0)
		for i := range int(sums) {
			n, after := uvarint(b, next)
			if after == 0 {
				return errBlock
			}
			if next = after; i == t.metric.Sum {
				sum = n
			}
		}
		size, counts := uvarint(b, next)
		if counts == 0 || size > uint64(len(b)-counts) {
			return errBlock
		}
		at = counts + int(size)
		if minute < t.from {
			continue
		}
		if minute >= end {
			step := (minute-end)/t.size + 1
			bin, end = bin+step, end+step*t.size
		}
		if t.sums != nil {
			t.sums[bin] += sum
		} else if err := t.addCounts(bin, b[counts:at]); err != nil {
			return err
		}
	}
	return nil
}

// addCounts adds the counts of a cell to a bin.
func (t *tally) addCounts(bin int64, raw []byte) error {
	into := t.counts[bin]
	if into == nil {
		into = make([]uint64, len(t.metric.family.Buckets))
		t.counts[bin] = into
	}
	bucket := uint64(0)
	for at := 0; at < len(raw); {
		if at+1 < len(raw) && raw[at]|raw[at+1] < 0x80 { // two small numbers, as most are
			if bucket += uint64(raw[at]); bucket >= uint64(len(into)) {
				return errBlock
			}
			into[bucket] += uint64(raw[at+1])
			at += 2
			continue
		}
		gap, next := uvarint(raw, at)
		n, end := uvarint(raw, next)
		bucket += gap
		if next == 0 || end == 0 || bucket >= uint64(len(into)) {
			return errBlock
		}
		into[bucket] += n
		at = end
	}
	return nil
}

// points returns the points of the window.
func (t *tally) points() []Point {
	out := []Point{}
	for bin := range t.bins {
		p := Point{Start: t.start(bin)}
		if t.sums != nil {
			p.Value = t.sums[bin]
			out = append(out, p)
			continue
		}
		counts := t.counts[bin]
		if counts == nil {
			continue
		}
		p.Counts = counts
		if t.metric.Type == Percentiles {
			p.Counts = nil
			for _, x := range t.metric.Percentiles {
				p.Percentiles = append(p.Percentiles, milliseconds(sketch.Value(sketch.Percentile(counts, x.Rank))))
			}
		}
		out = append(out, p)
	}
	return out
}

// milliseconds returns microseconds as milliseconds, without digits that mean nothing.
func milliseconds(us float64) float64 { return math.Round(us*1e3) / 1e6 }
