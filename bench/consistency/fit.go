package main

import (
	"fmt"
	"math"

	"quarry/internal/answer/verify"
)

// kinds are the kinds of evidence that have a weight.
const kinds = 5

func vector(e verify.Evidence) [kinds]float64 {
	return [kinds]float64{e.Meaning, e.Words, e.Rare, e.Together, e.Pairs}
}

// equal is the weight, per standard deviation, that every kind of evidence has before the fit, and pull how strongly
// it draws: the sets differ more from one another than supported from unsupported texts, so that a free fit does
// worse on a set that it has not seen.
const equal, pull = 0.2, 0.3

// flat is the share of the slope within the sets that values get: the sets disagree on what a value means, and a flatter
// slope errs less on a set that was not seen. reportFlat shows what each share costs there.
var flat = 0.5

// example is a sentence with its label; weight makes sets and, within a set, both classes count the same.
type example struct {
	x       [kinds]float64
	against float64 // what its differences take off
	yes     float64
	weight  float64
	set     int
	offset  [kinds]float64 // the mean of its set, which x lacks
}

// fit gives the weights learnt on sets. Every set has an intercept of its own while the weights are learnt, so that
// they order the texts of a set and do not tell sets apart; then the slope is calibrated within the
// sets and the bias on all together. What differences take off is not learnt: the sets hardly have such sentences.
func fit(sets []*set) verify.Weights {
	examples := gather(sets)
	var deviation [kinds]float64
	for _, e := range examples {
		for k := range kinds {
			deviation[k] += e.x[k] * e.x[k] * e.weight
		}
	}
	total := 0.0
	for _, e := range examples {
		total += e.weight
	}
	for k := range kinds {
		deviation[k] = math.Sqrt(deviation[k] / total)
	}
	weights, bias := [kinds]float64{}, make([]float64, len(sets))
	for range 4000 {
		var slope [kinds]float64
		shift := make([]float64, len(sets))
		for _, e := range examples {
			z := bias[e.set]
			for k := range kinds {
				z += weights[k] * e.x[k] / deviation[k]
			}
			g := (sigmoid(z) - e.yes) * e.weight / total
			for k := range kinds {
				slope[k] += g * e.x[k] / deviation[k]
			}
			shift[e.set] += g
		}
		for k := range kinds {
			weights[k] = max(0, weights[k]-0.5*(slope[k]+2*pull*(weights[k]-equal)))
		}
		for i := range bias {
			bias[i] -= 2 * shift[i]
		}
	}
	for k := range kinds {
		weights[k] /= deviation[k]
	}
	return calibrate(examples, weights)
}

// gather takes the sentences of the sets, evidence centred within each set.
func gather(sets []*set) []example {
	var out []example
	for i, s := range sets {
		var n [2]float64
		var mean [kinds]float64
		first := len(out)
		for _, c := range s.cases {
			for j, f := range c.found {
				e := example{x: vector(f.Evidence), against: against(f), set: i}
				if c.labels[j] {
					e.yes = 1
				}
				n[int(e.yes)]++
				for k := range kinds {
					mean[k] += e.x[k]
				}
				out = append(out, e)
			}
		}
		for j := first; j < len(out); j++ {
			out[j].weight = 1 / n[int(out[j].yes)]
			for k := range kinds {
				out[j].x[k] -= mean[k] / float64(len(out)-first)
			}
		}
		s.mean = mean
		for k := range kinds {
			s.mean[k] /= float64(len(out) - first)
		}
	}
	for i := range out {
		out[i].offset = sets[out[i].set].mean
	}
	return out
}

// against is what the differences of a sentence take off in the product.
func against(f verify.Sentence) float64 {
	e := f.Evidence
	e.Verbatim = false
	return logit(verify.Shipped.Score(e, verify.Differences{})) - logit(verify.Shipped.Score(e, f.Differences))
}

// calibrate finds the slope and the bias by which the values are probabilities.
func calibrate(examples []example, weights [kinds]float64) verify.Weights {
	slope, bias := 1.0, 0.0
	z, total, middle := make([]float64, len(examples)), 0.0, 0.0
	own := map[int]float64{} // the bias of each set
	for i, e := range examples {
		for k := range kinds {
			z[i] += weights[k] * (e.x[k] + e.offset[k])
		}
		total, middle = total+e.weight, middle+e.weight*z[i]
	}
	middle /= total
	for range 3000 { // the slope within the sets
		down, shift := 0.0, map[int]float64{}
		for i, e := range examples {
			g := (sigmoid(slope*(z[i]-middle)+own[e.set]-e.against) - e.yes) * e.weight / total
			down, shift[e.set] = down+g*(z[i]-middle), shift[e.set]+g
		}
		slope -= down
		for k, g := range shift {
			own[k] -= 4 * g
		}
	}
	slope *= flat
	for range 1000 {
		down := 0.0
		for i, e := range examples {
			down += (sigmoid(slope*(z[i]-middle)+bias-e.against) - e.yes) * e.weight / total
		}
		bias -= 4 * down
	}
	out := verify.Shipped
	out.Bias = bias - slope*middle
	out.Meaning, out.Words, out.Rare = slope*weights[0], slope*weights[1], slope*weights[2]
	out.Together, out.Pairs = slope*weights[3], slope*weights[4]
	return out
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// reportFlat measures the logarithmic loss on sets that were not seen.
func reportFlat(sets []*set) {
	fmt.Print("logarithmic loss on the set left out, by share of the slope within the sets:")
	before := flat
	for _, flat = range []float64{0.05, 0.2, 0.4, 0.6, 0.8, 1} {
		loss := 0.0
		for i, s := range sets {
			score := by(fit(append(append([]*set{}, sets[:i]...), sets[i+1:]...)))
			var sum, n [2]float64
			for _, c := range s.cases {
				class, p := 0, 1-score(c)
				if c.Supported {
					class, p = 1, 1-p
				}
				sum[class], n[class] = sum[class]-math.Log(p), n[class]+1
			}
			loss += (sum[0]/n[0] + sum[1]/n[1]) / 2 / float64(len(sets))
		}
		fmt.Printf("  %.2f: %.4f", flat, loss)
	}
	fmt.Print("\n\n")
	flat = before
}
