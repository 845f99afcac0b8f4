package mcpserve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// The most that outputs hold: characters of a passage, of a description and of an answer, bytes of metadata.
const (
	mostPassage     = 4000
	mostDescription = 1000
	mostAnswer      = 100_000
	mostMetadata    = 16 << 10
)

// listArgs are the arguments of a tool that lists.
type listArgs struct {
	Limit   int    `json:"limit,omitempty" jsonschema:"the most entries to return"`
	PageKey string `json:"page_key,omitempty" jsonschema:"next_page_key of the page before; left out: the first page"`
}

func pageBounds(args *jsonschema.Schema) { between(args, "limit", 1, 100, 50) }

type corpora struct {
	Corpora []corpus `json:"corpora"`
	Next    string   `json:"next_page_key,omitempty" jsonschema:"page_key of the next page; absent on the last one"`
}

type corpus struct {
	Key         string      `json:"corpus_key" jsonschema:"what the other tools call it"`
	Name        string      `json:"name,omitempty"`
	Description string      `json:"description,omitempty"`
	Enabled     bool        `json:"enabled" jsonschema:"whether it can be searched"`
	Documents   int64       `json:"documents" jsonschema:"how many it holds"`
	Attributes  []attribute `json:"filter_attributes,omitempty" jsonschema:"what metadata_filter may compare"`
}

type attribute struct {
	Name        string `json:"name"`
	Level       string `json:"level" jsonschema:"document: written doc.name in a filter; part: part.name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

func (s rest) listCorpora() tool[listArgs, corpora] {
	return tool[listArgs, corpora]{
		name: "list_corpora", title: "List corpora", reads: true, bounds: pageBounds,
		about: "Lists the corpora (collections of documents) that you may see, with their keys for the other tools and the attributes that filters may compare.",
		run: func(ctx context.Context, args listArgs, _ func(string)) (corpora, error) {
			var answer struct {
				page
				Corpora []stored `json:"corpora"`
			}
			err := s.call(ctx, http.MethodGet, listed("/v2/corpora", orUsual(args.Limit, 50), args.PageKey), nil, &answer)
			if status(err) == http.StatusForbidden {
				return s.ownCorpora(ctx, args, err)
			}
			out := corpora{Corpora: []corpus{}, Next: answer.Metadata.Key}
			for i := range answer.Corpora {
				out.Corpora = append(out.Corpora, answer.Corpora[i].shown())
			}
			return out, err
		},
	}
}

// stored is a corpus as the service describes it.
type stored struct {
	corpus
	Key        string      `json:"key"`
	Attributes []attribute `json:"filter_attributes"`
	Limits     struct {
		Documents int64 `json:"used_docs"`
	} `json:"limits"`
}

// shown returns the corpus as tools show it.
func (c *stored) shown() corpus {
	out := c.corpus
	out.Key, out.Attributes, out.Documents = c.Key, c.Attributes, c.Limits.Documents
	out.Description, _ = cut(out.Description, mostDescription)
	return out
}

// ownCorpora lists the corpora on which the caller holds a role, for one who may not list all of them; refused is that refusal.
func (s rest) ownCorpora(ctx context.Context, args listArgs, refused error) (corpora, error) {
	var caller struct {
		Roles []struct {
			Corpus string `json:"corpus_key"`
		} `json:"corpus_roles"`
	}
	if err := s.call(ctx, http.MethodGet, "/v2/caller", nil, &caller); err != nil {
		return corpora{}, err
	}
	var keys []string
	for _, r := range caller.Roles {
		keys = append(keys, r.Corpus)
	}
	if len(keys) == 0 {
		return corpora{}, refused
	}
	slices.Sort(keys)
	out := corpora{Corpora: []corpus{}}
	for _, key := range slices.Compact(keys) {
		if key <= args.PageKey {
			continue
		}
		if len(out.Corpora) == orUsual(args.Limit, 50) {
			out.Next = out.Corpora[len(out.Corpora)-1].Key
			break
		}
		var c stored
		switch err := s.call(ctx, http.MethodGet, "/v2/corpora/"+url.PathEscape(key), nil, &c); status(err) {
		case 0:
			if err != nil {
				return corpora{}, err
			}
			out.Corpora = append(out.Corpora, c.shown())
		case http.StatusForbidden, http.StatusNotFound: // the role has ended meanwhile, or the corpus
		default:
			return corpora{}, err
		}
	}
	return out, nil
}

// orUsual returns a number that was given, or the default in place of 0, which the schema refuses.
func orUsual(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

type searchArgs struct {
	Corpora []string `json:"corpus_keys" jsonschema:"keys of the corpora to search, from list_corpora"`
	Query   string   `json:"query" jsonschema:"what to look for, in words or as a question"`
	Limit   int      `json:"limit,omitempty" jsonschema:"the most passages to return"`
	Filter  string   `json:"metadata_filter,omitempty" jsonschema:"condition on metadata, such as doc.year >= 2024 AND doc.lang = 'eng'; it applies to every corpus"`
}

func searchBounds(args *jsonschema.Schema) {
	between(args, "limit", 1, 50, 10)
	least, most, one := 1, 20, 1
	args.Properties["corpus_keys"].MinItems, args.Properties["corpus_keys"].MaxItems = &least, &most
	args.Properties["corpus_keys"].Type, args.Properties["corpus_keys"].Types = "array", nil
	args.Properties["query"].MinLength = &one
}

type passages struct {
	Results []passage `json:"results"`
}

type passage struct {
	Text      string  `json:"text"`
	Truncated bool    `json:"truncated,omitempty" jsonschema:"whether the text goes on; get_document has all of it"`
	Score     float64 `json:"score"`
	Corpus    string  `json:"corpus_key"`
	Document  string  `json:"document_id" jsonschema:"what get_document takes"`
	Title     string  `json:"title,omitempty" jsonschema:"of the document, with the heading above the passage"`
	Metadata  any     `json:"document_metadata,omitempty"`
}

func (s rest) search() tool[searchArgs, passages] {
	return tool[searchArgs, passages]{
		name: "search", title: "Search documents", reads: true, bounds: searchBounds,
		about: "Searches corpora by meaning and by words, and returns the passages that fit best, each with the document that it stands in.",
		run: func(ctx context.Context, args searchArgs, _ func(string)) (passages, error) {
			found, err := s.query(ctx, args, nil)
			out := passages{Results: make([]passage, len(found.Results))}
			for i := range found.Results {
				out.Results[i] = found.Results[i].passage()
			}
			return out, err
		},
	}
}

type answered struct {
	Answer    string   `json:"answer" jsonschema:"numbers in brackets, such as [1], name the sources"`
	Truncated bool     `json:"truncated,omitempty" jsonschema:"whether the answer was longer"`
	Support   *float64 `json:"factual_consistency_score,omitempty" jsonschema:"how far the sources support the answer, 0 to 1"`
	Sources   []source `json:"sources" jsonschema:"the passages that the answer cites"`
	Warnings  []string `json:"warnings,omitempty"`
}

type source struct {
	Number int `json:"number" jsonschema:"as the answer cites it"`
	passage
}

func (s rest) ask() tool[searchArgs, answered] {
	return tool[searchArgs, answered]{
		name: "ask", title: "Ask documents", reads: true, bounds: searchBounds,
		about: "Answers a question from the documents of corpora, with the passages that the answer stands on. It is written by the service's " +
			"language model, or quoted word for word where there is none.",
		run: func(ctx context.Context, args searchArgs, _ func(string)) (answered, error) {
			found, err := s.query(ctx, args, map[string]any{})
			out := answered{Sources: []source{}, Support: found.Support, Warnings: found.Warnings}
			out.Answer, out.Truncated = cut(found.Summary, mostAnswer)
			for _, n := range cited(found.Summary, len(found.Results)) {
				out.Sources = append(out.Sources, source{n, found.Results[n-1].passage()})
			}
			return out, err
		},
	}
}

// citation matches a number that an answer cites a passage by.
var citation = regexp.MustCompile(`\[(\d+)\]`)

// cited returns the numbers of the passages that a text cites, each once, in the order of the text. There are n passages.
func cited(text string, n int) (numbers []int) {
	seen := map[int]bool{}
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		if at, err := strconv.Atoi(m[1]); err == nil && at >= 1 && at <= n && !seen[at] {
			seen[at] = true
			numbers = append(numbers, at)
		}
	}
	return numbers
}

// found is the part of the answer of a query that tools show.
type found struct {
	Summary  string   `json:"summary"`
	Support  *float64 `json:"factual_consistency_score"`
	Results  []result `json:"search_results"`
	Warnings []string `json:"warnings"`
}

type result struct {
	Text     string          `json:"text"`
	Score    float64         `json:"score"`
	Document string          `json:"document_id"`
	Corpus   string          `json:"corpus_key"`
	Of       json.RawMessage `json:"document_metadata"`
	Part     json.RawMessage `json:"part_metadata"`
}

// passage returns the result as tools show it.
func (r *result) passage() passage {
	p := passage{Score: r.Score, Corpus: r.Corpus, Document: r.Document, Title: titled(r.Of), Metadata: bounded(r.Of)}
	if below := titled(r.Part); below != "" && below != p.Title {
		p.Title = strings.TrimPrefix(p.Title+" › "+below, " › ")
	}
	p.Title, _ = cut(p.Title, mostDescription)
	p.Text, p.Truncated = cut(r.Text, mostPassage)
	return p
}

// titled returns the title that metadata holds, "" for none.
func titled(metadata json.RawMessage) string {
	var m struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(metadata, &m) // a title that is no text is none
	return m.Title
}

// bounded returns metadata as it is, nil for none or for more than a tool shows.
func bounded(metadata json.RawMessage) any {
	if len(metadata) == 0 || len(metadata) > mostMetadata {
		return nil
	}
	return metadata
}

// query asks the corpora. generation is nil for a search alone.
func (s rest) query(ctx context.Context, args searchArgs, generation map[string]any) (out found, err error) {
	body := map[string]any{"query": args.Query, "search": map[string]any{"limit": orUsual(args.Limit, 10), "corpora": in(args.Corpora, args.Filter)}}
	if generation != nil {
		body["generation"] = generation
	}
	err = s.call(ctx, http.MethodPost, "/v2/query", body, &out)
	return out, err
}

// in returns the corpora of a query.
func in(keys []string, filter string) []map[string]any {
	out := make([]map[string]any, len(keys))
	for i, key := range keys {
		out[i] = map[string]any{"corpus_key": key}
		if filter != "" {
			out[i]["metadata_filter"] = filter
		}
	}
	return out
}

type documentArgs struct {
	Corpus   string `json:"corpus_key" jsonschema:"key of the corpus, from list_corpora"`
	Document string `json:"document_id" jsonschema:"identifier of the document, from search or ask"`
	Offset   int    `json:"offset,omitempty" jsonschema:"how many characters of the text to leave out at its beginning"`
	Limit    int    `json:"limit,omitempty" jsonschema:"the most characters of the text to return"`
}

type document struct {
	Corpus     string `json:"corpus_key"`
	Document   string `json:"document_id"`
	Title      string `json:"title,omitempty"`
	Text       string `json:"text"`
	Characters int    `json:"total_characters" jsonschema:"length of the whole text"`
	Next       int    `json:"next_offset,omitempty" jsonschema:"offset at which the text goes on; absent at its end"`
	Metadata   any    `json:"metadata,omitempty" jsonschema:"absent if it is longer than 16 KiB"`
}

// usualText is how many characters of a document a call returns unless it says otherwise.
const usualText = 20_000

func (s rest) getDocument() tool[documentArgs, document] {
	return tool[documentArgs, document]{
		name: "get_document", title: "Read a document", reads: true,
		bounds: func(args *jsonschema.Schema) {
			between(args, "offset", 0, 1<<31, 0)
			between(args, "limit", 1, mostAnswer, usualText)
			one := 1
			args.Properties["corpus_key"].MinLength, args.Properties["document_id"].MinLength = &one, &one
		},
		about: "Reads the text of a document and its metadata. A long text comes in pieces: next_offset is the offset of the next one.",
		run: func(ctx context.Context, args documentArgs, _ func(string)) (out document, err error) {
			var answer struct {
				Metadata json.RawMessage `json:"metadata"`
				Parts    []part          `json:"parts"`
			}
			path := "/v2/corpora/" + url.PathEscape(args.Corpus) + "/documents/" + url.PathEscape(args.Document)
			if err := s.call(ctx, http.MethodGet, path, nil, &answer); err != nil {
				return document{}, err
			}
			whole := joined(answer.Parts)
			out = document{
				Corpus: args.Corpus, Document: args.Document, Title: titled(answer.Metadata), Characters: utf8.RuneCountInString(whole),
				Metadata: bounded(answer.Metadata),
			}
			out.Title, _ = cut(out.Title, mostDescription)
			if args.Offset > out.Characters {
				return document{}, errors.New("offset is behind the end of the text, which has " + strconv.Itoa(out.Characters) + " characters")
			}
			before, _ := cut(whole, args.Offset)
			text, more := cut(whole[len(before):], orUsual(args.Limit, usualText))
			if out.Text = text; more {
				out.Next = args.Offset + utf8.RuneCountInString(text)
			}
			return out, nil
		},
	}
}

// part is a part of a document, in its order.
type part struct {
	Text     string `json:"text"`
	Metadata struct {
		Title   bool `json:"is_title"`
		Section any  `json:"section"`
		Offset  int  `json:"offset"`
		Length  int  `json:"len"`
	} `json:"metadata"`
}

// joined returns the text of a document: titles and what stood apart in it are paragraphs of their own.
func joined(parts []part) string {
	var b strings.Builder
	for i := range parts {
		if i > 0 {
			before, p := parts[i-1].Metadata, parts[i].Metadata
			if before.Title || p.Title || before.Section != p.Section || p.Offset > before.Offset+before.Length+1 {
				b.WriteString("\n\n")
			} else {
				b.WriteString(" ")
			}
		}
		b.WriteString(parts[i].Text)
	}
	return b.String()
}
