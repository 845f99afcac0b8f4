package postings_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/index/postings"
)

// content is a field as a map: term → row → positions.
type content map[string]map[uint32][]uint32

// random makes a field with lists of very different lengths, over rows rows.
func random(seed uint64, terms, rows int) content {
	rng := rand.New(rand.NewPCG(seed, 3))
	c := content{}
	for i := range terms {
		name := strings.Repeat("p", rng.IntN(4)) + fmt.Sprint(rng.IntN(10*terms))
		if i == 0 {
			name = ""
		}
		lists := map[uint32][]uint32{}
		share := rng.Float64()
		for row := range rows {
			if rng.Float64() > share*share*share {
				continue
			}
			at := uint32(0)
			for range 1 + rng.IntN(3)*rng.IntN(3) {
				at += uint32(rng.IntN(400))
				lists[uint32(row)] = append(lists[uint32(row)], at)
				at++
			}
		}
		if len(lists) > 0 {
			c[name] = lists
		}
	}
	return c
}

func (c content) terms() []string {
	var out []string
	for t := range c {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

func (c content) build(positions bool, lengths ...byte) *postings.Field {
	b := postings.Builder{Lengths: lengths}
	for _, t := range c.terms() {
		var l postings.List
		for row := range c[t] {
			l.Rows = append(l.Rows, row)
		}
		slices.Sort(l.Rows)
		for _, row := range l.Rows {
			l.Freqs = append(l.Freqs, uint32(len(c[t][row])))
			if positions {
				l.Positions = append(l.Positions, c[t][row]...)
			}
		}
		b.Add([]byte(t), &l)
	}
	return b.Field()
}

// read gives everything that a field with positions holds.
func read(f *postings.Field) content {
	c := content{}
	var cursor postings.Cursor
	for w := f.Prefix(""); w.Next(); {
		lists := map[uint32][]uint32{}
		cursor.Reset(f, w.Ordinal)
		for cursor.Next() {
			for i, row := range cursor.Rows {
				lists[row] = cursor.Positions(nil, i)
			}
		}
		c[string(w.Term)] = lists
	}
	return c
}

// A field gives back its terms in order, rows, frequencies and positions, over block borders.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, shape := range []struct{ terms, rows int }{{0, 0}, {1, 1}, {16, 128}, {17, 129}, {200, 1000}} {
		c := random(uint64(shape.rows), shape.terms, shape.rows)
		f := c.build(true)
		if diff := cmp.Diff(c, read(f)); diff != "" {
			t.Fatalf("%+v: %s", shape, diff)
		}
		if f.Len() != len(c) {
			t.Fatalf("%d terms, want %d", f.Len(), len(c))
		}
		for i, name := range c.terms() {
			if got, ok := f.Find(name); !ok || got != i || f.DF(i) != len(c[name]) {
				t.Fatalf("term %q: ordinal %d %v, df %d, want %d and %d", name, got, ok, f.DF(i), i, len(c[name]))
			}
		}
	}
}

// What is not in the dictionary is not found: before, between and behind its terms.
func TestFindAbsent(t *testing.T) {
	t.Parallel()
	c := random(7, 300, 50)
	f := c.build(false)
	for _, name := range append(c.terms(), "zzz", "p", "0") {
		for _, absent := range []string{name + "!", name + "\xff", "", "~"} {
			if _, is := c[absent]; is {
				continue
			}
			if got, ok := f.Find(absent); ok {
				t.Fatalf("%q found as %d", absent, got)
			}
		}
	}
}

// Prefix walks exactly the terms with that beginning.
func TestPrefix(t *testing.T) {
	t.Parallel()
	c := random(9, 400, 20)
	f := c.build(false)
	for _, p := range append(c.terms(), "", "p", "pp1", "9", "zz", "\xff") {
		var got, want []string
		for w := f.Prefix(p); w.Next(); {
			got = append(got, string(w.Term))
		}
		for _, name := range c.terms() {
			if strings.HasPrefix(name, p) {
				want = append(want, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("prefix %q: %q, want %q", p, got, want)
		}
	}
}

// Seek finds the rows of a list and no others, in any ascending selection.
func TestSeek(t *testing.T) {
	t.Parallel()
	c := random(11, 60, 2000)
	f := c.build(true)
	rng := rand.New(rand.NewPCG(1, 1))
	for i, name := range c.terms() {
		var cursor postings.Cursor
		cursor.Reset(f, i)
		for row := uint32(rng.IntN(5)); row < 2100; row += uint32(1 + rng.IntN(300)) {
			p, ok := cursor.Seek(row)
			positions, want := c[name][row]
			if ok != want {
				t.Fatalf("term %q row %d: found %v, want %v", name, row, ok, want)
			}
			if ok && !slices.Equal(cursor.Positions(nil, p), positions) {
				t.Fatalf("term %q row %d: other positions", name, row)
			}
		}
	}
}

// A merge gives what building from the surviving rows gives, bounds too, byte for byte, and says where terms went.
func TestMerge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	want := content{}
	var sources []postings.Source
	var parts []content
	next := uint32(0)
	for s := range 5 {
		c := random(uint64(40+s), 50, 300)
		to := make([]uint32, 300)
		for row := range to {
			to[row] = postings.Dropped
			if rng.IntN(3+s) > 0 && s != 3 {
				to[row] = next
				next++
			}
		}
		for name, lists := range c {
			for row, positions := range lists {
				if to[row] == postings.Dropped {
					continue
				}
				if want[name] == nil {
					want[name] = map[uint32][]uint32{}
				}
				want[name][to[row]] = positions
			}
		}
		parts = append(parts, c)
		sources = append(sources, postings.Source{Field: c.build(true), Rows: to})
	}
	lengths := make([]byte, next)
	for i := range lengths {
		lengths[i] = byte(rng.IntN(60))
	}
	got, ordinals, err := postings.Merge(sources, lengths, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.build(true, lengths...), got); diff != "" {
		t.Fatal(diff)
	}
	names := want.terms()
	for s, c := range parts {
		for i, name := range c.terms() {
			place, ok := slices.BinarySearch(names, name)
			if to := ordinals[s][i]; ok && to != uint32(place) && to != postings.Dropped || !ok && to != postings.Dropped {
				t.Fatalf("source %d term %q: ordinal %d, want %d %v", s, name, to, place, ok)
			}
		}
	}
}

// Terms of a row come back in order with their frequencies; rows without terms are empty.
func TestForward(t *testing.T) {
	t.Parallel()
	rows := [][][2]uint32{{{0, 1}, {5, 300}, {70000, 2}}, {}, {{3, 1}}}
	var b postings.ForwardBuilder
	for _, row := range rows {
		b.Begin()
		for _, e := range row {
			b.Add(e[0], e[1])
		}
	}
	f := b.Forward()
	for i, row := range rows {
		got := [][2]uint32{}
		for w := f.Row(i); w.Next(); {
			got = append(got, [2]uint32{w.Ordinal, w.Freq})
		}
		if !slices.Equal(got, row) {
			t.Errorf("row %d: %v, want %v", i, got, row)
		}
	}
}

// Length bytes are Lucene's: exact up to 39, ascending, never rounded up, and their own rounding.
func TestLengthByte(t *testing.T) {
	t.Parallel()
	for n := range 39 {
		if got := postings.ByteLength(postings.LengthByte(n)); got != n {
			t.Fatalf("length %d comes back as %d", n, got)
		}
	}
	last := 0
	for n := 1; n < 1<<31; n += 1 + n/3 {
		b := postings.LengthByte(n)
		got := postings.ByteLength(b)
		if got > n || got < last || float64(got) < 0.88*float64(n) {
			t.Fatalf("length %d comes back as %d after %d", n, got, last)
		}
		if again := postings.LengthByte(got); again != b {
			t.Fatalf("length %d has byte %d, its rounding %d has %d", n, b, got, again)
		}
		last = got
	}
	// Known pairs of SmallFloat.intToByte4.
	for n, want := range map[int]byte{0: 0, 23: 23, 24: 24, 39: 39, 40: 40, 41: 40, 42: 41, 100: 57} {
		if got := postings.LengthByte(n); got != want {
			t.Errorf("byte of %d: %d, want %d", n, got, want)
		}
	}
}

// FuzzList: whatever the rows, frequencies and positions of a list are, its blocks give them back, and no posting is beyond
// the bounds of its block and its list.
func FuzzList(f *testing.F) {
	f.Add([]byte{1, 3, 0, 1, 255, 255, 2, 9, 0, 0}, byte(0))
	f.Add(bytes.Repeat([]byte{1, 2, 40}, 300), byte(7))
	f.Fuzz(func(t *testing.T, b []byte, width byte) {
		var l postings.List
		var lengths []byte
		for row := uint32(0); len(b) >= 3 && len(l.Rows) < 1000; b = b[3:] {
			row += 1 + uint32(b[0])<<(width%9)
			l.Rows, l.Freqs = append(l.Rows, row), append(l.Freqs, 1+uint32(b[1]))
			for at := range 1 + uint32(b[1]) {
				l.Positions = append(l.Positions, at*uint32(b[2]))
			}
			if row >= 1<<16 {
				break
			}
		}
		if len(l.Rows) == 0 {
			return
		}
		for row := range l.Rows[len(l.Rows)-1] + 1 {
			lengths = append(lengths, byte(row*7))
		}
		builder := postings.Builder{Lengths: lengths}
		builder.Add([]byte("x"), &l)
		field := builder.Field()
		if !field.BoundsFit() {
			t.Fatal("bounds of another size")
		}
		var c postings.Cursor
		c.Reset(field, 0)
		rows, freqs, positions := l.Rows, l.Freqs, l.Positions
		for block := 0; c.Next(); block++ {
			for i, row := range c.Rows {
				freq := c.Freqs()[i]
				if row != rows[i] || freq != freqs[i] || !slices.Equal(c.Positions(nil, i), positions[:freq]) {
					t.Fatalf("block %d, posting %d: row %d, frequency %d; want %d and %d", block, i, row, freq, rows[i], freqs[i])
				}
				positions = positions[freq:]
				within := func(p postings.Pair) bool {
					return (p.Freq == postings.Unbounded || uint32(p.Freq) >= freq) && (p.Freq == postings.Unbounded || p.Length <= lengths[row])
				}
				for _, bound := range []postings.Bound{field.ListBound(0), field.BlockBound(block)} {
					if !slices.ContainsFunc(bound[:], within) {
						t.Fatalf("frequency %d, length byte %d: beyond %v", freq, lengths[row], bound)
					}
				}
			}
			rows, freqs = rows[len(c.Rows):], freqs[len(c.Rows):]
		}
		if len(rows) > 0 {
			t.Fatalf("%d postings are missing", len(rows))
		}
	})
}
