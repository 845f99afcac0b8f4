package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"quarry/internal/rerank"
)

// shares are the lexical shares at which the calibration has its constants.
var shares = []float64{0, 0.25, 0.5, 0.65, 0.8, 1}

// curve is the probability of being relevant as the fit has it: 1/(1+exp(-(a+b·unit))).
type curve struct{ a, b float64 }

func (c curve) at(unit float64) float64 { return 1 / (1 + math.Exp(-c.a-c.b*unit)) }

// unit is the retrieval score at a lexical share, as a share of the highest that query and corpus allow.
func (f found) unit(share float64) float64 {
	highest := share*saturated(f.Most) + 1 - share
	if highest == 0 {
		return 0
	}
	return f.plain(share) / highest
}

// plain is the retrieval score as a share of the highest that the weights allow.
func (f found) plain(share float64) float64 { return share*saturated(f.BM25) + (1-share)*f.Cosine }

func saturated(bm25 float64) float64 { return bm25 / (bm25 + rerank.LexicalHalf) }

// fit finds the curve of greatest likelihood by Newton's method. Every set weighs the same, and in it every query
// (weights by number of queries or its root fitted sets left out worse).
func fit(all []asked, share float64, use func(*asked) bool) curve {
	queries := map[string]float64{}
	for i := range all {
		if use(&all[i]) {
			queries[all[i].group()]++
		}
	}
	c := curve{-4, 6}
	for range 50 {
		var ga, gb, haa, hab, hbb float64
		for i := range all {
			if !use(&all[i]) {
				continue
			}
			w := 1 / queries[all[i].group()]
			for _, f := range all[i].Found {
				x, y := f.unit(share), 0.0
				if f.Relevant {
					y = 1
				}
				p := c.at(x)
				ga, gb = ga+w*(y-p), gb+w*(y-p)*x
				h := w * p * (1 - p)
				haa, hab, hbb = haa+h, hab+h*x, hbb+h*x*x
			}
		}
		det := haa*hbb - hab*hab
		if det <= 0 {
			break
		}
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		c.a, c.b = c.a+da, c.b+db
		if math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
	}
	return c
}

// quality says how well probabilities fit: the mean distance between said and true share over ten equal bins, weighted
// by their results, and the chance that a relevant result of any query scores above another of any query. Only the first
// results of each query count.
type quality struct {
	ece, auc float64
	bins     [10]bin
}

type bin struct{ n, said, true float64 }

type judged struct {
	p        float64
	relevant bool
}

func assess(all []asked, use func(*asked) bool, first int, p func(found) float64) quality {
	var q quality
	var list []judged
	for i := range all {
		if !use(&all[i]) {
			continue
		}
		for _, f := range all[i].Found[:min(first, len(all[i].Found))] {
			list = append(list, judged{p(f), f.Relevant})
		}
	}
	for _, j := range list {
		b := &q.bins[min(9, int(10*j.p))]
		y := 0.0
		if j.relevant {
			y = 1
		}
		b.n, b.said, b.true = b.n+1, b.said+j.p, b.true+y
	}
	for _, b := range q.bins {
		q.ece += math.Abs(b.said-b.true) / float64(len(list))
	}
	q.auc = auc(list)
	return q
}

func auc(list []judged) float64 {
	slices.SortFunc(list, func(a, b judged) int { return cmp.Compare(a.p, b.p) })
	below, sum, pos := 0.0, 0.0, 0.0
	for i := 0; i < len(list); {
		j, yes, no := i, 0.0, 0.0
		for ; j < len(list) && list[j].p == list[i].p; j++ {
			if list[j].relevant {
				yes++
			} else {
				no++
			}
		}
		sum, below, pos, i = sum+yes*(below+no/2), below+no, pos+yes, j
	}
	return sum / (pos * below)
}

// report prints how the scores do on queries that no constant has seen, and the constants.
func report(all []asked) {
	const share = 0.65
	train := func(a *asked) bool { return a.Train }
	whole := fit(all, share, train)
	var groups []string
	for i := range all {
		if g := all[i].group(); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	score := func(f found) float64 {
		return rerank.Calibrated(rerank.Signals{Lambda: lambdaOf(share), Most: f.Most, Score: f.plain(share) * scale(lambdaOf(share))})
	}
	shipped := func(f found) float64 { // with the odds that candidates of these collections have
		p := score(f)
		return 1 / (1 + (1-p)/p*math.Exp(rerank.EvenOdds))
	}
	fmt.Println("| held queries of | results | relevant | ECE | ECE of the first ten | the same, fitted without this set | the same, not calibrated | AUC |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, g := range append(groups, "all") {
		held := func(a *asked) bool { return !a.Train && (g == "all" || a.group() == g) }
		n, relevant := count(all, held)
		if n == 0 {
			continue
		}
		own, ten := assess(all, held, 100, shipped), assess(all, held, 10, shipped)
		plain := assess(all, held, 10, func(f found) float64 { return min(1, max(0, f.plain(share))) })
		away := "–"
		if g != "all" && len(groups) > 1 {
			c := fit(all, share, func(a *asked) bool { return a.Train && a.group() != g })
			away = fmt.Sprintf("%.3f", assess(all, held, 10, func(f found) float64 { return c.at(f.unit(share)) }).ece)
		}
		fmt.Printf("| %s | %d | %.4f | %.4f | %.3f | %s | %.3f | %.4f |\n", g, n, relevant, own.ece, ten.ece, away, plain.ece, own.auc)
	}
	reportCutoff(all, groups, score)
	fmt.Print("\n| probability | results | mean | relevant |\n|---|---|---|---|\n")
	for i, b := range assess(all, func(a *asked) bool { return !a.Train }, 100, shipped).bins {
		if b.n > 0 {
			fmt.Printf("| %.1f–%.1f | %.0f | %.3f | %.3f |\n", float64(i)/10, float64(i+1)/10, b.n, b.said/b.n, b.true/b.n)
		}
	}
	fmt.Printf("\nfitted on the training queries, at share %.2f: %.2f %.2f; for internal/rerank/calibrate.go: EvenOdds %.2f, curves\n", share, whole.a, whole.b, evenOdds(all, train))
	for _, s := range shares {
		c := fit(all, s, train)
		fmt.Printf("\t{%.2f, %.2f, %.2f},\n", s, c.a, c.b)
	}
}

// reportCutoff prints what a cutoff of 0.5 leaves of the best ten results of held queries.
func reportCutoff(all []asked, groups []string, score func(found) float64) {
	fmt.Print("\n| held queries of | with a result above 0.5 | of these results relevant | relevant ones kept |\n|---|---|---|---|\n")
	for _, g := range groups {
		var queries, answered, kept, right, relevant float64
		for i := range all {
			a := &all[i]
			if a.Train || a.group() != g {
				continue
			}
			before := kept
			for _, f := range a.Found[:min(10, len(a.Found))] {
				above := score(f) >= 0.5
				if above {
					kept++
				}
				if f.Relevant {
					relevant++
				}
				if above && f.Relevant {
					right++
				}
			}
			if queries++; kept > before {
				answered++
			}
		}
		if queries > 0 {
			fmt.Printf("| %s | %.0f %% | %.0f %% | %.0f %% |\n", g, 100*answered/queries, 100*right/max(1, kept), 100*right/max(1, relevant))
		}
	}
}

// evenOdds is the logarithm of the odds against a candidate, with sets and queries weighing as in fit.
func evenOdds(all []asked, use func(*asked) bool) float64 {
	queries, relevant := map[string]float64{}, map[string]float64{}
	for i := range all {
		if a := &all[i]; use(a) && len(a.Found) > 0 {
			yes := 0.0
			for _, f := range a.Found {
				if f.Relevant {
					yes++
				}
			}
			queries[a.group()]++
			relevant[a.group()] += yes / float64(len(a.Found))
		}
	}
	sum := 0.0
	for g := range queries {
		sum += relevant[g] / queries[g]
	}
	p := sum / float64(max(1, len(queries)))
	return math.Log((1 - p) / p)
}

func count(all []asked, use func(*asked) bool) (n int, relevant float64) {
	for i := range all {
		if !use(&all[i]) {
			continue
		}
		for _, f := range all[i].Found {
			n++
			if f.Relevant {
				relevant++
			}
		}
	}
	return n, relevant / float64(max(1, n))
}

// lambdaOf is the λ with a lexical share.
func lambdaOf(share float64) float64 {
	return share / (share + rerank.LexicalScale*(1-share))
}

func scale(lambda float64) float64 { return rerank.LexicalScale*lambda + 1 - lambda }

// calibration reports, and keeps what was found if asked to.
func (b *bench) calibration() error {
	if b.found != "" {
		if err := writeFound(b.found, b.asked); err != nil {
			return err
		}
	}
	if len(b.asked) > 0 {
		report(b.asked)
	}
	return nil
}

func writeFound(name string, all []asked) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for i := range all {
		if err := lines.Encode(all[i]); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

func readFound(name string) (all []asked, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var a asked
		if err := lines.Decode(&a); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
}
