package main

import (
	"strings"

	"quarry/internal/llm"
	"quarry/internal/text/analysis"
)

// opening returns the first n sentences of a document that are no titles.
func opening(document []llm.Evidence, n int) (out []string) {
	for _, e := range document {
		if !e.Label && len(out) < n {
			out = append(out, e.Text)
		}
	}
	return out
}

// add adds a summary: ROUGE-1 and ROUGE-2 over stems without stop words (Lin, 2004), and how near the sentences of the document are
// to the nearest of the summary.
func (s *scores) add(summary []string, reference string, document []llm.Evidence) {
	ours := analysis.Analyze(strings.Join(summary, " "), "eng").Stems
	theirs := analysis.Analyze(reference, "eng").Stems
	r, f := rouge(ours, theirs)
	s.recall1, s.f1 = s.recall1+r, s.f1+f
	r, f = rouge(pairs(ours), pairs(theirs))
	s.recall2, s.f2 = s.recall2+r, s.f2+f
	s.near += nearness(summary, document)
}

func pairs(stems []string) (out []string) {
	for i := 1; i < len(stems); i++ {
		out = append(out, stems[i-1]+" "+stems[i])
	}
	return out
}

// rouge returns which share of the reference is in the summary, and the harmonic mean with the share of the summary in the
// reference.
func rouge(summary, reference []string) (recall, f float64) {
	left := map[string]int{}
	for _, t := range reference {
		left[t]++
	}
	shared := 0.0
	for _, t := range summary {
		if left[t] > 0 {
			left[t]--
			shared++
		}
	}
	if shared == 0 {
		return 0, 0
	}
	recall, precision := shared/float64(len(reference)), shared/float64(len(summary))
	return recall, 2 * recall * precision / (recall + precision)
}

// nearness returns the mean cosine of each sentence of the document to the one of the summary that is nearest to it. The summary's
// sentences are found by their text.
func nearness(summary []string, document []llm.Evidence) float64 {
	in := make([]bool, len(document))
	for _, s := range summary {
		for i, e := range document {
			in[i] = in[i] || strings.Contains(e.Text, strings.TrimSpace(s))
		}
	}
	sum, n := 0.0, 0.0
	for i, a := range document {
		if a.Label || in[i] {
			continue
		}
		best := 0.0
		for j, b := range document {
			if in[j] {
				best = max(best, dot(a.Vector, b.Vector))
			}
		}
		sum += best
		n++
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

func dot(a, b []float32) float64 {
	sum := float32(0)
	for i := range a {
		sum += a[i] * b[i]
	}
	return float64(sum)
}
