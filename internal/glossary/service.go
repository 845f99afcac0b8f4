package glossary

import (
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Service keeps glossaries. Safe for concurrent use.
type Service struct{ store Store }

// New returns a service.
func New(s Store) *Service { return &Service{s} }

// Change is what a client writes to a glossary; what is absent stays, or is empty in a new one.
type Change struct{ Name, Description opt.Field[string] }

// apply returns g with the change, checked.
func (c *Change) apply(g Glossary, bad *fault.Fault) (Glossary, error) {
	g.Name, g.Description = c.Name.Or(g.Name), c.Description.Or(g.Description)
	g.check(bad)
	return g, bad.Err()
}

// Create writes a new glossary. An empty key is made from the name; one that is taken is fault.KindConflict.
func (s *Service) Create(ctx context.Context, key string, c Change) (Glossary, error) {
	bad := fault.Invalid()
	if key != "" && !keyPattern.MatchString(key) {
		bad.Field("key", "must be 1 to %d letters, digits, _, = and -", id.MaxKey)
	}
	now := clock.Now()
	made, err := c.apply(Glossary{Key: key, Created: now, Updated: now}, bad)
	if err != nil {
		return Glossary{}, err
	}
	if key != "" {
		return s.store.Create(ctx, made)
	}
	for tries := 0; ; tries++ {
		made.Key = id.Key("gls_", made.Name, "glossary")
		written, err := s.store.Create(ctx, made)
		if f, ok := fault.As(err); tries == 20 || !ok || f.Code != taken {
			return written, err
		}
	}
}

// Get returns a glossary.
func (s *Service) Get(ctx context.Context, key string) (Glossary, error) {
	return s.store.Get(ctx, key)
}

// List returns a page of glossaries, newest first, and where the next page begins, nil on the last one. A filter is a part of the
// name or of the description, in whatever case.
func (s *Service) List(ctx context.Context, filter string, after *page.Position, limit int) (found []Glossary, next *page.Position, err error) {
	l := List{After: after, Limit: limit}
	if filter != "" {
		part := caseless(filter)
		l.Match = func(g *Glossary) bool {
			return strings.Contains(caseless(g.Name), part) || strings.Contains(caseless(g.Description), part)
		}
	}
	found, more, err := s.store.List(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Position()
	}
	return found, next, nil
}

// caseless returns a text without what case and the spelling of accents make different.
func caseless(text string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(text))) }

// Update changes name and description of a glossary and returns it.
func (s *Service) Update(ctx context.Context, g Glossary, c Change) (Glossary, error) {
	changed, err := c.apply(g, fault.Invalid())
	if err != nil || changed == g {
		return g, err
	}
	return s.store.Update(ctx, g, given(c.Name), given(c.Description), clock.Now())
}

// given returns the value of a field, nil if it has none.
func given(f opt.Field[string]) *string {
	if v, ok := f.Get(); ok {
		return &v
	}
	return nil
}

// Delete removes a glossary with its entries. Agents that name it are told of no terms from their next turn on.
func (s *Service) Delete(ctx context.Context, g Glossary) error {
	return s.store.Delete(ctx, g, clock.Now())
}

// Put writes what terms stand for, all or nothing. The next turn of every agent knows of it when Put returns.
func (s *Service) Put(ctx context.Context, g Glossary, entries map[string]string) error {
	if err := checkEntries(entries); err != nil {
		return err
	}
	all := make([]Entry, 0, len(entries))
	for _, term := range slices.Sorted(maps.Keys(entries)) {
		all = append(all, Entry{Term: term, Expansion: entries[term]})
	}
	return s.store.Put(ctx, g, all, clock.Now())
}

// Remove removes terms, all or nothing; those that the glossary doesn't have are left out.
func (s *Service) Remove(ctx context.Context, g Glossary, terms []string) error {
	if n := len(terms); n < 1 || n > maxBatch {
		return fault.InvalidField("terms", "must have 1 to %d terms, it has %d", maxBatch, n)
	}
	terms = slices.Clone(terms)
	slices.Sort(terms)
	return s.store.Remove(ctx, g, slices.Compact(terms), clock.Now())
}

// Entries returns a page of entries, by the bytes of their terms, and the term behind which the next page begins, nil on the last one.
func (s *Service) Entries(ctx context.Context, g Glossary, after string, limit int) (found []Entry, next *string, err error) {
	found, more, err := s.store.Entries(ctx, g, after, limit)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = &found[len(found)-1].Term
	}
	return found, next, nil
}

// Unknown returns those keys that no glossary has.
func (s *Service) Unknown(ctx context.Context, keys []string) ([]string, error) {
	found, err := s.store.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(found, func(g Glossary) bool { return g.Key == key })
	}), nil
}
