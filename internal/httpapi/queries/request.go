package queries

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
	"quarry/internal/query"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
)

const defaultLimit = 10

// member is a member of a request: its value, and how the client wrote it, which the history shows. Null means absent.
type member[T any] struct {
	value *T
	raw   json.RawMessage
}

// written returns the member that a client would have written for v.
func written[T any](v T) member[T] {
	raw, _ := json.Marshal(v) // strings, numbers and booleans always encode
	return member[T]{&v, raw}
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *member[T]) UnmarshalJSON(raw []byte) error {
	if *m = (member[T]{}); string(raw) == "null" {
		return nil
	}
	m.value, m.raw = new(T), bytes.Clone(raw)
	return json.Unmarshal(raw, m.value)
}

// MarshalJSON implements json.Marshaler.
func (m member[T]) MarshalJSON() ([]byte, error) { return m.raw, nil }

// IsZero reports whether m is absent or null.
func (m member[T]) IsZero() bool { return m.value == nil }

func (m member[T]) or(fallback T) T { return opt.Deref(m.value, fallback) }

// body is a request of any of the three operations. Encoded again after merge, it is the QueryRequest that the history
// shows. The schema has checked types and bounds already.
type body struct {
	Query      member[string]     `json:"query,omitzero"`
	Search     *search            `json:"search"`
	Generation member[generation] `json:"generation,omitzero"`
	Stream     member[bool]       `json:"stream_response,omitzero"`
	Save       member[bool]       `json:"save_history,omitzero"`
	Rewriting  member[bool]       `json:"intelligent_query_rewriting,omitzero"`
	Explain    member[explain]    `json:"explain,omitzero"`
}

// explain is true, false, or an object that can name a document.
type explain struct {
	asked    bool
	document string
}

// UnmarshalJSON implements json.Unmarshaler.
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
	Corpora  []settings              `json:"corpora"`
	Limit    member[int]             `json:"limit,omitzero"`
	Offset   member[int]             `json:"offset,omitzero"`
	Context  member[contextSettings] `json:"context_configuration,omitzero"`
	Reranker member[reranker]        `json:"reranker,omitzero"`
	MaxBy    member[string]          `json:"max_by,omitzero"`
	Exact    member[bool]            `json:"exact,omitzero"`
	flat
}

// flat holds the settings that stand in search itself (contract: queries.md section 1.1). They stay undecoded until merge:
// across several corpora the contract knows only semantics there, and anything may stand under the other names.
type flat struct {
	Query      json.RawMessage `json:"query,omitempty"`
	Filter     json.RawMessage `json:"metadata_filter,omitempty"`
	Lambda     json.RawMessage `json:"lexical_interpolation,omitempty"`
	Dimensions json.RawMessage `json:"custom_dimensions,omitempty"`
	Semantics  json.RawMessage `json:"semantics,omitempty"`
}

// settings are those of one corpus.
type settings struct {
	CorpusKey  member[string]              `json:"corpus_key,omitzero"`
	Query      member[string]              `json:"query,omitzero"`
	Filter     member[string]              `json:"metadata_filter,omitzero"`
	Lambda     member[float64]             `json:"lexical_interpolation,omitzero"`
	Dimensions member[map[string]*float64] `json:"custom_dimensions,omitzero"`
	Semantics  member[string]              `json:"semantics,omitzero"`
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

// Request is a parsed request, also of a question of a chat.
type Request struct {
	Ask    query.Ask
	Stream bool        // the answer is wanted in events
	place  string      // of its fields, for faults
	names  fault.Names // that its fields have there
}

// Fault returns err with the fields of the request as the client knows them.
func (r *Request) Fault(err error) error { return fault.Under(err, r.place, r.names) }

// parseBody parses a body. key is the corpus of the path, "" for the operation over several corpora.
func parseBody(raw json.RawMessage, key string) (*Request, error) {
	var b body
	if err := httpapi.Decode(raw, &b); err != nil {
		return nil, err
	}
	return b.parse("body", key)
}

// ParseChat parses the body of a question of a chat: that of a query over several corpora whose answer is always generated.
func ParseChat(raw json.RawMessage) (*Request, error) {
	var b body
	if err := httpapi.Decode(raw, &b); err != nil {
		return nil, err
	}
	r, err := b.parse("body", "")
	if err == nil && r.Ask.Generation == nil {
		g := b.Generation.or(generation{})
		g.Enabled = nil
		r.Ask.Generation = g.request(r.Ask.Search.Text, r.names)
	}
	return r, err
}

// parse returns the command for a body whose members stand at a place.
func (b *body) parse(place, key string) (*Request, error) {
	f, names := fault.Invalid(), fault.Names{}
	if b.Search == nil {
		b.Search = &search{}
		f.Field("search", "is required")
	} else {
		b.Search.merge(key, f, names)
	}
	return b.request(place, f, names)
}

// parseParameters parses the parameters of a GET, which the chain has checked.
func parseParameters(q url.Values, key string) (*Request, error) {
	b := body{Query: written(q.Get("query")), Search: &search{Corpora: []settings{{CorpusKey: written(key)}}}}
	for name, to := range map[string]*member[int]{"limit": &b.Search.Limit, "offset": &b.Search.Offset} {
		if v, err := strconv.Atoi(q.Get(name)); err == nil || errors.Is(err, strconv.ErrRange) { // then v is the bound of int
			*to = written(v)
		}
	}
	for name, to := range map[string]*member[bool]{"save_history": &b.Save, "intelligent_query_rewriting": &b.Rewriting} {
		if v, err := strconv.ParseBool(q.Get(name)); err == nil {
			*to = written(v)
		}
	}
	return b.request("query", fault.Invalid(), fault.Names{"search.limit": "limit", "search.offset": "offset"})
}

// merge copies the settings that stand in search itself into every corpus that lacks them: all of them for the corpus of
// the path, semantics alone across several. Without a list of corpora, the corpus of the path becomes the list.
func (s *search) merge(key string, f *fault.Fault, names fault.Names) {
	under := s.flat
	s.flat = flat{}
	for i := range s.Corpora {
		if q := s.Corpora[i].Query.value; q != nil && strings.TrimSpace(*q) == "" {
			f.Field(fmt.Sprintf("search.corpora[%d].query", i), "must not be blank")
		}
	}
	if key != "" && len(s.Corpora) == 0 {
		s.Corpora, names["search.corpora[0]"] = make([]settings, 1), "search"
		s.Corpora[0].Query.inherit(under.Query, f, "search.query")
	}
	for i := range s.Corpora {
		c := &s.Corpora[i]
		c.Semantics.inherit(under.Semantics, f, "search.semantics")
		if key == "" {
			continue
		}
		if named := c.CorpusKey.or(""); named != "" && named != key {
			f.Field(fmt.Sprintf("search.corpora[%d].corpus_key", i), "is %q, but the path names %q", named, key)
		}
		c.CorpusKey = written(key)
		c.Filter.inherit(under.Filter, f, "search.metadata_filter")
		c.Lambda.inherit(under.Lambda, f, "search.lexical_interpolation")
		c.Dimensions.inherit(under.Dimensions, f, "search.custom_dimensions")
	}
}

// inherit decodes under into m if m is absent. A value that can't be read is a fault of the field.
func (m *member[T]) inherit(under json.RawMessage, f *fault.Fault, field string) {
	if m.value == nil && len(under) > 0 {
		if err := m.UnmarshalJSON(under); err != nil {
			f.Field(field, "can't be read: %s", err)
		}
	}
}

// request returns the command for a merged body. An error is f with everything that is wrong.
func (b *body) request(place string, f *fault.Fault, names fault.Names) (*Request, error) {
	s := b.Search
	ask := query.Ask{
		Search: retrieve.Query{
			Text: b.Query.or(""), Limit: s.Limit.or(defaultLimit), Offset: s.Offset.or(0), BestPerDocument: s.MaxBy.or("") != "", Exact: s.Exact.or(false),
			Sources: make([]retrieve.Source, len(s.Corpora)), Explain: b.Explain.or(explain{}).asked, Absent: b.Explain.or(explain{}).document,
			Save: opt.From(b.Save.value), Context: retrieve.Context(s.Context.or(contextSettings{})), Reranker: s.Reranker.or(reranker{}).spec(),
		},
		Generation: b.Generation.value.request(b.Query.or(""), names), Rewriting: b.Rewriting.or(false),
	}
	for i := range s.Corpora {
		ask.Search.Sources[i] = s.Corpora[i].source()
	}
	if ask.Check(f); len(f.Fields) > 0 {
		return nil, fault.Under(f, place, names)
	}
	var err error
	if ask.Request, err = json.Marshal(b); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return &Request{ask, b.Stream.or(false), place, names}, nil
}

func (c *settings) source() retrieve.Source {
	semantics := c.Semantics.or("")
	out := retrieve.Source{
		Corpus: c.CorpusKey.or(""), Text: c.Query.or(""), Filter: c.Filter.or(""), Lambda: opt.From(c.Lambda.value),
		Response: semantics == "response", Question: semantics == "query",
	}
	for name, weight := range c.Dimensions.or(nil) {
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
