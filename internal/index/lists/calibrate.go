package lists

import (
	"cmp"
	"math"
	"slices"
)

const (
	trials      = 200 // rows that are asked for
	trialRecall = 0.99
	trialExtra  = 2   // times the lists that rows want
	leastLists  = 300 // that a search may read where it has to, but no more than leastShare of all
	leastShare  = 0.25
	leastReach  = 0.1
)

// calibrate measures the reach of lists, with which rows of the segment find their best with the recall of trials, and the share
// of the lists beyond which next to none of these lie. A row is its own best and does not count. How many lists rows want says
// little about queries, which want up to five times as many where they are farther from all rows; but how far the best rows of
// a list lie above its centroid is the same for both.
func (b *builder) calibrate(l *Lists) error {
	n := b.rows.Len()
	var far [len(reached)][]float64 // by row found, how far it lies above its centroid
	var place []float64             // by row found, of the lists of the query how many are before its own
	for t := range min(trials, n) {
		if err := b.pause(); err != nil {
			return err
		}
		row := t * n / min(trials, n)
		b.rows.Values(row, b.x)
		b.query.Set(b.x)
		top := b.nearest(l, row)
		for i, k := range reached {
			best := top[:min(k, len(top))]
			for _, h := range best {
				floor := best[len(best)-1].score
				far[i] = append(far[i], min(b.above(l, b.first[h.row], floor), b.above(l, b.second[h.row], floor)))
			}
		}
		place = append(place, b.places(l, top[:min(reached[0], len(top))])...)
	}
	if len(place) == 0 {
		return nil
	}
	for i, all := range far {
		l.Reach[i] = min(mostReach, max(leastReach, most(all)))
	}
	all := float64(l.Lists())
	l.Share = min(all, max(min(leastLists, leastShare*all), trialExtra*(1+most(place)))) / all
	return nil
}

// most returns the least number that is not exceeded by the share trialRecall of numbers, which it sorts.
func most(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[int(math.Ceil(trialRecall*float64(len(numbers))))-1]
}

type scored struct {
	row   int
	score float64
}

// nearest returns the nearest rows to the query, which is row itself, without it.
func (b *builder) nearest(l *Lists, row int) (top []scored) {
	last := reached[len(reached)-1]
	s := l.Search(b.query, Want{K: last + 1, Floor: math.Inf(-1), Slack: Wide})
	defer s.Close()
	s.All(nil)
	s.Settle(func(found int, score float64) float64 {
		if found != row {
			at, _ := slices.BinarySearchFunc(top, score, func(a scored, score float64) int { return cmp.Compare(score, a.score) })
			top = slices.Insert(top, at, scored{found, score})
			top = top[:min(len(top), last)]
		}
		if len(top) < last {
			return math.Inf(-1)
		}
		return top[last-1].score
	})
	return top
}

// above returns the reach with which the query looks into a list at a floor.
func (b *builder) above(l *Lists, list int32, floor float64) float64 {
	return (floor - l.centroids.Score(b.query, int(list))) / float64(l.spread[list])
}

// places returns how many lists come before the better one of each row.
func (b *builder) places(l *Lists, top []scored) (out []float64) {
	s := l.Search(b.query, Want{})
	defer s.Close()
	rank := make([]float32, l.Lists())
	for _, o := range s.order.all {
		rank[o.list] = o.score
	}
	for _, h := range top {
		own := max(rank[b.first[h.row]], rank[b.second[h.row]])
		before := 0
		for _, r := range rank {
			if r > own {
				before++
			}
		}
		out = append(out, float64(before))
	}
	return out
}
