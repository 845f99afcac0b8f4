// Package confidence estimates from what the search for an answer has found whether the passages hold the answer at all, and how
// likely the sentence that is quoted first is to be it. Both are logistic functions of the same features; bench/answer -fit
// prints their weights.
package confidence

import (
	"math"
	"slices"
)

// Features describe a sentence beside all others, each about 0 to 1. A share is one of what the question holds: of its terms, or of
// the runs of letters in it, which need no knowledge of the language. Rare terms and runs weigh more.
type Features struct {
	Cover   float64 // share of the terms in the sentence
	Context float64 // the same with the sentence before
	Around  float64 // the same with the headings and all of the passage before
	Runs    float64 // share of the runs of letters in the sentence and the one before
	Passage float64 // the same in its passage
	Other   float64 // the same in the best of the other passages
	Mean    float64 // the same in the mean of the other passages
	Noise   float64 // mean share of the terms in a sentence of other passages: what a sentence has by chance
	Pairs   float64 // share of the neighbours in the question that are neighbours in the sentence
	Cosine  float64 // of the sentence to the question
	Closest float64 // the highest cosine of any sentence

	Lead     float64 // how far its score is above the mean of those that follow
	Standing float64 // the score of its passage as a share of the best
	Kind     float64 // more if it is of the type that is asked for
	Lacking  float64 // 1 if a value of a type is asked for, such as a number, and none of the best sentences is of it
	Learned  bool    // the encoder was trained on the language, and there are cosines
}

// count is the number of features that have a weight.
const count = 15

// Vector returns the features in the order of the weights.
func (f Features) Vector() [count]float64 {
	return [...]float64{
		f.Cover, f.Context, f.Around, f.Runs, f.Passage, f.Other, f.Mean, f.Noise, f.Pairs, f.Cosine, f.Closest, f.Lead, f.Standing, f.Kind,
		f.Lacking,
	}
}

// Weights are those of a logistic function: the bias and one for each feature.
type Weights struct {
	Bias float64
	Of   [count]float64
}

// Odds returns the logarithm of the odds.
func (w Weights) Odds(f Features) float64 {
	z := w.Bias
	for i, x := range f.Vector() {
		z += w.Of[i] * x
	}
	return z
}

// Probability returns a probability from the logarithm of its odds.
func Probability(odds float64) float64 { return 1 / (1 + math.Exp(-odds)) }

// Right returns how likely the sentence is to answer the question.
func Right(f Features) float64 {
	if f.Learned {
		return Probability(right.Odds(f))
	}
	return Probability(foreignRight.Odds(f))
}

// Held reports whether the passages are likely to hold the answer, by the best sentences; language is that of the question, ISO
// 639-3.
func Held(best []Features, language string) bool {
	return slices.ContainsFunc(Deciding(best), func(f Features) bool {
		if f.Learned {
			return held.Odds(f) >= least
		}
		l, ok := leasts[language]
		if !ok {
			l = unknownLeast
		}
		return foreignHeld.Odds(f) >= l
	})
}

// Deciding returns the sentences by which Held decides: the best three, for the value may stand behind the sentence that names its
// subject, and the best alone where words are all there is to go by. Among three, chance has the more room the less words mean.
func Deciding(best []Features) []Features {
	if len(best) > 0 && !best[0].Learned {
		return best[:1]
	}
	return best
}
