// Package topk keeps the best few of many scored rows, in a binary heap. Package index calls it.
package topk

import "math"

// Item is a row with its score.
type Item[P any] struct {
	Score float64
	Place P
}

// Top keeps the K best items; the worst kept is the first of Items.
type Top[P any] struct {
	K     int
	After func(a, b P) bool // of two places with one score: whether a stands behind b
	Items []Item[P]
}

// Floor returns the score below which an item need not be offered.
func (t *Top[P]) Floor() float64 {
	if len(t.Items) < t.K {
		return math.Inf(-1)
	}
	return t.Items[0].Score
}

func (t *Top[P]) worse(a, b Item[P]) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	return t.After(a.Place, b.Place)
}

// Offer adds an item if it is among the best so far.
func (t *Top[P]) Offer(x Item[P]) {
	if len(t.Items) < t.K {
		t.Items = append(t.Items, x)
		t.up(len(t.Items) - 1)
		return
	}
	if t.worse(t.Items[0], x) {
		t.Items[0] = x
		t.down()
	}
}

func (t *Top[P]) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !t.worse(t.Items[i], t.Items[p]) {
			return
		}
		t.Items[i], t.Items[p] = t.Items[p], t.Items[i]
		i = p
	}
}

func (t *Top[P]) down() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.Items) {
			return
		}
		if c+1 < len(t.Items) && t.worse(t.Items[c+1], t.Items[c]) {
			c++
		}
		if !t.worse(t.Items[c], t.Items[i]) {
			return
		}
		t.Items[i], t.Items[c] = t.Items[c], t.Items[i]
		i = c
	}
}
