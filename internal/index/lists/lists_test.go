package lists_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/cpu"
	"quarry/internal/index/lists"
	"quarry/internal/index/rowset"
	"quarry/internal/index/vector"
)

// text returns vectors that lie as those of passages do: topics of very different sizes, within them a few directions in
// which most passages differ, and some copies.
func text(seed uint64, dim, n int) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 3))
	normal := func(v []float32, size float64) {
		for i := range v {
			v[i] += float32(size * rng.NormFloat64() / math.Sqrt(float64(dim)))
		}
	}
	topics := make([][4][]float32, max(4, n/300))
	for i := range topics {
		for j := range topics[i] {
			topics[i][j] = make([]float32, dim)
			normal(topics[i][j], 1)
		}
	}
	zipf := rand.NewZipf(rng, 1.3, 8, uint64(len(topics)-1))
	out := make([][]float32, n)
	for i := range out {
		if i > 0 && rng.IntN(20) == 0 {
			out[i] = slices.Clone(out[rng.IntN(i)])
			continue
		}
		topic := &topics[zipf.Uint64()]
		out[i] = slices.Clone(topic[0])
		for _, way := range topic[1:] {
			by := float32(0.5 * rng.NormFloat64())
			for j, v := range way {
				out[i][j] += by * v
			}
		}
		normal(out[i], 0.7)
	}
	return out
}

// odd are collections that lists get wrong: each has less spread than it has rows.
var odd = map[string]func(rng *rand.Rand, v []float32){
	"equal": func(_ *rand.Rand, v []float32) {
		for i := range v {
			v[i] = float32(math.Sin(float64(i)))
		}
	},
	"one-hot": func(rng *rand.Rand, v []float32) { v[rng.IntN(len(v))] = 1 },
	"one cluster": func(rng *rand.Rand, v []float32) {
		for i := range v {
			v[i] = float32(math.Cos(float64(i)) + 0.01*rng.NormFloat64())
		}
	},
	"clusters": func(rng *rand.Rand, v []float32) {
		c := float64(rng.IntN(5))
		for i := range v {
			v[i] = float32(math.Cos(float64(i)*(1+c)) + 0.001*rng.NormFloat64())
		}
	},
	"opposite": func(rng *rand.Rand, v []float32) { v[0] = float32(2*rng.IntN(2) - 1) },
}

func build(t testing.TB, rotation *vector.Rotation, all [][]float32) *vector.Rows {
	t.Helper()
	b := vector.NewBuilder(rotation, len(all))
	for _, v := range all {
		packed, err := vector.Pack(v)
		if err == nil {
			err = b.Add(packed)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Rows()
}

func made(t testing.TB, rows *vector.Rows, kept *lists.Lists) *lists.Lists {
	t.Helper()
	l, err := lists.Build(rows, kept, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func query(t testing.TB, rotation *vector.Rotation, v []float32) *vector.Query {
	t.Helper()
	q, err := vector.NewQuery(rotation, v)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

type hit struct {
	row   int
	score float64
}

// best keeps the k best of what is offered.
type best struct {
	k    int
	hits []hit
}

func (b *best) offer(row int, score float64) float64 {
	at, _ := slices.BinarySearchFunc(b.hits, hit{row, score}, func(x, y hit) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.row, y.row))
	})
	b.hits = slices.Insert(b.hits, at, hit{row, score})
	b.hits = b.hits[:min(len(b.hits), b.k)]
	return b.floor()
}

func (b *best) floor() float64 {
	if len(b.hits) < b.k {
		return math.Inf(-1)
	}
	return b.hits[b.k-1].score
}

// exact returns the best of the rows by scoring every one.
func exact(rows *vector.Rows, q *vector.Query, allow []uint64, k int) []hit {
	b := best{k: k}
	for i := range rows.Len() {
		if rowset.Has(allow, i) {
			b.offer(i, rows.Score(q, i))
		}
	}
	return b.hits
}

// recall returns the share of want whose score got has reached, and fails on hits that are not rows with their scores.
func recall(t testing.TB, rows *vector.Rows, q *vector.Query, allow []uint64, got, want []hit) float64 {
	t.Helper()
	seen := map[int]bool{}
	n := 0
	for _, h := range got {
		if seen[h.row] || !rowset.Has(allow, h.row) || rows.Score(q, h.row) != h.score {
			t.Fatalf("row %d with %v: twice, not allowed, or another score than %v", h.row, h.score, rows.Score(q, h.row))
		}
		seen[h.row] = true
		if len(want) > 0 && h.score >= want[len(want)-1].score {
			n++
		}
	}
	if len(want) == 0 {
		return 1
	}
	return float64(n) / float64(len(want))
}

// ways are the ways to search lists.
var ways = map[string]func(l *lists.Lists, s *lists.Search, allow []uint64){
	"share": func(l *lists.Lists, s *lists.Search, _ []uint64) {
		s.Best(int(math.Ceil(l.Share * float64(l.Lists()))))
	},
	"all": func(_ *lists.Lists, s *lists.Search, _ []uint64) { s.All(nil) },
	"blocks": func(l *lists.Lists, s *lists.Search, allow []uint64) {
		marks, _ := l.Mark(allow)
		s.All(marks)
	},
}

func search(l *lists.Lists, q *vector.Query, way string, allow []uint64, k int) ([]hit, lists.Counts) {
	b := best{k: k}
	w := lists.Want{Allow: allow, K: k, Floor: math.Inf(-1), Slack: lists.Wide}
	if way == "share" {
		w.Slack = lists.Usual
	}
	s := l.Search(q, w)
	defer s.Close()
	ways[way](l, s, allow)
	s.Settle(b.offer)
	return b.hits, s.Counts
}

// TestRecall proves that a share of the lists finds nearly all of the best rows of text, and all lists all of them, with
// and without filters, reading fewer codes than there are rows.
func TestRecall(t *testing.T) {
	t.Parallel()
	const dim, n, k = 128, 4000, 10
	rotation := vector.NewRotation(dim, 9)
	all := text(1, dim, n+200)
	rows := build(t, rotation, all[:n])
	l := made(t, rows, nil)
	half, tenth := make([]uint64, rowset.Words(n)), make([]uint64, rowset.Words(n))
	for i := range n {
		if i*7919%10 < 5 {
			rowset.Add(half, i)
		}
		if i*7919%10 == 0 {
			rowset.Add(tenth, i)
		}
	}
	for _, c := range []struct {
		way   string
		allow []uint64
		least float64
	}{{"share", nil, 0.98}, {"share", half, 0.97}, {"all", nil, 0.9995}, {"all", half, 0.9995}, {"all", tenth, 0.9995},
		{"blocks", half, 0.9995}, {"blocks", tenth, 0.9995}} {
		if c.way == "blocks" && c.allow == nil {
			continue
		}
		sum, codes := 0.0, 0
		for _, v := range all[n:] {
			q := query(t, rotation, v)
			got, counts := search(l, q, c.way, c.allow, k)
			sum += recall(t, rows, q, c.allow, got, exact(rows, q, c.allow, k))
			codes += counts.Codes
		}
		mean := sum / 200
		t.Logf("%s, %d rows allowed: recall %.4f, %d codes a query, share %.3f of %d lists", c.way, rowset.Count(c.allow), mean, codes/200, l.Share, l.Lists())
		if mean < c.least {
			t.Errorf("%s, %d rows allowed: recall %.4f, want %v", c.way, rowset.Count(c.allow), mean, c.least)
		}
	}
}

// TestOddRows proves that collections without spread keep their hits, in every way and at widths with and without padding.
func TestOddRows(t *testing.T) {
	t.Parallel()
	for name, make1 := range odd {
		for _, dim := range []int{3, 100, 192} {
			rng := rand.New(rand.NewPCG(uint64(dim), 1))
			all := make([][]float32, 1000)
			for i := range all {
				all[i] = make([]float32, dim)
				make1(rng, all[i])
			}
			rotation := vector.NewRotation(dim, 2)
			rows := build(t, rotation, all)
			l := made(t, rows, nil)
			sum := 0.0
			for _, v := range all[980:] {
				q := query(t, rotation, v)
				got, _ := search(l, q, "share", nil, 10)
				sum += recall(t, rows, q, nil, got, exact(rows, q, nil, 10)) / 20
			}
			if sum < 0.95 { // of one-hot rows all but a few equal ones are as far from a query, up to rounding
				t.Errorf("%s, %d dimensions, share: recall %v", name, dim, sum)
			}
			for _, v := range append(text(4, dim, 4), all[980:]...) {
				q := query(t, rotation, v)
				got, _ := search(l, q, "all", nil, 10)
				if r := recall(t, rows, q, nil, got, exact(rows, q, nil, 10)); r < 1 {
					t.Errorf("%s, %d dimensions, all lists: recall %v", name, dim, r)
				}
			}
		}
	}
}

// TestPathsAgree proves that every kernel path finds the same rows in the same order with the same scores, and reads the
// same codes, in every way. It does not run in parallel: the path is one of the whole process.
func TestPathsAgree(t *testing.T) {
	for _, dim := range []int{64, 100, 384, 768} {
		rotation := vector.NewRotation(dim, 5)
		all := text(uint64(dim), dim, 700)
		rows := build(t, rotation, all[:640])
		l := made(t, rows, nil)
		allow := make([]uint64, rowset.Words(640))
		for i := range 640 {
			if i%3 > 0 {
				rowset.Add(allow, i)
			}
		}
		for way := range ways {
			var want []string
			for i, p := range cpu.Available() {
				if err := cpu.Use(p.String()); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, v := range all[640:] {
					hits, counts := search(l, query(t, rotation, v), way, allow, 5)
					got = append(got, fmt.Sprint(hits, counts))
				}
				if i > 0 && !slices.Equal(got, want) {
					t.Errorf("%d dimensions, %s, %v:\ngot  %v\nwant %v", dim, way, p, got, want)
				}
				want = got
			}
		}
	}
	if err := cpu.Use("auto"); err != nil {
		t.Fatal(err)
	}
}

// TestFewerThanK proves that a search of a share goes on until it has found as many rows as were asked for, in the end all.
func TestFewerThanK(t *testing.T) {
	t.Parallel()
	const dim, n = 64, 3000
	rotation := vector.NewRotation(dim, 5)
	all := text(8, dim, n)
	rows := build(t, rotation, all)
	l := made(t, rows, nil)
	allow := make([]uint64, rowset.Words(n))
	for i := 0; i < n; i += 500 {
		rowset.Add(allow, i)
	}
	q := query(t, rotation, all[1])
	for _, k := range []int{1, 6, 7, 5000} {
		for _, set := range [][]uint64{allow, nil} {
			b := best{k: k}
			s := l.Search(q, lists.Want{Allow: set, K: k, Floor: math.Inf(-1), Slack: lists.Usual})
			s.Best(1)
			s.Settle(b.offer)
			s.Close()
			passing := n
			if set != nil {
				passing = rowset.Count(set)
			}
			if len(b.hits) != min(k, passing) {
				t.Errorf("%d of %d rows that pass, %d wanted", len(b.hits), passing, k)
			}
		}
	}
}

// TestBuildAgain proves that lists are the same whenever they are made of the same rows, and that centroids are kept where
// they are given and as many as is right.
func TestBuildAgain(t *testing.T) {
	t.Parallel()
	const dim = 64
	rotation := vector.NewRotation(dim, 5)
	all := text(8, dim, 2400)
	rows := build(t, rotation, all[:1500])
	first, again := made(t, rows, nil), made(t, rows, nil)
	if fmt.Sprint(first.Head, first.Parts) != fmt.Sprint(again.Head, again.Parts) {
		t.Error("other lists of the same rows")
	}
	more := build(t, rotation, all)
	kept := made(t, more, first)
	if !slices.Equal(kept.Hi, first.Hi) || !slices.Equal(kept.Scale, first.Scale) {
		t.Error("centroids were not kept")
	}
	if far := made(t, build(t, rotation, all[:40]), first); far.Lists() != lists.Number(40) {
		t.Errorf("%d lists of 40 rows", far.Lists())
	}
	for i := range all {
		q := query(t, rotation, all[i])
		if got, _ := search(kept, q, "all", nil, 1); len(got) != 1 || got[0].score < 0.99 {
			t.Fatalf("row %d is not found by itself: %v", i, got)
		}
	}
}

// TestPause proves that building pauses again and again, and ends with the error of any pause.
func TestPause(t *testing.T) {
	t.Parallel()
	rows := build(t, vector.NewRotation(64, 5), text(8, 64, 600))
	pauses := 0
	if _, err := lists.Build(rows, nil, func() error { pauses++; return nil }); err != nil || pauses < 20 {
		t.Fatalf("%d pauses, %v", pauses, err)
	}
	stop := errors.New("stop")
	for last := range pauses {
		n := 0
		l, err := lists.Build(rows, nil, func() error {
			if n++; n > last {
				return stop
			}
			return nil
		})
		if l != nil || !errors.Is(err, stop) || n != last+1 {
			t.Fatalf("ended in pause %d: after %d more, %v", last, n-last-1, err)
		}
	}
}

// TestWithin proves that counting is that of the rows with one of the best lists as their first.
func TestWithin(t *testing.T) {
	t.Parallel()
	rotation := vector.NewRotation(64, 5)
	all := text(3, 64, 900)
	rows := build(t, rotation, all)
	l := made(t, rows, nil)
	allow := make([]uint64, rowset.Words(900))
	for i := 0; i < 900; i += 2 {
		rowset.Add(allow, i)
	}
	s := l.Search(query(t, rotation, all[7]), lists.Want{Allow: allow})
	defer s.Close()
	last := 0
	for n := 1; n <= l.Lists(); n++ {
		rows, passing := s.Within(n)
		if rows < last || passing > rows || rows == 0 {
			t.Fatalf("%d lists: %d of %d rows, fewer lists had %d", n, passing, rows, last)
		}
		last = rows
	}
	if rows, passing := s.Within(l.Lists()); rows != 900 || passing != 450 {
		t.Errorf("all lists: %d of %d rows", passing, rows)
	}
}

// TestFloor proves that lists are left out where the floor is above what their rows may reach, fewer with a longer reach and for
// fewer rows, and that the first lists are read whatever the floor is.
func TestFloor(t *testing.T) {
	t.Parallel()
	rotation := vector.NewRotation(64, 5)
	all := text(3, 64, 900)
	rows := build(t, rotation, all)
	l := made(t, rows, nil)
	q := query(t, rotation, all[7])
	none := make([]uint64, rowset.Words(rows.Len()))
	read := func(l *lists.Lists, k int, floor float64) int {
		// No row may be found, so that none raises the floor.
		s := l.Search(q, lists.Want{K: k, Allow: none, Floor: floor})
		defer s.Close()
		s.Best(l.Lists())
		return s.Counts.Lists
	}
	last := l.Lists()
	for floor := -1.0; floor <= 2; floor += 0.05 {
		n := read(l, 10, floor)
		if far := read(l, 200, floor); n > last || far > n {
			t.Fatalf("floor %.2f: %d lists, %d for 200 rows, %d at a lower floor", floor, n, far, last)
		}
		last = n
	}
	if last != lists.First {
		t.Errorf("%d lists for a floor that no row reaches", last)
	}
	longer := l.Head
	longer.Reach[0] *= 2
	bound, err := lists.Bind(rows, longer, kept(l.Parts))
	if err != nil {
		t.Fatal(err)
	}
	few, many := 0, 0
	for floor := 0.0; floor < 1; floor += 0.1 {
		few, many = few+read(l, 10, floor), many+read(bound, 10, floor)
	}
	if few >= many {
		t.Errorf("%d lists for all floors, with twice the reach %d", few, many)
	}
}

// TestReach proves that the reach that was measured is kept and used, that lists of before it was find as much, and that one which no
// segment has is refused.
func TestReach(t *testing.T) {
	t.Parallel()
	const n = 3000
	rotation := vector.NewRotation(64, 5)
	all := text(3, 64, n+50)
	rows := build(t, rotation, all[:n])
	l := made(t, rows, nil)
	if r := l.Reach; !(r[0] > r[1] && r[1] > 0 && r[0] < 2) {
		t.Errorf("a reach of %v", r)
	}
	old, err := lists.Bind(rows, lists.Head{Lists: l.Lists(), Share: 0.1}, kept(l.Parts))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range all[n:] {
		q := query(t, rotation, v)
		got, _ := search(old, q, "share", nil, 10)
		sum += recall(t, rows, q, nil, got, exact(rows, q, nil, 10)) / 50
	}
	if sum < 0.98 {
		t.Errorf("recall %.4f where no reach was measured", sum)
	}
	for _, r := range [][2]float64{{-1, 0.3}, {0.4, math.NaN()}, {math.Inf(1), 0.3}} {
		if _, err := lists.Bind(rows, lists.Head{Lists: l.Lists(), Share: 0.1, Reach: r}, kept(l.Parts)); err == nil {
			t.Errorf("a reach of %v is taken", r)
		}
	}
}

// kept returns bytes of lists that nothing else shares.
func kept(p lists.Parts) lists.Parts {
	return lists.Parts{Hi: slices.Clone(p.Hi), Scale: slices.Clone(p.Scale), Runs: slices.Clone(p.Runs), Row: slices.Clone(p.Row),
		Factor: slices.Clone(p.Factor), Code: slices.Clone(p.Code), At: slices.Clone(p.At)}
}

// small returns few rows with their lists, for damage.
func small(t testing.TB) (*vector.Rows, *lists.Lists, *vector.Query) {
	rotation := vector.NewRotation(64, 5)
	all := text(3, 64, 70)
	rows := build(t, rotation, all)
	return rows, made(t, rows, nil), query(t, rotation, all[9])
}

// sound searches lists in every way, and fails on hits that are not rows with their scores.
func sound(t testing.TB, rows *vector.Rows, l *lists.Lists, q *vector.Query) {
	t.Helper()
	allow := rowset.All(rows.Len())
	rowset.Remove(allow, 3)
	for way := range ways {
		got, _ := search(l, q, way, allow, 10)
		recall(t, rows, q, allow, got, nil)
	}
}

// TestFlipped proves that lists with a byte that is not what was written are refused, or find rows with their own scores
// and no row twice.
func TestFlipped(t *testing.T) {
	t.Parallel()
	rows, l, q := small(t)
	p := kept(l.Parts)
	refused := 0
	for _, part := range [][]byte{p.Hi, p.Scale, p.Runs, p.Row, p.Factor, p.Code, p.At} {
		for i := 0; i < len(part); i += 1 + len(part)/400 {
			for _, flip := range []byte{1, 0x80, 0xff} {
				part[i] ^= flip
				if bound, err := lists.Bind(rows, l.Head, p); err != nil {
					refused++
				} else {
					sound(t, rows, bound, q)
				}
				part[i] ^= flip
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d were refused", refused)
	}
	bound, err := lists.Bind(rows, l.Head, p)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, rows, bound, q)
}

// FuzzBind binds lists of any bytes without a panic, and what it accepts can be searched.
func FuzzBind(f *testing.F) {
	rows, l, q := small(f)
	f.Add(l.Head.Lists, l.Share, l.Reach[0], l.Runs, l.Row, l.At, 0, byte(0))
	f.Add(1, 1.0, 0.0, []byte{0, 0, 0, 0, 70, 0, 0, 0, 70, 0, 0, 0}, l.Row[:384], l.At, 7, byte(9))
	f.Fuzz(func(t *testing.T, n int, share, reach float64, runs, row, at []byte, place int, flip byte) {
		p := kept(l.Parts)
		p.Runs, p.Row, p.At = slices.Clone(runs), slices.Clone(row), slices.Clone(at)
		if n != l.Head.Lists && n > 0 && n < 1000 {
			p.Hi, p.Scale = make([]byte, 64*n), make([]byte, 4*n)
		}
		blocks := len(row) / 128
		p.Factor, p.Code = make([]byte, 128*blocks), make([]byte, 256*blocks)
		copy(p.Factor, l.Factor)
		copy(p.Code, l.Code)
		if place >= 0 && place < len(p.Factor) {
			p.Factor[place] ^= flip
		}
		if bound, err := lists.Bind(rows, lists.Head{Lists: n, Share: share, Reach: [2]float64{reach, reach / 2}}, p); err == nil {
			sound(t, rows, bound, q)
		}
	})
}
