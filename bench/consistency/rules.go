package main

import (
	"fmt"
	"slices"

	"quarry/internal/answer/verify"
	"quarry/internal/query/measure"
)

// rule is a kind of difference that lowers the score. off switches it off.
type rule struct {
	name string
	off  func(*verify.Weights)
}

var rules = []rule{
	{"numbers", func(w *verify.Weights) { w.Number, w.Astray = 0, 0 }},
	{"names", func(w *verify.Weights) { w.Name = 0 }},
	{"negations", func(w *verify.Weights) { w.Denied = 0 }},
	{"opposites", func(w *verify.Weights) { w.Turned = 0 }},
	{"contradictions pull below one half", func(w *verify.Weights) { w.Held, w.Rival = 2, 2 }},
}

// reportRules prints how each rule does alone and how all others do without it, each set by weights fitted on the others. Beside
// the AUROC stands that of supported against contradicted texts where the set tells.
func reportRules(sets []*set) {
	fitted := make([]verify.Weights, len(sets))
	for i := range sets {
		fitted[i] = fit(without(sets, i))
	}
	fmt.Println("each rule alone, and all without it: AUROC (of it, contradicted)")
	row := func(name string, off func(verify.Weights) verify.Weights) {
		fmt.Printf("  %-48s", name)
		mean := 0.0
		for i, s := range sets {
			all, contradicted := s.auroc(by(off(fitted[i])))
			fmt.Printf("   %s %.3f", s.name, all)
			if contradicted > 0 {
				fmt.Printf(" (%.3f)", contradicted)
			}
			mean += all / float64(len(sets))
		}
		fmt.Printf("   mean %.4f\n", mean)
	}
	row("none", func(w verify.Weights) verify.Weights {
		for _, r := range rules {
			r.off(&w)
		}
		return w
	})
	for _, r := range rules {
		row("alone: "+r.name, func(w verify.Weights) verify.Weights {
			for _, other := range rules {
				if other.name != r.name {
					other.off(&w)
				}
			}
			return w
		})
	}
	for _, r := range rules {
		row("without: "+r.name, func(w verify.Weights) verify.Weights {
			r.off(&w)
			return w
		})
	}
	row("all", func(w verify.Weights) verify.Weights { return w })
	fmt.Println()
}

// reportHalves prints the AUROC on each half of a set, of the score by weights fitted on everything else, the other half included.
func reportHalves(sets []*set, of int) {
	for half := range 2 {
		var parts [2]*set
		for k := range parts {
			parts[k] = &set{name: sets[of].name}
		}
		for i, c := range sets[of].cases {
			parts[i%2].cases = append(parts[i%2].cases, c)
		}
		score, _ := parts[half].auroc(by(fit(append(without(sets, of), parts[1-half]))))
		pairs, _ := parts[half].auroc(overlap(2))
		fmt.Printf("%s, half %d of 2, by weights fitted on everything else: %.3f, pairs of words %.3f\n", sets[of].name, half+1, score, pairs)
	}
	fmt.Println()
}

// auroc returns the AUROC of a score, and that of supported against contradicted texts, 0 where the set does not tell.
func (s *set) auroc(score func(*judged) float64) (all, contradicted float64) {
	values, labels := s.values(score)
	all = measure.AUROC(values, labels)
	told := false
	values, labels = nil, nil
	for _, c := range s.cases {
		told = told || c.Refuted
		if c.Supported || c.Refuted {
			values, labels = append(values, score(c)), append(labels, c.Supported)
		}
	}
	if told {
		contradicted = measure.AUROC(values, labels)
	}
	return all, contradicted
}

// without returns the sets but for one.
func without(sets []*set, i int) []*set { return slices.Delete(slices.Clone(sets), i, i+1) }
