package confidence

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/text/analysis"
)

// Sentence is a candidate of an answer as the search has judged it.
type Sentence struct {
	Text    string
	About   string // what it belongs to, such as an option or the heading above; "" for none
	Passage int

	Cover, Context, Around, Cosine, Standing, Kind, Score float64
}

// Reading is a question read beside the sentences of its passages, in their order.
type Reading struct {
	question, language string
	learned            bool
	sentences          []Sentence
	weights            []float64 // of the runs of letters in the question, together 1
	runs               []runs    // of each sentence
	passages           []runs    // of each passage that has sentences, by its index
	several            float64   // how many these are
	closest            float64
}

// runs are the runs of letters of a question that a text has.
type runs [mostRuns / 64]uint64

// mostRuns bounds the runs of a question that are looked for, and aboutBytes what is read of what a sentence belongs to.
const (
	mostRuns   = 512
	aboutBytes = 200
)

// Read reads a question; language, ISO 639-3, is its own, and learned reports whether the cosines mean something in it.
func Read(question, language string, learned bool, sentences []Sentence) *Reading {
	r := &Reading{question: question, language: language, sentences: sentences, runs: make([]runs, len(sentences))}
	at := map[string]int{}
	each(question, func(run string) {
		if _, ok := at[run]; !ok && len(at) < mostRuns {
			at[run] = len(at)
		}
	})
	holders := make([]float64, len(at))
	for i, s := range sentences {
		of := &r.runs[i]
		each(s.Text+"\n"+s.About[:min(len(s.About), aboutBytes)], func(run string) {
			if k, ok := at[run]; ok {
				of[k/64] |= 1 << (k % 64)
			}
		})
		for k := range holders {
			if of.has(k) {
				holders[k]++
			}
		}
		if s.Passage >= len(r.passages) {
			r.passages = append(r.passages, make([]runs, s.Passage+1-len(r.passages))...)
		}
		if i == 0 || sentences[i-1].Passage != s.Passage {
			r.several++
		}
		r.passages[s.Passage] = r.passages[s.Passage].with(*of)
		r.closest = max(r.closest, s.Cosine)
	}
	r.learned = learned && r.closest > 0
	r.weights = weigh(holders, float64(len(sentences)))
	return r
}

// weigh returns weights for what so many of n sentences hold; together they are 1.
func weigh(holders []float64, n float64) []float64 {
	total := 0.0
	for i, h := range holders {
		holders[i] = math.Log(1 + (n-h+0.5)/(h+0.5))
		total += holders[i]
	}
	for i := range holders {
		holders[i] /= total
	}
	return holders
}

func (r runs) has(k int) bool { return r[k/64]&(1<<(k%64)) != 0 }

func (r runs) with(o runs) runs {
	for i := range r {
		r[i] |= o[i]
	}
	return r
}

// share returns the share of the question's runs that are among those of a text.
func (r *Reading) share(of runs) float64 {
	sum := 0.0
	for k, w := range r.weights {
		if of.has(k) {
			sum += w
		}
	}
	return min(1, sum)
}

// following is how many sentences behind one its score is compared with.
const following = 10

// Features returns those of the sentence at place i of an order, which holds indices of sentences, best first.
func (r *Reading) Features(order []int, i int) Features {
	at := order[i]
	s := &r.sentences[at]
	f := Features{
		Cover: s.Cover, Context: s.Context, Around: s.Around, Cosine: s.Cosine, Closest: r.closest, Standing: s.Standing, Kind: s.Kind,
		Passage: r.share(r.passages[s.Passage]), Pairs: r.pairs(s.Text), Learned: r.learned,
	}
	of := r.runs[at]
	if at > 0 && r.sentences[at-1].Passage == s.Passage {
		of = of.with(r.runs[at-1])
	}
	f.Runs = r.share(of)
	for p, of := range r.passages {
		if p != s.Passage {
			share := r.share(of)
			f.Other = max(f.Other, share)
			f.Mean += share / max(1, r.several-1)
		}
	}
	others := 0.0
	for k := range r.sentences {
		if r.sentences[k].Passage != s.Passage {
			f.Noise += r.sentences[k].Cover
			others++
		}
	}
	f.Noise /= max(1, others)
	f.Lead = s.Score
	rest := order[i+1 : min(len(order), i+1+following)]
	for _, k := range rest {
		f.Lead -= r.sentences[k].Score / float64(len(rest))
	}
	return f
}

// near is how many terms apart neighbours may be in a sentence.
const near = 3

// pairs returns the share of the neighbours in the question that are neighbours in a text.
func (r *Reading) pairs(text string) float64 {
	asked, has := analysis.Query(r.question, r.language).Stems, analysis.Analyze(text, r.language).Stems
	if len(asked) < 2 {
		return 0
	}
	places := map[string][]int{}
	for i, stem := range has {
		places[stem] = append(places[stem], i)
	}
	n := 0
	for i := range asked[1:] {
		if adjacent(places[asked[i]], places[asked[i+1]]) {
			n++
		}
	}
	return float64(n) / float64(len(asked)-1)
}

// adjacent reports whether a place of the one is near a place of the other.
func adjacent(a, b []int) bool {
	for _, x := range a {
		for _, y := range b {
			if x != y && x-y <= near && y-x <= near {
				return true
			}
		}
	}
	return false
}

// runLetters is the length of a run of letters.
const runLetters = 4

// each calls f with the runs of four letters in the words of a text, in lower case and without marks, and with shorter words. In
// scripts that put no blanks between words a run is one letter.
func each(text string, f func(run string)) {
	folded := strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(text)))
	for word := range strings.FieldsFuncSeq(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters := runLetters
		if first, _ := utf8.DecodeRuneInString(word); unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			letters = 1
		}
		ends := make([]int, 0, len(word)) // of its letters
		for i := range word {
			if i > 0 {
				ends = append(ends, i)
			}
		}
		ends = append(ends, len(word))
		if len(ends) <= letters {
			f(word)
			continue
		}
		start := 0
		for i := letters - 1; i < len(ends); i++ {
			f(word[start:ends[i]])
			start = ends[i-letters+1]
		}
	}
}
