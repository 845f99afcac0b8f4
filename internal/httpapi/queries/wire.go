package queries

import (
	"encoding/json"
	"fmt"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
)

// body is the request of both POST operations: the settings of a corpus stand in search (flat form) or in
// search.corpora (contract: queries.md section 1.1). The schema has checked types and bounds already.
type body struct {
	Query          string          `json:"query"`
	Search         *search         `json:"search"`
	Generation     json.RawMessage `json:"generation"`
	StreamResponse bool            `json:"stream_response"`
	SaveHistory    *bool           `json:"save_history"`
	Rewriting      bool            `json:"intelligent_query_rewriting"`
	Explain        explain         `json:"explain"`
}

// explain is true, false, or an object that may name a document.
type explain struct {
	asked    bool
	document string
}

// UnmarshalJSON reads either form.
func (e *explain) UnmarshalJSON(raw []byte) error {
	var b struct {
		DocumentID string `json:"document_id"`
	}
	if json.Unmarshal(raw, &e.asked) == nil {
		return nil
	}
	err := json.Unmarshal(raw, &b)
	e.asked, e.document = true, b.DocumentID
	return err
}

type search struct {
	Corpora  []settings       `json:"corpora"`
	Limit    *int             `json:"limit"`
	Offset   int              `json:"offset"`
	MaxBy    string           `json:"max_by"`
	Context  *contextSettings `json:"context_configuration"`
	Reranker *reranker        `json:"reranker"`
}

// settings are those of one corpus; absent members are nil.
type settings struct {
	CorpusKey  string              `json:"corpus_key"`
	Query      *string             `json:"query"`
	Filter     *string             `json:"metadata_filter"`
	Lambda     *float64            `json:"lexical_interpolation"`
	Dimensions map[string]*float64 `json:"custom_dimensions"`
	Semantics  *string             `json:"semantics"`
}

type contextSettings struct {
	SentencesBefore  int    `json:"sentences_before"`
	SentencesAfter   int    `json:"sentences_after"`
	CharactersBefore int    `json:"characters_before"`
	CharactersAfter  int    `json:"characters_after"`
	StartTag         string `json:"start_tag"`
	EndTag           string `json:"end_tag"`
	Whole            bool   `json:"full_document_context"`
}

type reranker struct {
	Type          string     `json:"type"`
	Name          string     `json:"reranker_name"`
	ID            string     `json:"reranker_id"`
	Limit         int        `json:"limit"`
	Cutoff        *float64   `json:"cutoff"`
	DiversityBias *float64   `json:"diversity_bias"`
	UserFunction  string     `json:"user_function"`
	Rerankers     []reranker `json:"rerankers"`
}

func (r reranker) spec() rerank.Spec {
	out := rerank.Spec{
		Type: r.Type, Name: r.Name, ID: r.ID, Limit: r.Limit, Cutoff: r.Cutoff,
		DiversityBias: r.DiversityBias, UserFunction: r.UserFunction,
	}
	for _, x := range r.Rerankers {
		out.Rerankers = append(out.Rerankers, x.spec())
	}
	return out
}

const (
	defaultLimit = 10
	// maxOffset bounds how deep paging goes: what lies before a page is ranked for every page.
	maxOffset = 100_000
)

// parse reads a body; key is the corpus of the path, "" for the operation over several corpora.
func parse(raw json.RawMessage, key string) (retrieve.Query, *body, error) {
	var b body
	if err := httpapi.Decode(raw, &b); err != nil {
		return retrieve.Query{}, nil, err
	}
	across, err := flatSettings(raw, key)
	if err != nil {
		return retrieve.Query{}, nil, err
	}
	f := fault.Invalid()
	if strings.TrimSpace(b.Query) == "" {
		f.Field("body.query", "must not be blank")
	}
	if b.Search == nil {
		return retrieve.Query{}, nil, f.Field("body.search", "is required")
	}
	q := retrieve.Query{
		Text: b.Query, Limit: defaultLimit, Offset: b.Search.Offset, BestPerDocument: b.Search.MaxBy != "",
		Sources: sources(b.Search.Corpora, across, key, f), RerankerPath: "body.search.reranker",
		Explain: b.Explain.asked, Absent: b.Explain.document,
	}
	if b.Search.Limit != nil {
		q.Limit = *b.Search.Limit
	}
	checkPage(f, q, "body.search.limit", "body.search.offset")
	if c := b.Search.Context; c != nil {
		q.Context = retrieve.Context{
			SentencesBefore: c.SentencesBefore, SentencesAfter: c.SentencesAfter,
			CharactersBefore: c.CharactersBefore, CharactersAfter: c.CharactersAfter,
			StartTag: c.StartTag, EndTag: c.EndTag, Whole: c.Whole,
		}
	}
	if r := b.Search.Reranker; r != nil {
		q.Reranker = r.spec()
	}
	if len(f.Fields) > 0 {
		return q, &b, f
	}
	return q, &b, nil
}

func checkPage(f *fault.Fault, q retrieve.Query, limit, offset string) {
	if q.Limit < 1 || q.Limit > retrieve.MaxLimit {
		f.Field(limit, "must be between 1 and %d", retrieve.MaxLimit)
	}
	if q.Offset < 0 || q.Offset > maxOffset {
		f.Field(offset, "must be between 0 and %d", maxOffset)
	}
}

// flatSettings reads the settings that stand in search itself: all of them for one corpus, the semantics alone across
// several.
func flatSettings(raw json.RawMessage, key string) (settings, error) {
	if key == "" {
		var b struct {
			Search struct {
				Semantics *string `json:"semantics"`
			} `json:"search"`
		}
		err := httpapi.Decode(raw, &b)
		return settings{Semantics: b.Search.Semantics}, err
	}
	var b struct {
		Search settings `json:"search"`
	}
	err := httpapi.Decode(raw, &b)
	return b.Search, err
}

func sources(corpora []settings, under settings, key string, f *fault.Fault) []retrieve.Source {
	if corpora == nil && key != "" {
		under.CorpusKey = key
		return []retrieve.Source{under.source("body.search", nil)}
	}
	out := make([]retrieve.Source, len(corpora))
	for i, c := range corpora {
		path := fmt.Sprintf("body.search.corpora[%d]", i)
		if key != "" {
			if c.CorpusKey != "" && c.CorpusKey != key {
				f.Field(path+".corpus_key", "is %q, but the path names %q", c.CorpusKey, key)
			}
			c.CorpusKey = key
		}
		if c.Query != nil && strings.TrimSpace(*c.Query) == "" {
			f.Field(path+".query", "must not be blank")
		}
		out[i] = c.source(path, &under)
	}
	return out
}

// source maps one corpus's settings; what it leaves out is taken from under.
func (c settings) source(path string, under *settings) retrieve.Source {
	if under != nil {
		c.Filter, c.Lambda, c.Semantics = or(c.Filter, under.Filter), or(c.Lambda, under.Lambda), or(c.Semantics, under.Semantics)
		if c.Dimensions == nil {
			c.Dimensions = under.Dimensions
		}
	}
	out := retrieve.Source{Corpus: c.CorpusKey, Lambda: retrieve.DefaultLambda, Path: path}
	if c.Query != nil {
		out.Text = *c.Query
	}
	if c.Filter != nil {
		out.Filter = *c.Filter
	}
	if c.Lambda != nil {
		out.Lambda = *c.Lambda
	}
	if c.Semantics != nil {
		out.Response, out.Question = *c.Semantics == "response", *c.Semantics == "query"
	}
	for name, weight := range c.Dimensions {
		if weight == nil { // null takes the corpus's default
			continue
		}
		if out.Dimensions == nil {
			out.Dimensions = map[string]float64{}
		}
		out.Dimensions[name] = *weight
	}
	return out
}

func or[T any](v, other *T) *T {
	if v != nil {
		return v
	}
	return other
}

// answer is QueryFullResponse; members that do not apply are left out.
type answer struct {
	Summary   *string     `json:"summary,omitempty"`
	Language  string      `json:"response_language,omitempty"`
	Results   []result    `json:"search_results"`
	Score     *float64    `json:"factual_consistency_score,omitempty"`
	Prompt    string      `json:"rendered_prompt,omitempty"`
	Absent    *absent     `json:"absent_document,omitempty"`
	Rewritten []rewritten `json:"rewritten_queries,omitempty"`
	Warnings  []string    `json:"warnings,omitempty"`
}

type absent struct {
	DocumentID string         `json:"document_id"`
	Stage      retrieve.Stage `json:"stage"`
	Detail     string         `json:"detail,omitempty"`
}

func wireAbsent(a *retrieve.Absent) *absent {
	if a == nil {
		return nil
	}
	return &absent{a.DocumentID, a.Stage, a.Detail}
}

type part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

type rewritten struct {
	CorpusKey  string   `json:"corpus_key"`
	Extraction struct{} `json:"filter_extraction"`
}

type result struct {
	Type             string          `json:"result_type"`
	Text             string          `json:"text"`
	Score            float64         `json:"score"`
	PartMetadata     json.RawMessage `json:"part_metadata"`
	DocumentMetadata json.RawMessage `json:"document_metadata"`
	DocumentID       string          `json:"document_id"`
	CorpusKey        string          `json:"corpus_key"`
	Source           int             `json:"request_corpora_index"`
	Table            *document.Table `json:"table,omitempty"`
	Image            *image          `json:"image,omitempty"`
	Explanation      []part          `json:"explanation,omitempty"`
}

type image struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Caption     string `json:"caption,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
}

// wireResults maps results in their order. A table comes whole with the first result that is of it: later ones name
// it in part_metadata (contract: Tables, duplicate references).
func wireResults(all []retrieve.Result) []result {
	type place struct{ corpus, document, table string }
	shown := map[place]bool{}
	out := make([]result, len(all))
	for i, r := range all {
		out[i] = result{
			Type: "text", Text: r.Text, Score: r.Score, PartMetadata: r.PartMetadata, DocumentMetadata: r.DocumentMetadata,
			DocumentID: r.DocumentID, CorpusKey: r.CorpusKey, Source: r.Source, Table: r.Table,
		}
		for _, p := range r.Explanation {
			out[i].Explanation = append(out[i].Explanation, part{p.Name, p.Value})
		}
		if r.Table != nil {
			at := place{r.CorpusKey, r.DocumentID, r.Table.ID}
			if shown[at] {
				out[i].Table = nil
			}
			shown[at] = true
		}
		if m := r.Image; m != nil {
			out[i].Type = "image"
			out[i].Image = &image{m.ID, m.Title, m.Caption, m.Description, m.MimeType}
		}
	}
	return out
}
