package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/provider/builtin/confidence"
	"quarry/internal/text/chunk"
)

// The sets of a fit: those with another language than English, and those whose passages are cut otherwise.
var (
	foreign = []string{"xquad/de", "xquad/es", "xquad/ru", "xquad/zh", "xquad/ar", "xquad/hi"}
	english = []string{"xquad/en", "xquad/en sentences", "xquad/en 700", "own"}
	beside  = []string{"pubmedqa", "scifact"}
)

// fit gathers the examples of all sets and prints weights, thresholds and how good they are on the halves that they don't know.
func fit(ctx context.Context, data, vectors, kept string, most int) error {
	all, err := examples(ctx, data, vectors, kept, most)
	if err != nil {
		return err
	}
	report(all)
	return nil
}

// examples returns those of the file, or gathers them.
func examples(ctx context.Context, data, vectors, kept string, most int) (all []example, err error) {
	if kept != "" {
		raw, err := os.ReadFile(kept)
		if err == nil {
			return all, json.Unmarshal(raw, &all)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	b := bench{vectors: vectors}
	if err := b.ours(ctx); err != nil {
		return nil, err
	}
	all = b.examples
	for _, set := range slices.Concat(english[:3], foreign, beside) {
		name, parts, _ := strings.Cut(set, " ")
		b := bench{dir: filepath.Join(data, name), vectors: vectors, most: most, fits: set}
		switch parts {
		case "sentences":
			b.cut = &chunk.Strategy{}
		case "700":
			b.cut = &chunk.Strategy{MaxChars: 700}
		}
		if err := b.run(ctx, name); err != nil {
			return nil, err
		}
		all = append(all, b.examples...)
	}
	if kept == "" {
		return all, nil
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return all, os.WriteFile(kept, raw, 0o644)
}

// sample is the examples of a fit with what is to be learnt of them.
type sample struct {
	of    []example
	label func(example) bool
	use   []bool // which features
}

// logistic fits the weights by Newton's method, each set with the same weight, drawn towards 0 by the strength pull in units of
// the deviation of each feature. It is the same on every run.
func logistic(s sample) confidence.Weights {
	const pull = 2.0
	n := len(s.use)
	sizes := map[string]float64{}
	for _, e := range s.of {
		sizes[e.Set]++
	}
	mean, dev, total := make([]float64, n), make([]float64, n), 0.0
	rows := make([][]float64, len(s.of))
	weight := make([]float64, len(s.of))
	for i, e := range s.of {
		v := e.Best[0].Vector()
		rows[i] = v[:]
		weight[i] = shareOf(e.Set) / sizes[e.Set]
		if !e.Held && e.Set != "own" {
			weight[i] *= gone
		}
		total += weight[i]
		for k, x := range v {
			mean[k] += weight[i] * x
		}
	}
	for k := range mean {
		mean[k] /= total
	}
	for i, row := range rows {
		for k, x := range row {
			dev[k] += weight[i] * (x - mean[k]) * (x - mean[k]) / total
		}
	}
	for k := range dev {
		dev[k] = math.Sqrt(dev[k])
		if !s.use[k] || dev[k] < 1e-6 {
			dev[k] = math.Inf(1) // the feature is 0 everywhere
		}
	}
	beta := make([]float64, n+1)
	x := make([]float64, n+1)
	for range 30 {
		gradient, hessian := make([]float64, n+1), make([][]float64, n+1)
		for a := range hessian {
			hessian[a] = make([]float64, n+1)
			hessian[a][a] = pull
			gradient[a] = -pull * beta[a]
		}
		hessian[n][n], gradient[n] = 1e-6, 0
		for i, row := range rows {
			x[n] = 1
			z := beta[n]
			for k := range n {
				x[k] = (row[k] - mean[k]) / dev[k]
				z += beta[k] * x[k]
			}
			p := confidence.Probability(z)
			y := 0.0
			if s.label(s.of[i]) {
				y = 1
			}
			for a := range x {
				gradient[a] += weight[i] * (y - p) * x[a]
				for b := range x {
					hessian[a][b] += weight[i] * p * (1 - p) * x[a] * x[b]
				}
			}
		}
		for a, step := range solve(hessian, gradient) {
			beta[a] += step
		}
	}
	w := confidence.Weights{Bias: beta[n]}
	for k := range n {
		w.Of[k] = round(beta[k] / dev[k])
		w.Bias -= beta[k] / dev[k] * mean[k]
	}
	w.Bias = round(w.Bias)
	return w
}

// shareOf is how much a set counts in a fit. Our own questions are few; the cuts of one set are not independent.
func shareOf(set string) float64 {
	switch set {
	case "own":
		return 700
	case "xquad/en sentences", "xquad/en 700":
		return 700
	}
	return 1000
}

func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// solve solves a system of linear equations by elimination.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		p := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
		for r := i + 1; r < n; r++ {
			m := a[r][i] / a[i][i]
			for c := i; c < n; c++ {
				a[r][c] -= m * a[i][c]
			}
			b[r] -= m * b[i]
		}
	}
	out := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = b[i]
		for c := i + 1; c < n; c++ {
			out[i] -= a[i][c] * out[c]
		}
		out[i] /= a[i][i]
	}
	return out
}
