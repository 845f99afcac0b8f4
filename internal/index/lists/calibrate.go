package lists

import (
	"math"
	"slices"
)

const (
	trials      = 200 // rows that are asked for
	trialBest   = 10  // of the best of each
	trialRecall = 0.99
	trialExtra  = 2  // rows of the segment are easier to ask for than real queries: those want 1.6 to 2 times as many lists
	shareLeast  = 16 // lists
)

// calibrate returns the share of the lists in which the best rows are found: the least with the recall of trials, for rows
// of the segment itself, twice over. A row is its own best and does not count.
func (b *builder) calibrate(l *Lists) (float64, error) {
	n := b.rows.Len()
	var need []int // per row found, lists to read until it is there
	place := make([]int, l.Lists())
	for t := range min(trials, n) {
		if err := b.pause(); err != nil {
			return 0, err
		}
		row := t * n / min(trials, n)
		b.rows.Values(row, b.x)
		b.query.Set(b.x)
		s := l.Search(b.query)
		s.best(l.Lists())
		slices.SortFunc(s.order, func(x, y ranked) int {
			if x.score != y.score {
				return int(math.Copysign(1, float64(y.score)-float64(x.score)))
			}
			return int(x.list - y.list)
		})
		for i, o := range s.order {
			place[o.list] = i + 1
		}
		var top []scored
		s.All(nil, Want{Floor: math.Inf(-1), Slack: Wide, Offer: func(found int, score float64) float64 {
			if found != row {
				at, _ := slices.BinarySearchFunc(top, score, func(a scored, score float64) int {
					if a.score >= score {
						return -1
					}
					return 1
				})
				top = slices.Insert(top, at, scored{found, score})
				top = top[:min(len(top), trialBest)]
			}
			if len(top) < trialBest {
				return math.Inf(-1)
			}
			return top[trialBest-1].score
		}})
		s.Close()
		for _, h := range top {
			need = append(need, min(place[b.first[h.row]], place[b.second[h.row]]))
		}
	}
	if len(need) == 0 {
		return 1, nil
	}
	slices.Sort(need)
	lists := float64(need[int(math.Ceil(trialRecall*float64(len(need))))-1])
	return min(1, max(shareLeast, trialExtra*lists)/float64(l.Lists())), nil
}

type scored struct {
	row   int
	score float64
}
