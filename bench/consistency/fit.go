package main

import (
	"fmt"
	"math"

	"quarry/internal/answer/verify"
)

// kinds is the number of kinds of evidence that have a weight.
const kinds = 5

func vector(e verify.Evidence) [kinds]float64 {
	return [kinds]float64{e.Meaning, e.Words, e.Rare, e.Together, e.Pairs}
}

// equal and pull are the mean and the strength of a Gaussian prior on the weights, per standard deviation of the evidence:
// it pulls them all towards the same value. The sets differ from one another more than supported from unsupported texts, so
// a fit without the prior generalises worse to a new set.
const equal, pull = 0.2, 0.3

// flat is the factor by which the calibrated slope is reduced: the sets disagree on what a value means, and with a flatter
// slope the loss on a new set is lower. reportFlat prints the loss for several factors.
var flat = 0.5

// example is a labelled sentence.
type example struct {
	x       [kinds]float64 // evidence, centred within its set
	against float64        // log odds that its differences subtract, but for what its source denies or turns into the opposite
	opposed [2]float64     // log odds that those two subtract at a strength of 1
	refuted bool           // contradicted by the source, which not all sets tell
	yes     float64        // the label: 1 if supported, else 0
	weight  float64        // such that all sets and, within a set, both classes count the same
	set     int
	offset  [kinds]float64 // the mean that was subtracted from x
}

// off returns the log odds that all differences subtract.
func (e *example) off(strength [2]float64) float64 {
	return e.against + strength[0]*e.opposed[0] + strength[1]*e.opposed[1]
}

// fit returns the weights of a logistic regression on the sets, by gradient descent. While the weights are learnt, every
// set has its own intercept, so that they order the texts within a set rather than distinguish sets. Then the slope is
// calibrated within the sets, and the bias on all together. The effect of differences is not learnt, since the sets have
// hardly any such sentences.
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

// gather returns the sentences of the sets as examples.
func gather(sets []*set) []example {
	var out []example
	for i, s := range sets {
		var n [2]float64
		var mean [kinds]float64
		first := len(out)
		for _, c := range s.cases {
			for j, f := range c.found {
				e := example{x: vector(f.Evidence), against: against(f), opposed: opposed(f), refuted: c.Refuted, set: i}
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

// against returns the log odds that the product subtracts for the differences of a sentence, without those of opposed.
func against(f verify.Sentence) float64 {
	w := verify.Shipped()
	w.Denied, w.Turned = 0, 0
	return less(w, f.Evidence, f.Differences)
}

// opposed returns the log odds that the product would subtract at a strength of 1 for what the source denies, and for what it
// turns into the opposite; 0 where the sentence is contradicted, which has a strength of its own.
func opposed(f verify.Sentence) [2]float64 {
	w, d := verify.Shipped(), f.Differences
	if d.Contradicted(w) {
		return [2]float64{}
	}
	w.Denied, w.Turned = 1, 1
	return [2]float64{
		less(w, f.Evidence, verify.Differences{Denied: d.Denied}),
		less(w, f.Evidence, verify.Differences{Turned: d.Turned}),
	}
}

// less returns the log odds that differences subtract.
func less(w verify.Weights, e verify.Evidence, d verify.Differences) float64 {
	e.Verbatim = false
	return logit(w.Score(e, verify.Differences{})) - logit(w.Score(e, d))
}

// calibrate returns the weights, scaled and shifted so that the values are probabilities (Platt scaling).
func calibrate(examples []example, weights [kinds]float64) verify.Weights {
	z, total, middle := make([]float64, len(examples)), 0.0, 0.0
	for i, e := range examples {
		for k := range kinds {
			z[i] += weights[k] * (e.x[k] + e.offset[k])
		}
		total, middle = total+e.weight, middle+e.weight*z[i]
	}
	middle /= total
	for i := range z {
		z[i] -= middle
	}
	strength := contrast(examples, z)
	slope, bias := 1.0, 0.0
	own := map[int]float64{} // the bias of each set
	for range 3000 {         // the slope within the sets
		down, shift := 0.0, map[int]float64{}
		for i, e := range examples {
			g := (sigmoid(slope*z[i]+own[e.set]-e.off(strength)) - e.yes) * e.weight / total
			down, shift[e.set] = down+g*z[i], shift[e.set]+g
		}
		slope -= down
		for k, g := range shift {
			own[k] -= 4 * g
		}
	}
	slope *= flat
	strength[0], strength[1] = flat*strength[0], flat*strength[1]
	for range 1000 {
		down := 0.0
		for i, e := range examples {
			down += (sigmoid(slope*z[i]+bias-e.off(strength)) - e.yes) * e.weight / total
		}
		bias -= 4 * down
	}
	out := verify.Shipped()
	out.Denied, out.Turned = strength[0], strength[1]
	out.Bias = bias - slope*middle
	out.Meaning, out.Words, out.Rare = slope*weights[0], slope*weights[1], slope*weights[2]
	out.Together, out.Pairs = slope*weights[3], slope*weights[4]
	return out
}

// contrast returns the strengths of what is denied and of what is turned into the opposite that tell contradicted sentences
// from supported ones best, on the sets that distinguish them from those without evidence. evidence is the log odds of each
// example by its evidence, before any scale.
func contrast(examples []example, evidence []float64) (strength [2]float64) {
	tells, total := map[int]bool{}, 0.0
	for _, e := range examples {
		tells[e.set] = tells[e.set] || e.refuted
	}
	var of []example
	var z []float64
	for i, e := range examples {
		if tells[e.set] && (e.yes == 1 || e.refuted) {
			of, z, total = append(of, e), append(z, evidence[i]), total+e.weight
		}
	}
	slope, own := 1.0, map[int]float64{}
	for range 3000 {
		down, off, shift := 0.0, [2]float64{}, map[int]float64{}
		for i, e := range of {
			g := (sigmoid(slope*z[i]+own[e.set]-e.off(strength)) - e.yes) * e.weight / total
			down, shift[e.set] = down+g*z[i], shift[e.set]+g
			off[0], off[1] = off[0]-g*e.opposed[0], off[1]-g*e.opposed[1]
		}
		slope -= down
		for k := range strength {
			strength[k] = max(0, strength[k]-4*off[k])
		}
		for k, g := range shift {
			own[k] -= 4 * g
		}
	}
	return strength
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// reportFlat prints the logarithmic loss on each set of the weights fitted on the others, by flat.
func reportFlat(sets []*set) {
	fmt.Print("logarithmic loss on the set left out, by factor of the slope within the sets:")
	before := flat
	for _, flat = range []float64{0.05, 0.2, 0.4, 0.6, 0.8, 1} {
		loss := 0.0
		for i, s := range sets {
			score := by(fit(without(sets, i)))
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
