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

	"quarry/internal/query/rerank"
)

// shares are the lexical shares for which the calibration has constants.
var shares = []float64{0, 0.25, 0.5, 0.65, 0.8, 1}

// curve is the fitted probability of being relevant: 1/(1+exp(-(a+b·unit))).
type curve struct{ a, b float64 }

func (c curve) at(unit float64) float64 { return 1 / (1 + math.Exp(-c.a-c.b*unit)) }

// unit returns the retrieval score at a lexical share, as a fraction of that of a full match.
func (f found) unit(share float64) float64 {
	highest := share*saturated(f.Full) + 1 - share
	if highest == 0 {
		return 0
	}
	return f.plain(share) / highest
}

// plain returns the retrieval score at a lexical share, as a fraction of the highest that the weights allow.
func (f found) plain(share float64) float64 { return share*saturated(f.BM25) + (1-share)*f.Cosine }

func saturated(bm25 float64) float64 { return bm25 / (bm25 + rerank.LexicalHalf) }

// fit returns the curve of maximum likelihood (logistic regression by Newton's method). All sets have the same weight, and
// so have all queries of a set. Weights by the number of queries of a set, or its square root, generalised worse to sets
// that were left out.
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

// quality is the quality of probabilities: the expected calibration error over ten bins of equal width, and the area under
// the ROC curve, both over the results of all queries.
type quality struct {
	ece, auc float64
	bins     [10]bin
}

// bin holds sums over the results in a bin: their number, probabilities and labels.
type bin struct{ n, predicted, actual float64 }

type judged struct {
	p        float64
	relevant bool
}

// assess returns the quality of p on the first results of each query.
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
		b.n, b.predicted, b.actual = b.n+1, b.predicted+j.p, b.actual+y
	}
	for _, b := range q.bins {
		q.ece += math.Abs(b.predicted-b.actual) / float64(len(list))
	}
	q.auc = auc(list)
	return q
}

// auc returns the area under the ROC curve; results of equal probability count half.
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

// report prints the quality of the scores on queries that were held out from the fit, and the fitted constants.
func report(all []asked) {
	const share = 0.65
	train := func(a *asked) bool { return a.Train }
	whole := fit(all, share, train)
	groups := groupsOf(all)
	score := func(f found) float64 {
		return rerank.Calibrated(rerank.Signals{Lambda: lambdaOf(share), Full: f.Full, Score: f.plain(share) * scale(lambdaOf(share))})
	}
	shipped := func(f found) float64 { // the probability behind the score
		p := score(f)
		return 1 / (1 + (1-p)/p*math.Exp(rerank.Balance))
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
	reportCutoff(all, score)
	fmt.Print("\n| probability | results | mean | relevant |\n|---|---|---|---|\n")
	for i, b := range assess(all, func(a *asked) bool { return !a.Train }, 100, shipped).bins {
		if b.n > 0 {
			fmt.Printf("| %.1f–%.1f | %.0f | %.3f | %.3f |\n", float64(i)/10, float64(i+1)/10, b.n, b.predicted/b.n, b.actual/b.n)
		}
	}
	fmt.Printf("\nfitted on the training queries, at share %.2f: %.2f %.2f; for internal/query/rerank/calibrate.go: Balance %.2f, curves\n", share, whole.a, whole.b, balance(all, whole, share))
	for _, s := range shares {
		c := fit(all, s, train)
		fmt.Printf("\t{%.2f, %.2f, %.2f},\n", s, c.a, c.b)
	}
}

// remains counts what a cutoff leaves of the first ten results of queries.
type remains struct{ queries, answered, kept, right, relevant float64 }

func cutOff(all []asked, use func(*asked) bool, keep func(found) bool) (c remains) {
	for i := range all {
		if !use(&all[i]) {
			continue
		}
		before := c.kept
		for _, f := range all[i].Found[:min(10, len(all[i].Found))] {
			above := keep(f)
			if above {
				c.kept++
			}
			if f.Relevant {
				c.relevant++
			}
			if above && f.Relevant {
				c.right++
			}
		}
		if c.queries++; c.kept > before {
			c.answered++
		}
	}
	return c
}

// f2 returns the F-measure that weights recall twice as much as precision.
func (c remains) f2() float64 { return 5 * c.right / max(1, c.kept+4*c.relevant) }

// balance returns the addend to the log odds of a curve that maximises the mean F2 of the groups at a cutoff of 0.5, on the
// training queries.
func balance(all []asked, c curve, share float64) float64 {
	best, at := -1.0, 0.0
	for shift := 0.0; shift <= 4; shift += 0.05 {
		sum := 0.0
		for _, g := range groupsOf(all) {
			sum += cutOff(all, func(a *asked) bool { return a.Train && a.group() == g },
				func(f found) bool { return c.a+c.b*f.unit(share)+shift >= 0 }).f2()
		}
		if sum > best {
			best, at = sum, shift
		}
	}
	return at
}

func groupsOf(all []asked) (groups []string) {
	for i := range all {
		if g := all[i].group(); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}

// reportCutoff prints what cutoffs leave of the first ten results of the queries held out.
func reportCutoff(all []asked, score func(found) float64) {
	fmt.Print("\n| held queries of | cutoff 0.3: answered, precision, recall | cutoff 0.5 | cutoff 0.7 |\n|---|---|---|---|\n")
	for _, g := range groupsOf(all) {
		fmt.Printf("| %s |", g)
		for _, least := range []float64{0.3, 0.5, 0.7} {
			c := cutOff(all, func(a *asked) bool { return !a.Train && a.group() == g }, func(f found) bool { return score(f) >= least })
			fmt.Printf(" %.2f, %.2f, %.2f |", c.answered/max(1, c.queries), c.right/max(1, c.kept), c.right/max(1, c.relevant))
		}
		fmt.Println()
	}
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

// lambdaOf returns the λ of a lexical share.
func lambdaOf(share float64) float64 {
	return share / (share + rerank.LexicalScale*(1-share))
}

func scale(lambda float64) float64 { return rerank.LexicalScale*lambda + 1 - lambda }

// calibration prints the report, and writes the results to a file if b.found is set.
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
