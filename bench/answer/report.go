package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"quarry/internal/provider/builtin/confidence"
)

// Which features each function has, in their order. In languages that the encoder hasn't learned only those that need neither it
// nor headings, so that they mean the same in languages without a set.
var (
	heldBy    = uses("Cover Context Around Runs Passage Other Mean Noise Pairs Cosine Closest Lacking")
	foreignBy = uses("Cover Context Runs Passage Other Mean Noise Pairs")
	rightBy   = uses("Cover Context Around Runs Passage Other Mean Noise Pairs Cosine Closest Lead Standing Kind Lacking")
	abroadBy  = uses("Cover Context Around Runs Passage Other Mean Noise Pairs Lead Standing Kind")
)

var features = strings.Fields("Cover Context Around Runs Passage Other Mean Noise Pairs Cosine Closest Lead Standing Kind Lacking")

func uses(names string) []bool {
	out := make([]bool, len(features))
	for i, f := range features {
		out[i] = slices.Contains(strings.Fields(names), f)
	}
	return out
}

// The shares of questions with their passages that may be refused: of each set, and of the sets together where the language is
// unknown, since one of them is then worse than the mean.
const (
	mayRefuse        = 0.05
	mayRefuseEnglish = 0.044
	mayRefuseUnknown = 0.035
)

// among returns the examples of sets; half is 0 or 1 for one half alone, -1 for both. Of our own questions the second half is
// never part of a fit.
func among(all []example, half int, sets ...string) (out []example) {
	for _, e := range all {
		if slices.Contains(sets, e.Set) && (half < 0 || e.Second == (half == 1)) {
			out = append(out, e)
		}
	}
	return out
}

// forFit is among without the unseen half of our own questions.
func forFit(all []example, half int, sets ...string) []example {
	return slices.DeleteFunc(among(all, half, sets...), func(e example) bool { return e.Set == "own" && e.Second })
}

func isHeld(e example) bool  { return e.Held }
func isRight(e example) bool { return e.Right }

// odds returns those of the sentences that decide.
func odds(w confidence.Weights, e example) float64 {
	z := math.Inf(-1)
	for _, f := range confidence.Deciding(e.Best) {
		z = max(z, w.Odds(f))
	}
	return z
}

// refused returns the shares of the examples without and with their passages that are below a threshold.
func refused(w confidence.Weights, least float64, of []example) (rightly, wrongly float64) {
	var n, out [2]float64
	for _, e := range of {
		i := 0
		if e.Held {
			i = 1
		}
		n[i]++
		if odds(w, e) < least {
			out[i]++
		}
	}
	return out[0] / max(1, n[0]), out[1] / max(1, n[1])
}

// threshold returns the highest odds below which at most a share of the examples with their passages are.
func threshold(w confidence.Weights, share float64, of []example) float64 {
	var all []float64
	for _, e := range of {
		if e.Held {
			all = append(all, odds(w, e))
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return math.Floor(all[int(share*float64(len(all)))]*100) / 100
}

// common returns the highest threshold at which the sets refuse at most a share wrongly in the mean.
func common(w confidence.Weights, share float64, all []example, sets []string) float64 {
	for least := 0.0; ; least -= 0.02 {
		sum := 0.0
		for _, s := range sets {
			_, wrongly := refused(w, least, among(all, -1, s))
			sum += wrongly
		}
		if sum/float64(len(sets)) <= share {
			return round(least)
		}
	}
}

// report prints the weights and what they do.
func report(all []example) {
	abroad := append([]string{"xquad/en"}, foreign...)
	held := logistic(sample{forFit(all, -1, english...), isHeld, heldBy})
	foreignHeld := logistic(sample{among(all, -1, abroad...), isHeld, foreignBy})
	fmt.Print("package confidence\n\n// What bench/answer -fit prints.\nvar (\n")
	printWeights("held", held)
	printWeights("foreignHeld", foreignHeld)
	printWeights("right", logistic(sample{forFit(all, -1, english...), isRight, rightBy}))
	printWeights("foreignRight", logistic(sample{among(all, -1, abroad...), isRight, abroadBy}))
	fmt.Printf(")\n\n// The odds below which the passages hold no answer, by language.\nconst (\n\tleast        = %.2f\n\tunknownLeast = %.2f\n)\n\nvar leasts = map[string]float64{",
		threshold(held, mayRefuseEnglish, among(all, -1, "xquad/en")), common(foreignHeld, mayRefuseUnknown, all, abroad))
	for i, s := range foreign {
		of := among(all, -1, s)
		if len(of) == 0 {
			continue
		}
		if i > 0 {
			fmt.Print(", ")
		}
		fmt.Printf("%q: %.2f", codes[s], threshold(foreignHeld, mayRefuse, of))
	}
	fmt.Print("}\n")
	reportRefusals(all, abroad)
	reportCalibration(all, abroad)
}

// codes are the languages of the sets.
var codes = map[string]string{"xquad/de": "deu", "xquad/es": "spa", "xquad/ru": "rus", "xquad/zh": "zho", "xquad/ar": "ara", "xquad/hi": "hin"}

func printWeights(name string, w confidence.Weights) {
	fmt.Printf("\t%-12s = Weights{%g, [count]float64{%s}}\n", name, w.Bias, strings.ReplaceAll(strings.Trim(fmt.Sprint(w.Of), "[]"), " ", ", "))
}

// reportRefusals prints how many questions are refused on the half that was not fitted, in both directions, and on each set that
// was left out.
func reportRefusals(all []example, abroad []string) {
	fmt.Print("\n| set | fitted on the first half: refused, its passage taken away | wrongly | fitted on the second: refused | wrongly |\n|---|---|---|---|---|\n")
	row := func(name string, rule func(half int) (confidence.Weights, float64), set string) {
		fmt.Printf("| %s |", name)
		for half := range 2 {
			w, least := rule(half)
			rightly, wrongly := refused(w, least, among(all, 1-half, set))
			fmt.Printf(" %.3f | %.3f |", rightly, wrongly)
		}
		fmt.Println()
	}
	inEnglish := func(half int) (confidence.Weights, float64) {
		fitted := forFit(all, half, english...)
		if half == 1 {
			fitted = append(fitted, forFit(all, 0, "own")...)
		}
		w := logistic(sample{fitted, isHeld, heldBy})
		return w, threshold(w, mayRefuseEnglish, among(all, half, "xquad/en"))
	}
	for _, s := range slices.Concat(english, beside) {
		row(s, inEnglish, s)
	}
	for _, s := range foreign {
		row(s, func(half int) (confidence.Weights, float64) {
			w := logistic(sample{among(all, half, abroad...), isHeld, foreignBy})
			return w, threshold(w, mayRefuse, among(all, half, s))
		}, s)
	}
	fmt.Print("\n| set left out | threshold | refused, its passage taken away | wrongly |\n|---|---|---|---|\n")
	for _, s := range abroad {
		others := slices.DeleteFunc(slices.Clone(abroad), func(o string) bool { return o == s })
		w := logistic(sample{among(all, -1, others...), isHeld, foreignBy})
		least := common(w, mayRefuseUnknown, all, others)
		rightly, wrongly := refused(w, least, among(all, -1, s))
		fmt.Printf("| %s | %.2f | %.3f | %.3f |\n", s, least, rightly, wrongly)
	}
}

// gone is how much an example whose passage was taken away counts beside one that has it: half of the questions with an answer have none.
const gone = 0.5

// reportCalibration prints how many of the answers of each tenth are right, on sets that were not fitted.
func reportCalibration(all []example, abroad []string) {
	fmt.Print("\n| set, not fitted | answers | below .15 | .15–.25 | .25–.35 | .35–.45 | .45–.55 | .55–.65 | .65–.75 | .75–.85 | .85–.95 | above |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	line := func(name string, by []bool, fitted, shown []example) {
		w := logistic(sample{fitted, isRight, by})
		var n, right [10]float64
		total := 0.0
		for _, e := range shown {
			weight := 1.0
			if !e.Held && e.Set != "own" {
				weight = gone
			}
			p := confidence.Probability(w.Odds(e.Best[0]))
			i := min(9, max(0, int(p*10-0.5)))
			n[i] += weight
			total += weight
			if e.Right {
				right[i] += weight
			}
		}
		fmt.Printf("| %s | %.0f |", name, total)
		for i := range n {
			if n[i] < 5 {
				fmt.Print(" – |")
				continue
			}
			fmt.Printf(" %.2f (%.0f) |", right[i]/n[i], n[i])
		}
		fmt.Println()
	}
	for half := range 2 {
		line(fmt.Sprintf("xquad/en, half %d", 2-half), rightBy, append(forFit(all, half, english[:3]...), forFit(all, 0, "own")...), among(all, 1-half, "xquad/en"))
	}
	line("own, unseen half", rightBy, forFit(all, -1, english...), among(all, 1, "own"))
	line("own, both halves, fitted on XQuAD alone", rightBy, among(all, -1, english[:3]...), among(all, -1, "own"))
	line("xquad/en, fitted on our own alone", rightBy, forFit(all, -1, "own"), among(all, -1, "xquad/en"))
	for _, s := range foreign {
		line(s, abroadBy, among(all, -1, slices.DeleteFunc(slices.Clone(abroad), func(o string) bool { return o == s })...), among(all, -1, s))
	}
}
