package layer

import (
	"errors"
	"sync"

	"quarry/internal/expr/filter"
)

// maxParsed is how many filters are kept parsed. Whoever asks often has few, and parsing one costs some microseconds.
const maxParsed = 64

// parsed keeps the filters that were asked for. Safe for concurrent use.
type parsed struct {
	of   *filter.Schema // nil = no attributes
	mu   sync.Mutex
	kept map[string]*filter.Filter // guarded by mu
}

func (p *parsed) get(text string) (*filter.Filter, error) {
	if text == "" {
		return nil, nil
	}
	if p.of == nil {
		return nil, errors.New("a filter for an index without attributes")
	}
	p.mu.Lock()
	f, ok := p.kept[text]
	p.mu.Unlock()
	if ok {
		return f, nil
	}
	f, err := filter.Parse(text, p.of, filter.Both)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= maxParsed {
		p.kept = nil
	}
	if p.kept == nil {
		p.kept = map[string]*filter.Filter{}
	}
	p.kept[text] = f
	return f, nil
}
