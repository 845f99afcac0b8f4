package glossaries_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/glossary"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/glossaries"
	"quarry/internal/store/storetest"
)

// stores are those of one database.
type stores struct {
	*glossaries.Store
	db *store.DB
}

// TestStore proves that the store keeps the promises of glossary.Store on both databases.
func TestStore(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) stores { return stores{glossaries.New(db), db} }
	storetest.Each(t, open, map[string]func(*testing.T, stores){
		"read": testRead, "list": testList, "entries": testEntries, "full": testFull, "at once": testAtOnce, "since": testSince, "delete": testDelete, "nodes": testNodes,
	})
}

func (s stores) make(t *testing.T, key string) glossary.Glossary {
	t.Helper()
	now := clock.Now()
	made, err := s.Create(t.Context(), glossary.Glossary{Key: key, Name: "Ünï", Description: "d", Created: now, Updated: now})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// put writes entries, of which each term stands for itself and a version.
func (s stores) put(t *testing.T, g glossary.Glossary, version string, terms ...string) {
	t.Helper()
	if err := s.Put(t.Context(), g, entries(version, terms...), clock.Now()); err != nil {
		t.Fatal(err)
	}
}

func entries(version string, terms ...string) []glossary.Entry {
	all := []glossary.Entry{}
	for _, term := range terms {
		all = append(all, glossary.Entry{Term: term, Expansion: term + version})
	}
	return all
}

// get returns a glossary as it is now.
func (s stores) get(t *testing.T, key string) glossary.Glossary {
	t.Helper()
	g, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// testRead proves that a glossary is read as it was written and changed, that a key is taken once, and that missing ones are told so.
func testRead(t *testing.T, s stores) {
	one := s.make(t, "read")
	if diff := cmp.Diff(one, s.get(t, "read")); diff != "" {
		t.Error(diff)
	}
	found, err := s.Find(t.Context(), []string{"none", "read"})
	if err != nil || len(found) != 1 || found[0].No != one.No {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := s.Create(t.Context(), glossary.Glossary{Key: "read"}); !fault.Is(err, fault.KindConflict) {
		t.Errorf("a second one of the key: %v", err)
	}
	name, empty, later := "n", "", one.Updated.Add(time.Second)
	for _, step := range []struct {
		name, description *string
		at                time.Time
		want              glossary.Glossary
	}{
		{&name, nil, later, glossary.Glossary{Name: "n", Description: "d", Updated: later}},
		{nil, &empty, one.Updated, glossary.Glossary{Name: "n", Updated: later}}, // it was begun before the first change
	} {
		want := step.want
		want.No, want.Key, want.Created = one.No, one.Key, one.Created
		got, err := s.Update(t.Context(), one, step.name, step.description, step.at)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		if diff := cmp.Diff(want, s.get(t, "read")); diff != "" {
			t.Error(diff)
		}
	}
	gone := glossary.Glossary{No: one.No + 1000, Key: "none"}
	_, updated := s.Update(t.Context(), gone, &name, nil, later)
	_, read := s.Get(t.Context(), "none")
	_, since := s.Since(t.Context(), gone, 0)
	for what, err := range map[string]error{
		"get": read, "update": updated, "since": since, "delete": s.Delete(t.Context(), gone, later),
		"put": s.Put(t.Context(), gone, entries("", "a"), later), "remove": s.Remove(t.Context(), gone, []string{"a"}, later),
	} {
		if f, ok := fault.As(err); !ok || f.Code != "glossary_not_found" || f.ID != "none" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// testList proves that pages have every glossary that matches once, newest first, and none that was deleted.
func testList(t *testing.T, s stores) {
	var want []string
	for i := range 5 {
		g := s.make(t, fmt.Sprint("list-", i))
		if i == 2 {
			if err := s.Delete(t.Context(), g, clock.Now()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want = append([]string{g.Key}, want...)
	}
	var got []string
	var after *page.Position
	for more := true; more; {
		var found []glossary.Glossary
		var err error
		found, more, err = s.List(t.Context(), glossary.List{After: after, Limit: 2, Match: func(g *glossary.Glossary) bool { return slices.Contains(want, g.Key) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range found {
			got, after = append(got, g.Key), g.Position()
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// testEntries proves that entries are counted, overwritten and removed by their exact term, and listed by its bytes, and that what
// removes nothing changes nothing.
func testEntries(t *testing.T, s stores) {
	g, other := s.make(t, "entries"), s.make(t, "other")
	s.put(t, other, "", "a", "b")
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("m%03d", i))
	}
	s.put(t, g, "1", many...)
	s.put(t, g, "2", "Ä", "a", "A", "m000", "z")
	s.put(t, g, "3", "a")
	if now := s.get(t, "entries"); now.Entries != 1004 || now.Version != 3 || !now.Updated.After(g.Updated) {
		t.Errorf("after three writes: %+v", now)
	}
	if err := s.Remove(t.Context(), g, append(many, "none"), clock.Now()); err != nil {
		t.Fatal(err)
	}
	before := s.get(t, "entries")
	if err := s.Remove(t.Context(), g, many, clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if now := s.get(t, "entries"); now != before || now.Entries != 4 {
		t.Errorf("after nothing was removed: %+v, before %+v", now, before)
	}
	want := []glossary.Entry{{Term: "A", Expansion: "A2"}, {Term: "a", Expansion: "a3"}, {Term: "z", Expansion: "z2"}, {Term: "Ä", Expansion: "Ä2"}}
	var got []glossary.Entry
	for more, after := true, ""; more; {
		var found []glossary.Entry
		var err error
		if found, more, err = s.Entries(t.Context(), g, after, 2); err != nil {
			t.Fatal(err)
		}
		got, after = append(got, found...), found[len(found)-1].Term
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if now := s.get(t, "other"); now.Entries != 2 {
		t.Errorf("another glossary has %d", now.Entries)
	}
}

// testFull proves that a glossary takes as many terms as it may have, those that it has already beside, and nothing of what goes beyond.
func testFull(t *testing.T, s stores) {
	g := s.make(t, "full")
	err := s.db.Write(t.Context(), func(tx *store.Tx) error {
		return tx.Exec(`UPDATE glossaries SET entries = $2 WHERE no = $1`, g.No, glossary.MaxEntries-2)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.put(t, g, "1", "a")
	err = s.Put(t.Context(), g, entries("2", "a", "b", "c"), clock.Now())
	if f, ok := fault.As(err); !ok || f.Fields["entries"] == "" {
		t.Errorf("two more where there is room for one: %v", err)
	}
	if found, _, err := s.Entries(t.Context(), g, "", 9); err != nil || len(found) != 1 || found[0].Expansion != "a1" {
		t.Errorf("%v, %v", found, err)
	}
	s.put(t, g, "3", "a", "b")
	if now := s.get(t, "full"); now.Entries != glossary.MaxEntries {
		t.Errorf("it has %d", now.Entries)
	}
}

// testAtOnce proves that changes at once are counted exactly, and that each of them is a version.
func testAtOnce(t *testing.T, s stores) {
	g := s.make(t, "at-once")
	var group sync.WaitGroup
	last := clock.Now().Add(time.Hour)
	for i := range 8 {
		group.Go(func() {
			if err := s.Put(t.Context(), g, entries("", "same", fmt.Sprint("own", i), fmt.Sprint("pair", i/2)), last.Add(-time.Duration(i)*time.Second)); err != nil {
				t.Error(err)
			}
			if err := s.Remove(t.Context(), g, []string{fmt.Sprint("own", i), "none"}, last.Add(-time.Duration(i)*time.Second)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	found, _, err := s.Entries(t.Context(), g, "", 99)
	if now := s.get(t, "at-once"); err != nil || now.Entries != 5 || len(found) != 5 || now.Version != 16 || !now.Updated.Equal(last) {
		t.Errorf("%+v, %d there, %v", now, len(found), err)
	}
}

// testSince proves that what was written behind a version is read, all of it where terms were removed since.
func testSince(t *testing.T, s stores) {
	g := s.make(t, "since")
	s.put(t, g, "1", "a", "b")
	s.put(t, g, "2", "b", "c")
	since := func(version int64, want glossary.Changes) {
		t.Helper()
		got, err := s.Since(t.Context(), g, version)
		slices.SortFunc(got.Entries, func(a, b glossary.Entry) int { return strings.Compare(a.Term, b.Term) })
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("since %d: %v, %s", version, err, diff)
		}
	}
	all := []glossary.Entry{{Term: "a", Expansion: "a1"}, {Term: "b", Expansion: "b2"}, {Term: "c", Expansion: "c2"}}
	since(0, glossary.Changes{Version: 2, Entries: all})
	since(1, glossary.Changes{Version: 2, Entries: all[1:]})
	since(2, glossary.Changes{Version: 2})
	if err := s.Remove(t.Context(), g, []string{"b"}, clock.Now()); err != nil {
		t.Fatal(err)
	}
	s.put(t, g, "4", "d")
	all = []glossary.Entry{all[0], all[2], {Term: "d", Expansion: "d4"}}
	since(2, glossary.Changes{Version: 4, Whole: true, Entries: all})
	since(3, glossary.Changes{Version: 4, Entries: all[2:]})
}

// testDelete proves that a glossary is gone at once with its key, that the sweep removes its rows and no others, and that a later one of
// the key has another number.
func testDelete(t *testing.T, s stores) {
	g, stays := s.make(t, "delete"), s.make(t, "stays")
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprint(i))
	}
	s.put(t, g, "", many...)
	s.put(t, stays, "", "a")
	if err := s.Delete(t.Context(), g, clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), g, clock.Now()); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if again := s.make(t, "delete"); again.No == g.No || again.Entries != 0 {
		t.Errorf("a later one: %+v", again)
	}
	sweeper := glossaries.Sweeper{}
	for more := true; more; {
		err := s.db.Write(t.Context(), func(tx *store.Tx) (err error) {
			more, err = sweeper.Sweep(tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var rows, entries int
	read := s.db.Reader(t.Context())
	if err := read.QueryRow(`SELECT COUNT(*) FROM glossaries WHERE deleted > 0`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d deleted glossaries are left (%v)", rows, err)
	}
	if err := read.QueryRow(`SELECT COUNT(*) FROM glossary_entries WHERE glossary_no = $1`, g.No).Scan(&entries); err != nil || entries != 0 {
		t.Errorf("%d entries are left (%v)", entries, err)
	}
	if now := s.get(t, "stays"); now.Entries != 1 {
		t.Errorf("another one has %d", now.Entries)
	}
}

// testNodes proves that each of two nodes sees what either has written as soon as that was answered, whatever it has in memory.
func testNodes(t *testing.T, s stores) {
	g := s.make(t, "nodes")
	nodes := []*glossary.Lookup{glossary.NewLookup(s, 0), glossary.NewLookup(s, 0)}
	want := map[string]string{}
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var terms []string
		for range 1 + r.IntN(3) {
			if term := fmt.Sprint("t", r.IntN(12)); !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
		if r.IntN(3) == 0 {
			if err := s.Remove(t.Context(), g, terms, clock.Now()); err != nil {
				t.Fatal(err)
			}
			for _, term := range terms {
				delete(want, term)
			}
		} else {
			version := fmt.Sprint("=", r.IntN(100))
			s.put(t, g, version, terms...)
			for _, term := range terms {
				want[term] = term + version
			}
		}
		var lines []string
		for i := range 12 {
			if term := fmt.Sprint("t", i); want[term] != "" {
				lines = append(lines, term+": "+want[term])
			}
		}
		words, err := nodes[r.IntN(2)].Open(t.Context(), []string{"nodes"})
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(words["nodes"].Note("t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 t10 t11"), "\n")
		if got != strings.Join(lines, "\n") {
			t.Fatalf("a node sees %q, want %q", got, lines)
		}
	}
}
