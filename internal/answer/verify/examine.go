package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/internal/answer/verify/fact"
	"quarry/internal/answer/verify/markup"
	"quarry/internal/embed"
	"quarry/internal/encode/kernel"
	"quarry/internal/text/analysis"
	"quarry/internal/text/rarity"
)

// Sentence is a sentence of the text with its evidence.
type Sentence struct {
	*Span
	Near        []*Span   // sentences of the sources, the nearest first; empty when there are none
	Support     *Span     // the one of Near that supports the sentence best; nil when there are none
	alike       []float64 // for each of Near, the mean over the tokens of the best cosine to one of its tokens, rare words weighing more
	Evidence    Evidence
	Differences Differences
}

// brief is the number of words of content up to which a sentence is judged together with the question.
const brief = 3

// Evidence is what supports a sentence, each from about 0 to 1. It is exported for the benchmark that fits the
// weights; the product's users see the score alone.
type Evidence struct {
	Meaning  float64 // cosine to the nearest sentence of the sources
	Words    float64 // mean, over the tokens, of the best cosine to a token of the six nearest sentences
	Rare     float64 // the same, rare words weighing more
	Together float64 // the highest such mean that a single sentence reaches
	Pairs    float64 // share of the pairs of words that the sources have
	Verbatim bool    // a source has the same words
}

// Differences are what in a sentence contradicts or exceeds its sources.
type Differences struct {
	Numbers []fact.Number // that no source states
	Astray  int           // numbers that the nearest sentence of the sources does not state, but another does
	Names   []fact.Name   // that no source has
	Denied  []fact.Contrary
	Turned  []fact.Polar // words whose opposite the supporting sentence has
	Rivals  []fact.Place // numbers and names that the sources have, but in whose place the supporting sentence has another
	Held    float64      // share of the other words of content that the supporting sentence has
}

// Score is the probability that the sources support the sentence; 0 without sources.
func (f *Sentence) Score() float64 { return f.by(shipped) }

func (f *Sentence) by(w Weights) float64 {
	if len(f.Near) == 0 {
		return 0
	}
	return w.Score(f.Evidence, f.Differences)
}

// Examine returns what the embedded score of c is based on, sentence by sentence, whatever the judge. Errors are those of Score.
func (s *Service) Examine(ctx context.Context, c Claim) ([]Sentence, error) {
	lang, err := Language(c)
	if err != nil {
		return nil, err
	}
	if s.TooLong(c) {
		return nil, ErrTooLong
	}
	found, err := s.examine(ctx, c, lang)
	if err != nil {
		return nil, fmt.Errorf("examine consistency: %w", err)
	}
	return found, nil
}

// examine compares every sentence of the text with the sources.
func (s *Service) examine(ctx context.Context, c Claim, lang string) ([]Sentence, error) {
	text := spans(markup.StripCode(c.Text), lang)
	if len(text) == 0 {
		text = spans(markup.Strip(c.Text), lang) // nothing but code
	}
	from := sources(c.Sources, lang)
	complete(text, c.Question)
	return s.compare(ctx, text, from)
}

// complete puts the question before the sentences of an answer that are too short to state anything by themselves, such as "Yes."
// and the items of a list.
func complete(text []*Span, question string) {
	if question = strings.TrimRight(strings.TrimSpace(question), "?？"); question == "" {
		return
	}
	for _, t := range text {
		if len(t.Stems) > brief {
			continue
		}
		whole := question + ". " + t.Text
		both := NewSpan(whole, 0, len(whole), t.Lang)
		both.Start, both.End, both.Completed = t.Start, t.End, true
		if len(t.Words) > 1 || !slices.Contains(yesOrNo, t.Words[0].Text) {
			both.answer = t.Stems
		}
		*t = *both
	}
}

// yesOrNo are answers whose words the sources need not contain.
var yesOrNo = strings.Fields("yes no ja nein oui non sí si sim não да нет はい いいえ 是 否 不 네 예 아니요 نعم لا हाँ हां नहीं")

func (s *Service) compare(ctx context.Context, text, from []*Span) ([]Sentence, error) {
	out := make([]Sentence, len(text))
	for i, t := range text {
		out[i].Span = t
	}
	if len(from) == 0 || len(text) == 0 {
		return out, ctx.Err()
	}
	chosen := candidates(text, from)
	if err := s.encode(ctx, text, chosen); err != nil {
		return nil, err
	}
	every := gather(from)
	for i := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i].weigh(chosen, every)
	}
	return out, nil
}

// encode fills in the states of the spans.
func (s *Service) encode(ctx context.Context, groups ...[]*Span) error {
	all := slices.Concat(groups...)
	texts := make([]string, len(all))
	for i, x := range all {
		texts[i] = x.Text
	}
	if r, ok := s.cfg.Encoder.(embed.Reader); ok {
		states, err := r.States(ctx, texts)
		for i := range states {
			all[i].states = states[i]
		}
		return err
	}
	vectors := make([][]float32, len(all))
	for i := range vectors {
		vectors[i] = make([]float32, s.cfg.Encoder.Dim())
		all[i].states.Vector = vectors[i]
	}
	return s.cfg.Encoder.Encode(ctx, embed.Passage, texts, vectors)
}

// Union is the words, stems and numbers of all sources together.
type Union struct {
	Stems   map[string]bool
	Words   []fact.Word
	Numbers []fact.Number
	pairs   map[string]bool
	joined  string
}

// ReadSources returns the union of these sources.
func ReadSources(texts []string, lang string) *Union { return gather(sources(texts, lang)) }

func gather(from []*Span) *Union {
	e := &Union{Stems: map[string]bool{}, pairs: map[string]bool{}}
	var b strings.Builder
	for _, s := range from {
		for _, stem := range s.Stems {
			e.Stems[stem] = true
		}
		maps.Copy(e.pairs, s.pairs)
		b.WriteString(s.Joined)
		e.Words = append(e.Words, s.Words...)
		e.Numbers = append(e.Numbers, s.Numbers...)
	}
	e.joined = strings.ReplaceAll(b.String(), "  ", " ")
	return e
}

// weigh fills in evidence and differences.
func (f *Sentence) weigh(from []*Span, every *Union) {
	type ranked struct {
		*Span
		cosine float64
	}
	order := make([]ranked, len(from))
	for i, s := range from {
		order[i] = ranked{s, float64(kernel.Dot(f.states.Vector, s.states.Vector))}
	}
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(b.cosine, a.cosine) })
	for _, r := range order[:min(nearest, len(order))] {
		f.Near = append(f.Near, r.Span)
	}
	e := &f.Evidence
	e.Meaning = order[0].cosine
	f.readWords()
	e.Verbatim = len(f.Words) > 2 && strings.Contains(every.joined, f.Joined) || f.covered()
	for p := range f.pairs {
		if every.pairs[p] {
			e.Pairs++
		}
	}
	if len(f.pairs) > 0 {
		e.Pairs /= float64(len(f.pairs))
	} else if every.Stems[strings.Join(f.Stems, " ")] {
		e.Pairs = 1
	}
	f.differ(every)
}

// covered reports whether one sentence of the sources has every word of a short sentence.
func (f *Sentence) covered() bool {
	if f.Completed || len(f.Stems) == 0 || len(f.Stems) > brief {
		return false
	}
	return slices.ContainsFunc(f.Near, func(n *Span) bool {
		return !slices.ContainsFunc(f.Stems, func(stem string) bool { return !slices.Contains(n.Stems, stem) })
	})
}

// readWords compares the tokens with those of the nearest sentences.
func (f *Sentence) readWords() {
	e := &f.Evidence
	if len(f.states.Pieces) == 0 || len(f.Near[0].states.Pieces) == 0 {
		e.Words, e.Rare, e.Together = e.Meaning, e.Meaning, e.Meaning // an encoder without states, or no known token
		f.alike = make([]float64, len(f.Near))
		return
	}
	dim := len(f.states.Vector)
	weights := pieceWeights(f.states.Pieces, f.Lang)
	best := make([]float64, len(weights))
	for i := range best {
		best[i] = -1
	}
	for _, n := range f.Near {
		one := make([]float64, len(weights))
		for i := range weights {
			one[i] = -1
			row := f.states.Rows[i*dim : (i+1)*dim]
			for at := 0; at < len(n.states.Rows); at += dim {
				one[i] = max(one[i], float64(kernel.Dot(row, n.states.Rows[at:at+dim])))
			}
			best[i] = max(best[i], one[i])
		}
		f.alike = append(f.alike, mean(one, weights))
		e.Together = max(e.Together, f.alike[len(f.alike)-1])
	}
	e.Words, e.Rare = mean(best, nil), mean(best, weights)
}

func mean(values, weights []float64) float64 {
	sum, total := 0.0, 0.0
	for i, v := range values {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum, total = sum+w*v, total+w
	}
	return sum / max(total, 1e-9)
}

// heaviest bounds the weight of a rare word: beyond it, rarity means odd spelling rather than importance.
const heaviest = 6

// pieceWeights returns the weight of each piece, which is that of its word.
func pieceWeights(pieces []string, lang string) []float64 {
	out := make([]float64, len(pieces))
	for i := 0; i < len(pieces); {
		end, word := i+1, pieces[i]
		for end < len(pieces) && strings.HasPrefix(pieces[end], "##") {
			word += pieces[end][2:]
			end++
		}
		weight := 0.5 // a sign
		if fact.Words(word) != nil {
			if stems := analysis.Analyze(word, lang).Stems; len(stems) > 0 {
				word = stems[0]
			}
			weight = max(0.5, min(heaviest, rarity.In(word, lang)))
		}
		for ; i < end; i++ {
			out[i] = weight
		}
	}
	return out
}
