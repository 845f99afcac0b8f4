// Package data makes what bench/scale measures with, from the Win32 documentation and the embedded encoder: a million
// passages, their analysed words, vectors of three kinds, and queries. Everything is the same in every run and on every
// machine; what takes long is kept in a folder.
package data

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"quarry/internal/query/evaluate"
)

// Document is a page of the documentation, cut into passages. Those of a later round of cutting have ids of their own.
type Document struct {
	ID, Title, Area, Topic string
	Year                   int
	First, Count           int // its passages
}

// Passages is the text of the benchmark.
type Passages struct {
	Documents []Document
	Texts     []string // of all documents, one after another
	Of        []int32  // the document of each text
}

const (
	leastWords, mostWords = 10, 40
	files                 = 4 // of the collection
	rounds                = 5 // of cutting; the first gives more than half a million
)

type page struct {
	ID, Title string
	Metadata  struct {
		Area, Topic string
		Year        int
	}
	Sections []struct{ Text string }
}

var errEnough = errors.New("enough")

// Cut returns n passages of 10 to 40 words of the collection in a folder. The first round cuts the sections into disjoint
// passages, later ones into windows of other sizes from another word on; no text comes twice. The first of many passages
// are those of few.
func Cut(folder string, n int) (*Passages, error) {
	c := cutter{out: &Passages{}, want: n, seen: make(map[uint64]bool, n)}
	for c.round = range rounds {
		if err := c.pass(folder); errors.Is(err, errEnough) {
			return c.out, nil
		} else if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the collection in %s has no more than %d passages", folder, len(c.out.Texts))
}

type cutter struct {
	out         *Passages
	want, round int
	page        uint64
	seen        map[uint64]bool // hashes of texts
}

// pass cuts the whole collection once. The error is errEnough where there are enough passages before its end.
func (c *cutter) pass(folder string) error {
	c.page = 0
	for i := range files {
		if err := evaluate.Each(filepath.Join(folder, fmt.Sprintf("documents-%d.jsonl", i)), c.cut); err != nil {
			return err
		}
	}
	return nil
}

// cut adds the passages of a page.
func (c *cutter) cut(p page) error {
	c.page++
	r := rand.New(rand.NewPCG(uint64(c.round), c.page))
	d := Document{ID: p.ID, Title: p.Title, Area: p.Metadata.Area, Topic: p.Metadata.Topic, Year: p.Metadata.Year, First: len(c.out.Texts)}
	if c.round > 0 {
		d.ID = fmt.Sprintf("%s/%d", p.ID, c.round)
	}
	for _, s := range p.Sections {
		words := strings.Fields(s.Text)
		if c.round > 0 {
			words = words[min(len(words), r.IntN(mostWords)):]
		}
		for len(words) >= leastWords && len(c.out.Texts) < c.want {
			n := min(len(words), leastWords+r.IntN(mostWords-leastWords+1))
			c.add(strings.Join(words[:n], " "))
			words = words[n:]
		}
	}
	if d.Count = len(c.out.Texts) - d.First; d.Count > 0 {
		c.out.Documents = append(c.out.Documents, d)
	}
	if len(c.out.Texts) == c.want {
		return errEnough
	}
	return nil
}

// add adds a text to the document that comes next, unless it is there already.
func (c *cutter) add(text string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	if c.seen[h.Sum64()] {
		return
	}
	c.seen[h.Sum64()] = true
	c.out.Texts = append(c.out.Texts, text)
	c.out.Of = append(c.out.Of, int32(len(c.out.Documents)))
}

// Order returns all passages, those of some documents first that are spread evenly over the collection: its first
// hundred thousand of a million are whole documents and a fair sample.
func (p *Passages) Order() []int {
	const step = 10
	order := make([]int, 0, len(p.Texts))
	for i := range step {
		for d := i; d < len(p.Documents); d += step {
			for at := range p.Documents[d].Count {
				order = append(order, p.Documents[d].First+at)
			}
		}
	}
	return order
}

// Questions returns the known-item sentences of the collection, at most n.
func Questions(folder string, n int) (out []string, err error) {
	type query struct{ Text string }
	err = evaluate.Each(filepath.Join(folder, "known-item", "queries.jsonl"), func(q query) error {
		if len(out) == n {
			return errEnough
		}
		out = append(out, q.Text)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}
