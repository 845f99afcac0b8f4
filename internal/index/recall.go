package index

import (
	"quarry/internal/index/recall"
	"quarry/internal/index/sides"
)

const recallBest = 10 // parts by cosine that a search which is asked again should have found

// checking is held by the one search of the process that is being asked again, so that this never takes more than a core.
var checking = make(chan struct{}, 1)

// Recall returns, for each way to search vectors that is not exact, what has been found by it since the index was opened:
// one search in a thousand is asked again exactly, in the background.
func (x *Index) Recall() []recall.Recall { return x.recall.All() }

// check asks a search that was not exact again, in the background; dense is what its dense side has chosen.
func (s *Snapshot) check(r *sides.Search, dense []sides.Place) {
	x, st := s.x, s.st
	select {
	case checking <- struct{}{}:
	default:
		return // another one is being asked
	}
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		<-checking
		return
	}
	st.refs++
	x.checks.Add(1)
	x.mu.Unlock()
	go func() {
		var err error
		defer func() {
			x.release(st)
			<-checking
			x.checks.Done()
		}()
		defer guard(&err, st.views)() // a damaged file ends it early
		if best, found, err := r.Compare(recallBest, dense); err == nil {
			x.recall.Add(best, found)
		}
	}()
}
