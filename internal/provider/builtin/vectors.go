package builtin

import (
	"container/list"
	"context"
	"slices"
	"sync"

	"quarry/internal/embed"
)

// keptVectors is how many vectors of sentences are kept, 1.5 kB each with 384 dimensions: the sentences of the same
// passages are asked about again and again.
const keptVectors = 4096

// vectors caches the vectors of the sentences used last. An encoder returns the same vector for a text every time, so the cache
// changes only the time of an answer.
type vectors struct {
	mu    sync.Mutex
	byKey map[vectorKey]*list.Element // guarded by mu
	used  *list.List                  // of kept; guarded by mu; last used first
}

type vectorKey struct {
	encoder, text string
	kind          embed.Kind
}

type kept struct {
	key    vectorKey
	vector []float32
}

func newVectors() *vectors {
	return &vectors{byKey: map[vectorKey]*list.Element{}, used: list.New()}
}

// of returns the vectors of texts, which must not be changed.
func (v *vectors) of(ctx context.Context, e embed.Encoder, kind embed.Kind, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing []int
	v.mu.Lock()
	for i, text := range texts {
		if at, ok := v.byKey[vectorKey{e.Fingerprint(), text, kind}]; ok {
			v.used.MoveToFront(at)
			out[i] = at.Value.(*kept).vector
		} else {
			missing = append(missing, i)
		}
	}
	v.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	want := make([]string, len(missing))
	into := make([][]float32, len(missing))
	room := make([]float32, len(missing)*e.Dim())
	for j, i := range missing {
		want[j] = texts[i]
		into[j] = room[j*e.Dim() : (j+1)*e.Dim() : (j+1)*e.Dim()]
		out[i] = into[j]
	}
	if err := e.Encode(ctx, kind, want, into); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for j, text := range want {
		v.keep(vectorKey{e.Fingerprint(), text, kind}, into[j])
	}
	return out, nil
}

// keep adds a vector; the caller holds mu.
func (v *vectors) keep(k vectorKey, vector []float32) {
	if _, ok := v.byKey[k]; ok {
		return
	}
	if v.used.Len() >= keptVectors {
		last := v.used.Back()
		delete(v.byKey, last.Value.(*kept).key)
		v.used.Remove(last)
	}
	v.byKey[k] = v.used.PushFront(&kept{k, slices.Clone(vector)})
}
