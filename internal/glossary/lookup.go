package glossary

import (
	"context"
	"strings"
	"sync"

	"quarry/internal/fault"
	matcher "quarry/internal/text/glossary"
)

// Lookup opens glossaries to find their terms in texts. It keeps what it has read, and reads what was changed since. Safe for concurrent
// use.
type Lookup struct {
	store Store
	most  int64 // bytes

	mu   sync.Mutex
	kept map[int64]*kept // by number; guarded by mu, like all below
	size int64
	uses int64
}

// kept is a glossary in memory.
type kept struct {
	mu      sync.Mutex // one reads it, the others wait for that
	version int64      // guarded by mu, like index
	index   *matcher.Index

	size, used int64 // guarded by Lookup.mu
}

// maxKept is how many bytes of glossaries are kept. One alone that takes more is read anew for each turn.
const maxKept = 256 << 20

// NewLookup returns a lookup that keeps up to most bytes in memory, 0 for the default.
func NewLookup(s Store, most int64) *Lookup {
	if most == 0 {
		most = maxKept
	}
	return &Lookup{store: s, most: most, kept: map[int64]*kept{}}
}

// Words are the terms of a glossary as they were when it was opened; they don't change.
type Words struct{ index *matcher.Index }

// Open returns the glossaries of keys, those that there are, each as it is now or later.
func (l *Lookup) Open(ctx context.Context, keys []string) (map[string]*Words, error) {
	found, err := l.store.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*Words, len(found))
	for _, g := range found {
		index, err := l.index(ctx, g)
		switch {
		case fault.Is(err, fault.KindNotFound): // deleted just now
		case err != nil:
			return nil, err
		default:
			out[g.Key] = &Words{index}
		}
	}
	return out, nil
}

// index returns the terms of a glossary in a version that is not before its own.
func (l *Lookup) index(ctx context.Context, g Glossary) (*matcher.Index, error) {
	k := l.take(g.No)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.index != nil && k.version >= g.Version {
		return k.index, nil
	}
	if k.index == nil {
		k.index, k.version = new(matcher.Index), 0
	}
	c, err := l.store.Since(ctx, g, k.version)
	if err != nil {
		return nil, err
	}
	if c.Whole {
		k.index = new(matcher.Index)
	}
	k.index, k.version = k.index.With(c.Entries), c.Version
	l.weigh(g.No, k)
	return k.index, nil
}

// take returns what is kept of a glossary, which may be nothing yet.
func (l *Lookup) take(no int64) *kept {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.kept[no]
	if k == nil {
		k = &kept{}
		l.kept[no] = k
	}
	l.uses++
	k.used = l.uses
	return k
}

// weigh notes what a glossary takes, and forgets those that were used longest ago if all of them take too much.
func (l *Lookup) weigh(no int64, k *kept) {
	size := k.index.Size()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept[no] != k {
		return // forgotten meanwhile
	}
	l.size += size - k.size
	k.size = size
	for l.size > l.most {
		oldest := no
		for other, o := range l.kept {
			if o.size > 0 && o.used < l.kept[oldest].used {
				oldest = other
			}
		}
		l.size -= l.kept[oldest].size
		delete(l.kept, oldest)
		if oldest == no {
			return
		}
	}
}

// maxFound is how many terms of a text are told.
const maxFound = 100

// heading begins a note.
const heading = "What terms of this message stand for, by the glossary:"

// Note returns what a model is told of the terms in a text: a heading, and a line for each of them, in the order of the text. It is empty
// where the text has none.
func (w *Words) Note(text string) string {
	found := w.index.Find(text, maxFound)
	if len(found) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heading)
	for _, m := range found {
		b.WriteString("\n" + line(m.Term) + ": " + line(m.Expansion))
	}
	return b.String()
}

// line returns a text as one line.
func line(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return strings.Join(parts, " ")
}
