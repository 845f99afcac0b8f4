package glossaries_test

import (
	"fmt"
	"testing"

	"quarry/internal/clock"
	"quarry/internal/glossary"
	"quarry/internal/store"
	"quarry/internal/store/glossaries"
)

// BenchmarkPut measures a call that writes 1,000 entries of a glossary with 99,000 others, and what the next turn then takes to see
// them; beside it a turn that has nothing new to see, and one on a node that has not read the glossary yet.
func BenchmarkPut(b *testing.B) {
	db, err := store.Open(b.Context(), store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() }) // after the measurement
	s, now := glossaries.New(db), clock.Now()
	g, err := s.Create(b.Context(), glossary.Glossary{Key: "bench", Name: "bench", Created: now, Updated: now})
	if err != nil {
		b.Fatal(err)
	}
	put := func(from int, what string) {
		entries := make([]glossary.Entry, 1000)
		for i := range entries {
			entries[i] = glossary.Entry{Term: fmt.Sprintf("term %d of the plant", (from+i)*7919%100_000), Expansion: fmt.Sprintf("what it stands for, in some words, %s %d", what, i)}
		}
		if err := s.Put(b.Context(), g, entries, clock.Now()); err != nil {
			b.Fatal(err)
		}
	}
	for from := 0; from < 100_000; from += 1000 {
		put(from, "first")
	}
	open := func(l *glossary.Lookup) {
		if words, err := l.Open(b.Context(), []string{"bench"}); err != nil || words["bench"] == nil {
			b.Fatal(words, err)
		}
	}
	warm := glossary.NewLookup(s, 0)
	open(warm)
	b.Run("write", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			put(n%100*1000, fmt.Sprint(n))
		}
	})
	b.Run("write and open", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			put(n%100*1000, fmt.Sprint("again ", n))
			open(warm)
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			open(warm)
		}
	})
	b.Run("open cold", func(b *testing.B) {
		for b.Loop() {
			open(glossary.NewLookup(s, 0))
		}
	})
}
