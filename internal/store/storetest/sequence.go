package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus/document"
	"quarry/internal/testkit"
)

// testChanges proves that Changes tells every write in order, in pages, and does not report a gap where there is none.
func testChanges(t *testing.T, s Stores) {
	c := create(t, s, "c")
	a := insert(t, s, c, "a", 1)
	b := insert(t, s, c, "b", 0)
	if _, err := Remove(t.Context(), s.Documents, c, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	d := insert(t, s, get(t, s, "c"), "a", 1)
	all := []document.Change{
		{Seq: 1, Op: document.OpPut, No: a}, {Seq: 2, Op: document.OpPut, No: b}, {Seq: 3, Op: document.OpDelete, No: a},
		{Seq: 4, Op: document.OpReset}, {Seq: 5, Op: document.OpPut, No: d},
	}
	for _, c2 := range []struct {
		after, upto int64
		limit       int
		want        []document.Change
	}{
		{0, 5, 10, all}, {0, 5, 2, all[:2]}, {2, 5, 2, all[2:4]}, {2, 3, 10, all[2:3]}, {4, 9, 10, all[4:]},
		{5, 5, 10, nil}, {5, 9, 10, nil}, {7, 9, 10, nil}, {3, 2, 10, nil},
	} {
		got, missing, err := s.Documents.Changes(t.Context(), c.No, c2.after, c2.upto, c2.limit)
		if diff := cmp.Diff(c2.want, got); diff != "" || missing || err != nil {
			t.Errorf("changes %d..%d, at most %d: missing %v, error %v (-want +got): %s", c2.after, c2.upto, c2.limit, missing, err, diff)
		}
	}
}

// testDenseNumbers proves that 64 writers at once get dense numbers, each its own, and the changes tell the same.
func testDenseNumbers(t *testing.T, s Stores) {
	c := create(t, s, "c")
	const writers, each = 64, 3
	type write struct {
		seq, no int64
		op      document.Op
	}
	got := testkit.AtOnce(t.Context(), writers, func(ctx context.Context, i int) (all []write) {
		for j := range each {
			d := Document(fmt.Sprintf("%d/%d", i, j), 2)
			seq, err := s.Documents.Insert(ctx, c.No, c.Epoch, d)
			if err != nil {
				t.Errorf("Insert: %v", err)
				return all
			}
			all = append(all, write{seq, d.No, document.OpPut})
			if j > 0 {
				continue
			}
			if seq, err = Remove(ctx, s.Documents, c, d.ID); err != nil {
				t.Errorf("Delete: %v", err)
			}
			all = append(all, write{seq, d.No, document.OpDelete})
		}
		return all
	})
	writes := slices.Concat(got...)
	slices.SortFunc(writes, func(a, b write) int { return int(a.seq - b.seq) })
	var want []document.Change
	for i, w := range writes {
		want = append(want, document.Change{Seq: int64(i + 1), Op: w.op, No: w.no})
	}
	changes, missing, err := s.Documents.Changes(t.Context(), c.No, 0, 1<<40, 1000)
	if diff := cmp.Diff(want, changes); diff != "" || missing || err != nil {
		t.Errorf("changes: missing %v, error %v (-want +got): %s", missing, err, diff)
	}
	now := get(t, s, "c")
	if u := now.Usage; now.Seq != writers*(each+1) || u.Documents != writers*(each-1) || u.Parts != 2*u.Documents {
		t.Errorf("seq %d, usage %+v; want %d writes and %d documents", now.Seq, u, writers*(each+1), writers*(each-1))
	}
}

// testLoad proves that Load returns whole documents for the numbers that exist, once each, also for many numbers.
func testLoad(t *testing.T, s Stores) {
	c := create(t, s, "c")
	var nos []int64
	var all []document.Document
	for i := range 5 {
		d := Document(fmt.Sprint("d", i), i)
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
			t.Fatal(err)
		}
		nos, all = append(nos, d.No), append(all, *d)
	}
	if _, err := Remove(t.Context(), s.Documents, c, "d2"); err != nil {
		t.Fatal(err)
	}
	ask := []int64{nos[4], nos[2], nos[0]}
	for i := range 1200 {
		ask = append(ask, 1_000_000+int64(i))
	}
	got, err := s.Documents.Load(t.Context(), c.No, append(ask, nos[3]))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b document.Document) int { return int(a.No - b.No) })
	want := []document.Document{all[0], all[3], all[4]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("loaded (-want +got):", diff)
	}
	if got, err := s.Documents.Load(t.Context(), c.No, nil); err != nil || len(got) != 0 {
		t.Errorf("Load of nothing: %d documents, %v", len(got), err)
	}
}

// testScan proves that Scan pages through whole documents in order of their numbers, with number and epoch of the
// corpus on each page.
func testScan(t *testing.T, s Stores) {
	c := create(t, s, "c")
	other := create(t, s, "other")
	var want []document.Document
	for i := range 7 {
		d := Document(fmt.Sprint("d", 9-i), i%4)
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
			t.Fatal(err)
		}
		insert(t, s, other, d.ID, 1)
		want = append(want, *d)
	}
	for n := 1; n <= 8; n++ {
		var got []document.Document
		for after := int64(0); ; {
			page, seq, epoch, err := s.Documents.Scan(t.Context(), c.No, after, n)
			if err != nil || len(page) > n || seq != 7 || epoch != c.Epoch {
				t.Fatalf("page of %d: %d documents, seq %d, epoch %d, %v", n, len(page), seq, epoch, err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].No
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
	}
}

// testScanSnapshot proves that while others write, a page of Scan holds exactly the documents of its sequence number:
// never a half one, never one more or less.
func testScanSnapshot(t *testing.T, s Stores) {
	c := create(t, s, "c")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 60 {
			if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, Document(fmt.Sprint(i), 3)); err != nil {
				t.Errorf("Insert: %v", err)
				return
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		page, seq, _, err := s.Documents.Scan(t.Context(), c.No, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(page)) != seq {
			t.Fatalf("%d documents at number %d", len(page), seq)
		}
		for _, d := range page {
			if len(d.Parts) != 3 {
				t.Fatalf("document %s shows %d parts of 3", d.ID, len(d.Parts))
			}
		}
	}
}

// testPassages proves that Passages returns each part with its neighbours, cut at the ends of the document, in the order
// of the refs.
func testPassages(t *testing.T, s Stores) {
	c := create(t, s, "c")
	docs := map[string]*document.Document{"a": Document("a", 6), "b": Document("b", 1), "gone": Document("gone", 2)}
	for _, key := range []string{"a", "b", "gone"} {
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, docs[key]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Remove(t.Context(), s.Documents, c, "gone"); err != nil {
		t.Fatal(err)
	}
	a, b, gone := docs["a"].No, docs["b"].No, docs["gone"].No
	refs := []document.Ref{{No: a, Ord: 5}, {No: gone, Ord: 0}, {No: b, Ord: 0}, {No: a, Ord: 0}, {No: a, Ord: 3}, {No: a, Ord: 3}, {No: a, Ord: 6}, {No: 1 << 40}}
	for _, w := range []struct {
		window document.Window
		want   [][3]int64 // document, first and last part
	}{
		{document.Window{}, [][3]int64{{a, 5, 5}, {b, 0, 0}, {a, 0, 0}, {a, 3, 3}, {a, 3, 3}}},
		{document.Window{Before: 2, After: 1}, [][3]int64{{a, 3, 5}, {b, 0, 0}, {a, 0, 1}, {a, 1, 4}, {a, 1, 4}}},
		{document.Window{After: 1000}, [][3]int64{{a, 5, 5}, {b, 0, 0}, {a, 0, 5}, {a, 3, 5}, {a, 3, 5}}},
		{document.Window{Before: 1, Whole: true}, [][3]int64{{a, 0, 5}, {b, 0, 0}, {a, 0, 5}, {a, 0, 5}, {a, 0, 5}}},
	} {
		var want []document.Passage
		kept := []document.Ref{refs[0], refs[2], refs[3], refs[4], refs[5]}
		for i, x := range w.want {
			d := docs["a"]
			if x[0] == b {
				d = docs["b"]
			}
			want = append(want, document.Passage{Ref: kept[i], Document: bare(*d, false), Parts: bare(*d, true).Parts[x[1] : x[2]+1]})
		}
		got, err := s.Documents.Passages(t.Context(), c.No, refs, w.window)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("window %+v: %v (-want +got): %s", w.window, err, diff)
		}
	}
	if got, err := s.Documents.Passages(t.Context(), c.No, nil, document.Window{}); err != nil || len(got) != 0 {
		t.Errorf("no refs: %d passages, %v", len(got), err)
	}
}
