package index

import (
	"bytes"
	"cmp"
	"math"
)

// item is a row with its score on one side.
type item struct {
	score float64
	place place
}

// top keeps the k best items; the worst kept is at the root. Rows of one score are ordered by document id and part, so
// that the choice among them does not depend on where they lie.
type top struct {
	st *state
	k  int
	h  []item
}

func newTop(st *state, k int) *top { return &top{st: st, k: k} }

// floor is the score below which an item need not be offered.
func (t *top) floor() float64 {
	if len(t.h) < t.k {
		return math.Inf(-1)
	}
	return t.h[0].score
}

// worse reports whether a stands behind b.
func (t *top) worse(a, b item) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	s, u := t.st.views[a.place.view].seg, t.st.views[b.place.view].seg
	i, j := int(a.place.row), int(b.place.row)
	return cmp.Or(bytes.Compare(s.id(s.docOf(i)), u.id(u.docOf(j))), cmp.Compare(s.ordOf(i), u.ordOf(j))) > 0
}

func (t *top) offer(x item) {
	if len(t.h) < t.k {
		t.h = append(t.h, x)
		t.up(len(t.h) - 1)
		return
	}
	if t.worse(t.h[0], x) {
		t.h[0] = x
		t.down()
	}
}

func (t *top) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !t.worse(t.h[i], t.h[p]) {
			return
		}
		t.h[i], t.h[p] = t.h[p], t.h[i]
		i = p
	}
}

func (t *top) down() {
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.h) {
			return
		}
		if c+1 < len(t.h) && t.worse(t.h[c+1], t.h[c]) {
			c++
		}
		if !t.worse(t.h[c], t.h[i]) {
			return
		}
		t.h[i], t.h[c] = t.h[c], t.h[i]
		i = c
	}
}
