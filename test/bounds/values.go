package bounds

import (
	"fmt"
	"math"
	"strings"
)

// Case is one value for a place, and whether the contract takes it.
type Case struct {
	Name   string
	Value  any
	Inside bool
}

// samples are texts that fit a pattern and texts that just don't. Patterns of the contract are searched for, so one
// that ends with $ alone says nothing about the beginning.
var samples = map[string]struct{ inside, outside []string }{
	`^[a-zA-Z0-9_-]+$`:             {[]string{"a", "Z-9_"}, []string{"a b", "a=b", "ä", "a/b", "a."}},
	`^[a-zA-Z0-9_=\-]+$`:           {[]string{"a", "Z-9_="}, []string{"a b", "ä", "a/b", "a."}},
	`^[0-9a-zA-Z_-]+$`:             {[]string{"a", "Z-9_"}, []string{"a b", "a=b", "ä", "a/b", "a."}},
	`[0-9a-zA-Z_-]+$`:              {[]string{"a", "Z-9_"}, []string{"a=", "ä", "a."}},
	`^(start|aev_[0-9a-zA-Z_-]+)$`: {[]string{"start"}, []string{"aev_", "start ", "ev_1", "xstart", "aev_a b"}},
	`art_[a-z0-9_-]+$`:             {[]string{"art_none"}, []string{"art_", "art_A", "at_1"}},
	`enc_[0-9]+$`:                  {[]string{"enc_1"}, []string{"enc_", "enc_1a", "ncc_1"}},
	`crp_[0-9]+$`:                  {[]string{"crp_1", "crp_99"}, []string{"crp_", "crp_1a", "cpr_1"}},
	`^rnk_[0-9]+$`:                 {[]string{"rnk_272725719"}, []string{"rnk_", "rnk_1a", "xrnk_1"}},
	`gnp_.*`:                       {[]string{"gnp_1", "gnp_"}, []string{"gn_1", "gnp1"}},
	`cht_.+$`:                      {[]string{"cht_1"}, []string{"cht_", "ct_1"}},
	`tol_[0-9a-zA-Z_-]+$`:          {[]string{"tol_1"}, []string{"tol_", "tol_1 ", "to_1"}},
	`tsr_[0-9a-zA-Z_-]+$`:          {[]string{"tsr_1"}, []string{"tsr_", "tsr_1 ", "ts_1"}},
	`ins_[0-9a-zA-Z_-]+$`:          {[]string{"ins_1"}, []string{"ins_", "ins_1 ", "in_1"}},
	`trn_.+$`:                      {[]string{"trn_1"}, []string{"trn_", "tn_1"}},
	`job_.+$`:                      {[]string{"job_1"}, []string{"job_", "jb_1"}},
}

// Cases returns values one below, on and one above a bound. filler writes a text of n characters for the place, item the
// n-th item of a list there, and the n-th value of a map.
func (b Bound) Cases(filler func(n int) string, item func(n int) any) ([]Case, error) {
	switch b.Keyword {
	case "minimum", "maximum":
		return b.numbers()
	case "minLength", "maxLength":
		return b.counts(func(n int) any { return filler(n) }), nil
	case "minItems", "maxItems":
		return b.counts(func(n int) any {
			out := make([]any, n)
			for i := range out {
				out[i] = item(i)
			}
			return out
		}), nil
	case "minProperties", "maxProperties":
		return b.counts(func(n int) any {
			out := object{}
			for i := range n {
				out[fmt.Sprint("n", i)] = item(i)
			}
			return out
		}), nil
	case "pattern":
		return b.texts()
	}
	return nil, fmt.Errorf("%s at %s: no way to make values for this keyword", b.Keyword, b.Place)
}

func (b Bound) numbers() ([]Case, error) {
	at, whole := 0.0, true
	switch v := b.Value.(type) {
	case int:
		at = float64(v)
	case float64:
		at, whole = v, v == math.Trunc(v)
	default:
		return nil, fmt.Errorf("%s at %s is %v, no number", b.Keyword, b.Place, b.Value)
	}
	step := 1.0
	if b.Type == "number" || !whole {
		step = 0.0009765625 // a power of two: sums are exact
	}
	lower := b.Keyword == "minimum"
	return []Case{
		{"one below", at - step, !lower}, {"on", at, true}, {"one above", at + step, lower},
	}, nil
}

// counts returns lengths around a bound; those beyond the other bound, or below none at all, are left out.
func (b Bound) counts(make func(n int) any) []Case {
	at := whole(b.Value)
	var out []Case
	for i, name := range []string{"one below", "on", "one above"} {
		n := at + i - 1
		inside := n >= b.Least && (b.Most == 0 || n <= b.Most)
		if n == 0 && strings.HasPrefix(b.Place, "path.") {
			continue // a path without it is another path
		}
		if n >= 0 {
			out = append(out, Case{name, make(n), inside})
		}
	}
	return out
}

func (b Bound) texts() ([]Case, error) {
	s, ok := samples[b.Pattern]
	if !ok {
		return nil, fmt.Errorf("pattern %s at %s has no samples in values.go", b.Pattern, b.Place)
	}
	var out []Case
	for _, text := range s.inside {
		out = append(out, Case{"fits " + text, text, true})
	}
	for _, text := range s.outside {
		out = append(out, Case{"does not fit " + text, text, false})
	}
	return out, nil
}

// Plain is filler for places where any text does: characters of two bytes, for bounds count characters. Under a
// pattern they are letters.
func (b Bound) Plain(n int) string {
	if b.Pattern != "" {
		return strings.Repeat("k", n)
	}
	return strings.Repeat("é", n)
}
