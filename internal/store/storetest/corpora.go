package storetest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job/jobtest"
	"quarry/internal/opt"
	"quarry/internal/testkit"
)

func count(all []bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// testCreateCorpus proves that create keeps every member, numbers the corpus and returns it an epoch; the next Get shows
// the same.
func testCreateCorpus(t *testing.T, s Stores) {
	for _, key := range []string{"full", "bare"} {
		want := Corpus(key)
		if key == "bare" {
			want = corpus.Corpus{ID: id.NewCorpus(), Key: key, Created: want.Created}
		}
		got, err := s.Corpora.Create(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if got.No == 0 || got.Epoch == 0 || got.Seq != 0 {
			t.Errorf("%s: No %d, Epoch %d, Seq %d; want the first two set and 0", key, got.No, got.Epoch, got.Seq)
		}
		want.No, want.Epoch = got.No, got.Epoch
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: created (-want +got): %s", key, diff)
		}
		if diff := cmp.Diff(got, get(t, s, key)); diff != "" {
			t.Errorf("%s: read (-created +got): %s", key, diff)
		}
	}
	_, err := s.Corpora.Create(t.Context(), Corpus("full"))
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindConflict || f.Code != "corpus_exists" || !strings.Contains(f.Text, "already exists") {
		t.Errorf("create of a taken key: %v, want the conflict corpus_exists with the words already exists", err)
	}
}

// testCreateCorpusAtOnce proves that of several creates of one key at once exactly one succeeds.
func testCreateCorpusAtOnce(t *testing.T, s Stores) {
	made := testkit.AtOnce(t.Context(), 16, func(ctx context.Context, _ int) bool {
		_, err := s.Corpora.Create(ctx, Corpus("one"))
		if err != nil && !fault.Is(err, fault.KindConflict) {
			t.Errorf("Create: %v, want a conflict", err)
		}
		return err == nil
	})
	if n := count(made); n != 1 {
		t.Errorf("%d creates succeeded, want 1", n)
	}
}

// testGetCorpora proves that Get keeps the order asked, repeats included, and names the first missing key.
func testGetCorpora(t *testing.T, s Stores) {
	for _, key := range []string{"a", "b", "c"} {
		create(t, s, key)
	}
	all, err := s.Corpora.Get(t.Context(), "c", "a", "c")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range all {
		keys = append(keys, c.Key)
	}
	if diff := cmp.Diff([]string{"c", "a", "c"}, keys); diff != "" {
		t.Error("keys (-want +got):", diff)
	}
	_, err = s.Corpora.Get(t.Context(), "a", "x", "b", "y")
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "corpus_not_found" || f.ID != "x" {
		t.Errorf("missing keys: %v, want corpus_not_found of x", err)
	}
}

// pages reads a whole list with pages of n and returns the keys.
func pages(t *testing.T, s Stores, l corpus.List) (keys []string) {
	t.Helper()
	for range 100 {
		page, more, err := s.Corpora.List(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > l.Limit {
			t.Fatalf("%d corpora on a page of %d", len(page), l.Limit)
		}
		for _, c := range page {
			keys = append(keys, c.Key)
		}
		if !more {
			return keys
		}
		last := page[len(page)-1]
		l.After = &corpus.Position{Created: last.Created.UnixMicro(), No: last.No}
	}
	t.Fatal("the list does not end")
	return nil
}

// testListCorpora proves that List returns every corpus once, newest first, those of one moment by number, whatever the
// size of the page.
func testListCorpora(t *testing.T, s Stores) {
	now := clock.Now()
	var ids []id.Corpus
	for i, age := range []int{0, 2, 1, 1, 1, 3} {
		c := Corpus(fmt.Sprint("c", i))
		c.Created = now.Add(-time.Duration(age) * time.Second)
		if _, err := s.Corpora.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	want := []string{"c0", "c4", "c3", "c2", "c1", "c5"}
	for n := 1; n <= 7; n++ {
		if diff := cmp.Diff(want, pages(t, s, corpus.List{Limit: n})); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
	}
	some := corpus.List{Limit: 1, IDs: []id.Corpus{ids[5], ids[0], "crp_unknown", ids[3]}}
	if diff := cmp.Diff([]string{"c0", "c3", "c5"}, pages(t, s, some)); diff != "" {
		t.Error("chosen by id (-want +got):", diff)
	}
	for _, key := range []string{"c4", "c2", "c2"} {
		if _, err := s.Corpora.Reset(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range [][]string{want, {"c4", "c2"}, {"c2"}, nil} {
		if diff := cmp.Diff(want, pages(t, s, corpus.List{Limit: 1, Since: int64(since)})); diff != "" {
			t.Errorf("those with change %d (-want +got): %s", since, diff)
		}
	}
}

// testMatchCorpora proves that a pattern is searched in name and description; more is true only when another match
// follows.
func testMatchCorpora(t *testing.T, s Stores) {
	now := clock.Now()
	for i, name := range []string{"red apple", "pear", "green apple", "plum"} {
		c := Corpus(fmt.Sprint("c", i))
		c.Name, c.Created = name, now.Add(-time.Duration(i)*time.Second)
		if c.Description = nil; i == 3 {
			about := "like an apple"
			c.Description = &about
		}
		if _, err := s.Corpora.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	apple := regexp.MustCompile(`\bapple$`)
	for n := 1; n <= 4; n++ {
		if diff := cmp.Diff([]string{"c0", "c2", "c3"}, pages(t, s, corpus.List{Limit: n, Match: apple})); diff != "" {
			t.Errorf("pages of %d (-want +got): %s", n, diff)
		}
	}
	if got := pages(t, s, corpus.List{Limit: 2, Match: regexp.MustCompile("quince")}); got != nil {
		t.Errorf("no match gave %v", got)
	}
}

// testUpdateCorpus proves that update changes what is present, an empty text included, and nothing else.
func testUpdateCorpus(t *testing.T, s Stores) {
	want := create(t, s, "u")
	for _, c := range []struct {
		patch corpus.Patch
		apply func()
	}{
		{corpus.Patch{}, func() {}},
		{corpus.Patch{Name: opt.Null[string](), Enabled: opt.Null[bool]()}, func() {}},
		{corpus.Patch{Name: opt.Some("new")}, func() { want.Name = "new" }},
		{corpus.Patch{Description: opt.Some("")}, func() { empty := ""; want.Description = &empty }},
		{corpus.Patch{Enabled: opt.Some(false), SaveHistory: opt.Some(false)}, func() { want.Enabled, want.SaveHistory = false, false }},
	} {
		c.apply()
		got, err := s.Corpora.Update(t.Context(), "u", c.patch)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(want, get(t, s, "u")); diff != "" {
			t.Errorf("patch %+v (-want +got): %s", c.patch, diff)
		}
	}
	if _, err := s.Corpora.Update(t.Context(), "none", corpus.Patch{}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("update of no corpus: %v, want not found", err)
	}
}

// testResetCorpus proves that reset leaves an empty corpus with its settings and a new epoch, as one change after the
// others.
func testResetCorpus(t *testing.T, s Stores) {
	c := create(t, s, "r")
	no := insert(t, s, c, "d", 3)
	insert(t, s, c, "e", 1)
	got, err := s.Corpora.Reset(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got.Epoch == c.Epoch {
		t.Error("the epoch is the same after a reset")
	}
	want := c
	want.Seq, want.Epoch = 3, got.Epoch
	if diff := cmp.Diff(want, got) + cmp.Diff(want, get(t, s, "r")); diff != "" {
		t.Error("after reset (-want +got):", diff)
	}
	wantEmpty(t, s, got, no)
	changes, missing, err := s.Documents.Changes(t.Context(), c.No, 2, 3, 10)
	if diff := cmp.Diff([]document.Change{{Seq: 3, Op: document.OpReset}}, changes); diff != "" || missing || err != nil {
		t.Errorf("changes: missing %v, error %v, (-want +got): %s", missing, err, diff)
	}
	if again := insert(t, s, got, "d", 2); again == no {
		t.Error("a document after the reset has the number of one before it")
	}
	if _, err := s.Corpora.Reset(t.Context(), "none"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("reset of no corpus: %v, want not found", err)
	}
}

// wantEmpty checks that no way of reading shows a document; no is that of one that was there as "d".
func wantEmpty(t *testing.T, s Stores, c corpus.Corpus, no int64) {
	t.Helper()
	ctx := t.Context()
	if all, err := s.Documents.List(ctx, c.No, document.List{Limit: 10}); err != nil || len(all) != 0 {
		t.Errorf("List: %d documents, %v; want none", len(all), err)
	}
	if _, err := s.Documents.Get(ctx, c.No, "d", true); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("Get: %v, want not found", err)
	}
	if all, err := s.Documents.Load(ctx, c.No, []int64{no}); err != nil || len(all) != 0 {
		t.Errorf("Load: %d documents, %v; want none", len(all), err)
	}
	if all, _, _, err := s.Documents.Scan(ctx, c.No, 0, 10); len(all) != 0 || err != nil && !fault.Is(err, fault.KindNotFound) {
		t.Errorf("Scan: %d documents, %v; want none", len(all), err)
	}
	if all, err := s.Documents.Passages(ctx, c.No, []document.Ref{{No: no}}, document.Window{}); err != nil || len(all) != 0 {
		t.Errorf("Passages: %d, %v; want none", len(all), err)
	}
	if _, err := Remove(ctx, s.Documents, c, "d"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("Delete: %v, want not found", err)
	}
}

// testDeleteCorpus proves that delete removes everything; the key is free at once for a corpus with another number,
// epoch and no content.
func testDeleteCorpus(t *testing.T, s Stores) {
	c := create(t, s, "k")
	no := insert(t, s, c, "d", 3)
	if err := s.Corpora.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, s, c, no)
	if _, err := s.Corpora.Get(t.Context(), "k"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("get after delete: %v, want not found", err)
	}
	if err := s.Corpora.Delete(t.Context(), "k"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("second delete: %v, want not found", err)
	}
	if _, _, _, err := s.Documents.Scan(t.Context(), c.No, 0, 1); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("scan after delete: %v, want not found", err)
	}
	again := create(t, s, "k")
	if again.No == c.No || again.Epoch == c.Epoch || again.Seq != 0 || again.Usage != (corpus.Usage{}) {
		t.Errorf("the new corpus %+v has something of the old one %+v", again, c)
	}
	wantEmpty(t, s, again, no)
	insert(t, s, again, "d", 1)
}

// testReplaceAttributes proves that replaceAttributes takes the whole list under the next version, and only under that
// one.
func testReplaceAttributes(t *testing.T, s Stores) {
	want := create(t, s, "c")
	insert(t, s, want, "d", 1)
	want = get(t, s, "c")
	refused := func(no, version int64) {
		t.Helper()
		_, err := s.Corpora.ReplaceAttributes(t.Context(), no, nil, version)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "corpus_changed" {
			t.Errorf("version %d of corpus %d: %v, want the conflict corpus_changed", version, no, err)
		}
	}
	refused(want.No, 2)
	refused(want.No+1, 1)
	for _, all := range [][]corpus.Attribute{
		{{Name: "a", Level: "part", Type: "list[text]"}, {Name: "b", Level: "document", Type: "real", Indexed: true, Description: "é"}}, nil,
	} {
		want.Attributes, want.SchemaVersion = all, want.SchemaVersion+1
		got, err := s.Corpora.ReplaceAttributes(t.Context(), want.No, all, want.SchemaVersion)
		if diff := cmp.Diff(want, got) + cmp.Diff(want, get(t, s, "c")); diff != "" || err != nil {
			t.Errorf("%v (-want +got): %s", err, diff)
		}
		refused(want.No, want.SchemaVersion)
	}
}

// testRecount proves that Recount finds nothing to repair after ordinary writes.
func testRecount(t *testing.T, s Stores) {
	c := create(t, s, "c")
	for _, n := range []int{0, 1, 40} {
		insert(t, s, c, fmt.Sprint("d", n), n)
	}
	want := get(t, s, "c")
	got, err := s.Corpora.Recount(t.Context(), "c")
	if diff := cmp.Diff(want, got); diff != "" || err != nil || got.Usage.Parts != 41 {
		t.Errorf("%v (-want +got): %s", err, diff)
	}
	if _, err := s.Corpora.Recount(t.Context(), "none"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no corpus: %v", err)
	}
}

// testDeleteAborts proves that deleting a corpus aborts its jobs.
func testDeleteAborts(t *testing.T, s Stores) {
	create(t, s, "gone")
	create(t, s, "stays")
	jobtest.AbortedByDelete(t, s.Jobs, func() error { return s.Corpora.Delete(t.Context(), "gone") })
}
