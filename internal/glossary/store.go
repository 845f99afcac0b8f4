package glossary

import (
	"context"
	"time"

	"quarry/internal/page"
)

// List selects glossaries, newest first.
type List struct {
	After *page.Position // the last one shown, nil for the first page
	Limit int
	Match func(*Glossary) bool // nil: every one
}

// Store keeps glossaries. One that does not exist, or was deleted, is Missing.
type Store interface {
	// Create writes a glossary and returns it with No set; a key that another one has is Taken.
	Create(ctx context.Context, g Glossary) (Glossary, error)
	Get(ctx context.Context, key string) (Glossary, error)
	// List returns up to l.Limit glossaries and whether more follow.
	List(ctx context.Context, l List) (found []Glossary, more bool, err error)
	// Update writes name and description of a glossary, each unless it is nil, and returns it.
	Update(ctx context.Context, g Glossary, name, description *string, at time.Time) (Glossary, error)
	// Delete removes a glossary in one small transaction. Its key is free when Delete returns; its entries, which nobody reaches then,
	// are swept later.
	Delete(ctx context.Context, g Glossary, at time.Time) error

	// Put writes entries, each term once, in the place of those of the same terms. Full if there would be more than MaxEntries.
	Put(ctx context.Context, g Glossary, entries []Entry, at time.Time) error
	// Remove removes the entries of those terms that there are. It changes nothing if there are none.
	Remove(ctx context.Context, g Glossary, terms []string, at time.Time) error
	// Entries returns up to limit entries behind a term, by the bytes of the terms, and whether more follow.
	Entries(ctx context.Context, g Glossary, after string, limit int) (found []Entry, more bool, err error)

	// Find returns those glossaries of the keys that there are.
	Find(ctx context.Context, keys []string) ([]Glossary, error)
	// Since returns what was written to a glossary behind a version, 0 for all.
	Since(ctx context.Context, g Glossary, version int64) (Changes, error)
}

// Changes are entries of a glossary that were written behind a version of it.
type Changes struct {
	Version int64 // of the glossary with these entries
	Whole   bool  // they are all that the glossary has, because some were removed since
	Entries []Entry
}
