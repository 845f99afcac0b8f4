package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/bench/scale/exact"
	"quarry/bench/scale/table"
	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/search"
)

// cell is a filter of the measurement.
type cell struct {
	kind, text string
	passes     func(row int) bool
	queries    []search.Query
	ways       []contender // in the order of ways
}

// filters measures filters of every kind and share.
func (b *bench) filters() error {
	s, err := b.whole()
	if err != nil {
		return err
	}
	s.rank(len(s.rows) / 3)
	dir := filepath.Join(b.dir, "index-filters")
	x, _, err := s.build(dir)
	if err != nil {
		return err
	}
	defer func() {
		_ = x.Close() // nothing is written
		_ = os.RemoveAll(dir)
	}()
	fmt.Printf("\n%d vectors: %+v\n", len(s.rows), x.Stats())
	cells := s.cells()
	conditions := make([]func(int) bool, len(cells))
	for i, c := range cells {
		conditions[i] = c.passes
	}
	asked := b.staticAsked.Pick(upTo(min(b.queries, b.staticAsked.Len(), 300)))
	truths, err := exact.Of(s.vectors, asked, conditions...)
	if err != nil {
		return err
	}
	schema, err := filter.NewSchema(attributes)
	if err != nil {
		return err
	}
	for i := range cells {
		f, err := filter.Parse(cells[i].text, schema, filter.Both)
		if err != nil {
			return err
		}
		for q := range asked.Len() {
			cells[i].queries = append(cells[i].queries, search.Query{Vector: asked.Row(q), Filter: f.Text()})
		}
		cells[i].ways = make([]contender, len(ways))
	}
	for range b.rounds {
		for i := range cells {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if err := s.round(x, &cells[i], func(r searched) float64 { return truths[i].Recall(s.vectors, asked, r.Found, cells[i].passes) }); err != nil {
				return err
			}
		}
	}
	s.printCells(cells)
	return nil
}

// round asks the queries of a cell once in every way.
func (s *set) round(x *index.Index, c *cell, recall func(searched) float64) error {
	for w, way := range ways {
		queries := slices.Clone(c.queries)
		for q := range queries {
			way.set(&queries[q])
		}
		r, err := s.ask(x, queries, nearer)
		if err != nil {
			return err
		}
		c.ways[w].recall, c.ways[w].plan = recall(r), r.plan()
		c.ways[w].seconds = append(c.ways[w].seconds, r.Seconds...)
	}
	return nil
}

// rank sets near: the ranks of rows by their products with one row, in thousandths.
func (s *set) rank(of int) {
	order, products := upTo(len(s.rows)), make([]float32, len(s.rows))
	for i := range products {
		products[i] = exact.Dot(s.vectors.Row(i), s.vectors.Row(of))
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(products[b], products[a]) })
	s.near = make([]int, len(order))
	for rank, at := range order {
		s.near[at] = rank * 1000 / len(order)
	}
}

// cells returns the filters: random ones, around a passage, what is farthest from it, one value of documents, each at
// four shares, and one document.
func (s *set) cells() (out []cell) {
	names := map[int]string{500: "half", 100: "tenth", 10: "hundredth", 1: "thousandth"}
	document := func(at int) int { return int(s.passages.Of[s.rows[at]]) }
	for _, share := range []int{500, 100, 10, 1} {
		out = append(out,
			cell{kind: "random", text: fmt.Sprintf("part.draw < %d", share), passes: func(at int) bool { return thousandths("passage", at) < share }},
			cell{kind: "around a passage", text: fmt.Sprintf("part.near < %d", share), passes: func(at int) bool { return s.near[at] < share }},
			cell{kind: "far from it", text: fmt.Sprintf("part.near >= %d", 1000-share), passes: func(at int) bool { return s.near[at] >= 1000-share }},
			cell{kind: "one value of documents", text: fmt.Sprintf("doc.share = '%s'", names[share]), passes: func(at int) bool { return shares(document(at)) == names[share] }},
		)
	}
	one := document(len(s.rows) / 2)
	out = append(out, cell{kind: "one document", text: fmt.Sprintf("doc.id = '%s'", s.passages.Documents[one].ID), passes: func(at int) bool { return document(at) == one }})
	slices.SortStableFunc(out, func(a, b cell) int { return cmp.Compare(a.kind, b.kind) })
	return out
}

// printCells prints recall and times, and where there are several ways, the time of the first, which is the planner's,
// against the quickest that finds enough.
func (s *set) printCells(cells []cell) {
	heads := []any{"filter", "text", "passing"}
	for _, w := range ways {
		heads = append(heads, cmp.Or(strings.TrimPrefix(w.name, ", "), "planned")+": recall, p50, p99")
	}
	table.Head(append(heads, "planned ÷ quickest", "what was done")...)
	var recalls []float64
	for _, c := range cells {
		passing := 0
		for at := range s.rows {
			if c.passes(at) {
				passing++
			}
		}
		line := []any{c.kind, "`" + c.text + "`", fmt.Sprintf("%d, %.2f %%", passing, 100*float64(passing)/float64(len(s.rows)))}
		quickest := table.Median(c.ways[0].seconds)
		for _, w := range c.ways {
			line = append(line, fmt.Sprintf("%.4f, %s, %s", w.recall, table.Milliseconds(table.Median(w.seconds)), table.Milliseconds(table.Quantile(w.seconds, 0.99))))
			if w.recall >= enough {
				quickest = min(quickest, table.Median(w.seconds))
			}
		}
		table.Row(append(line, fmt.Sprintf("%.2f", table.Median(c.ways[0].seconds)/quickest), c.ways[0].plan)...)
		recalls = append(recalls, c.ways[0].recall)
	}
	fmt.Printf("\nleast recall %.4f (bar .98), mean %.4f (bar .99)\n", slices.Min(recalls), table.Sum(recalls)/float64(len(recalls)))
}
