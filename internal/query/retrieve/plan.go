package retrieve

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"quarry/internal/corpus"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// source is a planned Source: its corpus, and the query for the search engine.
type source struct {
	corpus corpus.Corpus
	schema *filter.Schema // of the filter
	filter *filter.Filter // nil = none
	lambda float64
	full   float64       // rerank.Signals.Full; known after the search
	search search.Query  // K is set per search
	empty  bool          // nothing can match: no search is run
	listed bool          // its first candidates are what lists gave
	plan   []search.Step // what the searches did
	// behind is set where headings that lead to text stand behind all passages; not where the filter names part.is_title,
	// and so chooses among headings itself.
	behind bool
}

// Check returns the corpora of q, by position in its sources, and finds what Run would refuse without searching.
func (s *Service) Check(ctx context.Context, q Query) ([]corpus.Corpus, error) {
	if _, err := rerank.Check(q.Reranker); err != nil {
		return nil, fault.Under(err, "reranker")
	}
	sources, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]corpus.Corpus, len(sources))
	for i := range sources {
		out[i] = sources[i].corpus
	}
	return out, nil
}

// open reads the corpora of q in one statement and checks what its sources say about them.
func (s *Service) open(ctx context.Context, q Query) ([]source, error) {
	keys := make([]string, len(q.Sources))
	for i, src := range q.Sources {
		keys[i] = src.Corpus
	}
	corpora, err := s.corpora.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	out := make([]source, len(corpora))
	for i, c := range corpora {
		if out[i], err = openOne(c, q.Sources[i]); err != nil {
			return nil, fault.Under(err, fmt.Sprintf("corpora[%d]", i))
		}
	}
	return out, nil
}

func openOne(c corpus.Corpus, src Source) (source, error) {
	out := source{corpus: c}
	var err error
	if out.schema, err = c.Schema(); err != nil {
		return out, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	if out.filter, err = filter.Parse(src.Filter, out.schema, filter.Both); err != nil {
		return out, err
	}
	out.search.Filter = out.filter.Text()
	isTitle, _ := out.schema.Find(filter.Part, "is_title")
	out.behind = !slices.Contains(out.filter.Attrs(), isTitle)
	out.search.Dimensions, err = weights(c, src)
	return out, err
}

// plan opens the sources of q and analyses and encodes their texts.
func (s *Service) plan(ctx context.Context, q Query) ([]source, error) {
	out, err := s.open(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.mix(ctx, out, q.Sources); err != nil {
		return nil, err
	}
	var texts []sought
	dense := make([]*sought, len(out)) // nil = no dense side
	for i := range out {
		text := q.Sources[i].Text
		if text == "" {
			text = q.Text
		}
		plain, err := s.words(ctx, &out[i], text)
		if err != nil {
			return nil, fault.Under(err, fmt.Sprintf("corpora[%d]", i))
		}
		if out[i].lambda < 1 {
			dense[i] = &sought{roleOf(out[i].corpus, q.Sources[i]), plain}
			texts = append(texts, *dense[i])
		}
	}
	if len(texts) == 1 { // the usual query, of which the words are searched meanwhile
		i := slices.IndexFunc(dense, func(x *sought) bool { return x != nil })
		if s.encoders.Embedded(out[i].corpus.EncoderFingerprint) {
			out[i].search.Late = sync.OnceValues(func() ([]float32, error) {
				vectors, err := s.encode(ctx, texts)
				return vectors[texts[0]], err
			})
			return out, nil
		}
	}
	vectors, err := s.encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if dense[i] != nil {
			out[i].search.Vector = vectors[*dense[i]]
		}
	}
	return out, nil
}

// words sets the lexical side of a planned source and returns the text of its dense side.
func (s *Service) words(ctx context.Context, out *source, text string) (plain string, err error) {
	plain = text // λ = 0 takes operators literally
	if out.lambda > 0 {
		k := parseKeywords(text)
		plain = k.plain
		languages, err := s.languages(ctx, out.corpus, k.plain)
		if err != nil {
			return "", err
		}
		addTerms(&out.search, k, languages)
		out.search.PhrasesRequired = out.lambda == 1 && len(k.phrases) > 0
	}
	if out.lambda == 1 {
		out.empty = len(out.search.Terms)+len(out.search.Phrases)+len(out.search.Prefixes) == 0
	}
	if strings.TrimSpace(plain) == "" {
		plain = text
	}
	return plain, nil
}

// addTerms sets the lexical side of q. Words are analysed like those of documents in each of the languages.
func addTerms(q *search.Query, k keywords, languages []string) {
	terms := analysis.Query(k.scored, languages...)
	q.Terms = terms.Stems
	if len(q.Terms)+len(k.phrases) == 0 { // nothing but stop words, so they have to score
		for _, w := range terms.Words {
			q.Phrases = append(q.Phrases, []string{w.Text})
		}
	}
	q.Phrases = append(q.Phrases, k.phrases...)
	q.Prefixes, q.ExcludePrefixes = k.prefixes, k.excludePrefixes
	for _, f := range fragments(terms.Words) {
		q.Prefixes = append(q.Prefixes, f)
		q.Terms = slices.DeleteFunc(q.Terms, func(t string) bool { return t == f })
	}
	for _, words := range k.exclude {
		if len(words) == 1 {
			q.Exclude = append(q.Exclude, words[0])
			continue
		}
		q.ExcludePhrases = append(q.ExcludePhrases, words)
	}
}

// fragments returns the words that are shorter than the grams of their script, without those that score by themselves. The
// index has most of them only as prefixes of words.
func fragments(words []analysis.Term) []string {
	var out []string
	for _, w := range words {
		if analysis.Fragment(w.Text) && !analysis.Scored(w.Text) && !slices.Contains(out, w.Text) {
			out = append(out, w.Text)
		}
	}
	return out
}

// languages returns the languages in which to analyse a query: its own if that can be detected and the corpus has it,
// otherwise those of the corpus in the same script. Detection is unreliable for short texts.
func (s *Service) languages(ctx context.Context, c corpus.Corpus, text string) ([]string, error) {
	have, err := s.engine.Languages(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("languages of %s: %w", c.Key, err)
	}
	return lang.Among(text, have), nil
}

// weights returns the weight of every custom dimension of the corpus, in order; nil if it has none.
func weights(c corpus.Corpus, src Source) ([]float64, error) {
	var out []float64
	known := map[string]bool{}
	for _, d := range c.Dimensions {
		w, ok := src.Dimensions[d.Name]
		if !ok {
			w = d.QueryingDefault
		}
		out = append(out, w)
		known[d.Name] = true
	}
	for name := range src.Dimensions {
		if !known[name] {
			return nil, fault.InvalidField("custom_dimensions", "corpus %s has no custom dimension %q", c.Key, name)
		}
	}
	return out, nil
}
