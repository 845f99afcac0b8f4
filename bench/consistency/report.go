package main

import (
	"fmt"
	"strings"

	"quarry/internal/answer/verify"
	"quarry/internal/query/measure"
	"quarry/internal/text/analysis"
)

// scorer is a method of scoring a text.
type scorer struct {
	name  string
	score func(c *judged) float64
}

// by returns the product's score with the given weights.
func by(w verify.Weights) func(*judged) float64 {
	return func(c *judged) float64 { return w.Text(c.found) }
}

// alone returns the mean of one kind of evidence over the sentences as a score.
func alone(of func(verify.Evidence) float64) func(*judged) float64 {
	return func(c *judged) float64 {
		sum := 0.0
		for _, f := range c.found {
			sum += of(f.Evidence)
		}
		return sum / float64(max(1, len(c.found)))
	}
}

// overlap returns the share of the text's n-grams of words that are in the source as a score.
func overlap(n int) func(*judged) float64 {
	return func(c *judged) float64 {
		have := map[string]bool{}
		for _, r := range runs(c.Source, n) {
			have[r] = true
		}
		all := runs(c.Text, n)
		hit := 0
		for _, r := range all {
			if have[r] {
				hit++
			}
		}
		return float64(hit) / float64(max(1, len(all)))
	}
}

// runs returns the n-grams of the words of text.
func runs(text string, n int) []string {
	words := analysis.Analyze(text, "eng").Words
	var out []string
	for i := 0; i+n <= len(words); i++ {
		var run []string
		for _, w := range words[i : i+n] {
			run = append(run, w.Text)
		}
		out = append(out, strings.Join(run, " "))
	}
	return out
}

// reportSets prints how the scorers do on each set. The product's score is fitted on the other sets.
func reportSets(sets []*set) {
	scorers := make([][]scorer, len(sets))
	for i := range sets {
		others := without(sets, i)
		w := fit(others)
		fmt.Printf("fitted without %s: what is denied takes off %.2f, what is turned into the opposite %.2f\n", sets[i].name, w.Denied, w.Turned)
		plain := w
		plain.Number, plain.Astray, plain.Name, plain.Denied, plain.Turned = 0, 0, 0, 0, 0
		plain.Held, plain.Rival = 2, 2
		scorers[i] = []scorer{
			{"words shared with the source", overlap(1)},
			{"pairs of words shared", overlap(2)},
			{"cosine to the nearest sentence", alone(func(e verify.Evidence) float64 { return e.Meaning })},
			{"best cosine of each token", alone(func(e verify.Evidence) float64 { return e.Words })},
			{"fitted, without differences", by(plain)},
			{"the score", by(w)},
		}
	}
	fmt.Println("AUROC / balanced accuracy at the threshold that is best on the two other sets / at the set's own best")
	fmt.Printf("  %-34s", "")
	for _, s := range sets {
		fmt.Printf("%26s", s.name)
	}
	fmt.Printf("%26s\n", "mean")
	for j := range scorers[0] {
		fmt.Printf("  %-34s", scorers[0][j].name)
		var mean [3]float64
		for i, s := range sets {
			values, labels := s.values(scorers[i][j].score)
			others := without(sets, i)
			own := measure.BalancedAccuracy(values, labels, threshold([]*set{s}, scorers[i][j].score))
			row := [3]float64{measure.AUROC(values, labels), measure.BalancedAccuracy(values, labels, threshold(others, scorers[i][j].score)), own}
			fmt.Printf("      %.3f / %.3f / %.3f", row[0], row[1], row[2])
			for k := range mean {
				mean[k] += row[k] / float64(len(sets))
			}
		}
		fmt.Printf("     %.4f / %.3f / %.3f\n", mean[0], mean[1], mean[2])
	}
	fmt.Print("  shipped weights at 0.5, which have seen all sets:")
	for _, s := range sets {
		values, labels := s.values(by(verify.Shipped()))
		fmt.Printf("  %s %.3f / %.3f", s.name, measure.AUROC(values, labels), measure.BalancedAccuracy(values, labels, 0.5))
	}
	fmt.Println()
	reportKinds(sets, scorers)
}

// threshold returns the threshold with the highest mean balanced accuracy over the sets.
func threshold(sets []*set, score func(*judged) float64) float64 {
	best, at := 0.0, 0.5
	values, labels := make([][]float64, len(sets)), make([][]bool, len(sets))
	for i, s := range sets {
		values[i], labels[i] = s.values(score)
	}
	for t := 0.005; t < 1; t += 0.005 {
		sum := 0.0
		for i := range sets {
			sum += measure.BalancedAccuracy(values[i], labels[i], t)
		}
		if sum > best {
			best, at = sum, t
		}
	}
	return at
}

func (s *set) values(score func(*judged) float64) ([]float64, []bool) {
	values, labels := make([]float64, len(s.cases)), make([]bool, len(s.cases))
	for i, c := range s.cases {
		values[i], labels[i] = score(c), c.Supported
	}
	return values, labels
}

// reportKinds prints the AUROC for contradicted texts and for texts without evidence separately.
func reportKinds(sets []*set, scorers [][]scorer) {
	fmt.Println("\nAUROC of the score by what is wrong")
	for i, s := range sets {
		var values [2][]float64
		var labels [2][]bool
		for _, c := range s.cases {
			v := scorers[i][len(scorers[i])-1].score(c)
			for kind, want := range []bool{true, false} {
				if c.Supported || c.Refuted == want {
					values[kind], labels[kind] = append(values[kind], v), append(labels[kind], c.Supported)
				}
			}
		}
		if s.name == "qags" {
			continue // does not distinguish them
		}
		fmt.Printf("  %-20s contradicted %.3f, no evidence %.3f\n", s.name, measure.AUROC(values[0], labels[0]), measure.AUROC(values[1], labels[1]))
	}
	fmt.Println()
}

// reportCalibration prints scores beside the share of texts that are supported, where sets and classes count the same: for
// the shipped weights, and for weights fitted on the other sets.
func reportCalibration(sets []*set) {
	fmt.Println("calibration: scores, and the share that is supported (sets and classes weigh the same)")
	fmt.Printf("  %-12s%28s%28s\n", "", "shipped weights", "weights of the other sets")
	const bins = 5
	var all [2][bins][3]float64 // weight, weighted score, weighted supported
	for i, s := range sets {
		others := without(sets, i)
		yes := 0.0
		for _, c := range s.cases {
			if c.Supported {
				yes++
			}
		}
		for j, score := range []func(*judged) float64{by(verify.Shipped()), by(fit(others))} {
			for _, c := range s.cases {
				v, label, weight := score(c), 0.0, 1/(float64(len(s.cases))-yes)
				if c.Supported {
					label, weight = 1, 1/yes
				}
				b := &all[j][min(bins-1, int(v*bins))]
				b[0], b[1], b[2] = b[0]+weight, b[1]+weight*v, b[2]+weight*label
			}
		}
	}
	for b := range bins {
		fmt.Printf("  %.1f to %.1f  ", float64(b)/bins, float64(b+1)/bins)
		for j := range all {
			x := all[j][b]
			fmt.Printf("   %.2f → %.2f (%4.1f %%)    ", x[1]/max(x[0], 1e-9), x[2]/max(x[0], 1e-9), 100*x[0]/float64(2*len(sets)))
		}
		fmt.Println()
	}
	fmt.Println()
}
