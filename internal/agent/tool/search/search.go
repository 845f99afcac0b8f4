// Package search is the tool corpora_search: queries of agents, configured but for their words (contract: tools.md section 3.2).
package search

import (
	"context"
	"encoding/json"
	"fmt"

	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
)

// Name is the name of the tool that searches corpora, and of the type of its configurations.
const Name = "corpora_search"

const searchDescription = "Searches the documents of this agent's knowledge base and returns the passages that answer a query best, each with the document that it is from. " +
	"Use it for everything that the documents may know. The query is a question or a phrase in natural language."

// searchSchema is of the arguments of corpora_search.
const searchSchema = `{
	"type": "object",
	"properties": {"query": {"type": "string", "minLength": 1, "maxLength": 5000, "description": "What to search for, in natural language."}},
	"required": ["query"],
	"additionalProperties": false
}`

// outputSchema is of what it returns, the answer to a query of the contract.
const outputSchema = `{
	"type": "object",
	"properties": {
		"search_results": {
			"type": "array",
			"description": "Passages, the best first.",
			"items": {
				"type": "object",
				"properties": {
					"text": {"type": "string"},
					"score": {"type": "number"},
					"document_id": {"type": "string"},
					"corpus_key": {"type": "string"},
					"part_metadata": {"type": "object"},
					"document_metadata": {"type": "object"}
				}
			}
		},
		"summary": {"type": "string", "description": "An answer written from the passages, where the configuration asks for one."},
		"response_language": {"type": "string"},
		"factual_consistency_score": {"type": "number", "description": "How well the passages support the answer, 0 to 1."}
	}
}`

// New returns the type corpora_search: queries through a searcher, configured but for their words.
func New(searcher Searcher) (tool.Type, error) {
	arguments, err := schema.New(json.RawMessage(searchSchema))
	if err != nil {
		return nil, err
	}
	output, err := schema.New(json.RawMessage(outputSchema))
	if err != nil {
		return nil, err
	}
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		s := &search{searcher: searcher}
		t := &tool.Tool{
			Name: Name, Description: searchDescription, Schema: arguments, Output: output, Repeat: tool.Reads, Run: s.run, Eager: map[string]tool.Eager{},
		}
		if err := s.read(configuration, t); err != nil {
			return nil, err
		}
		return t, nil
	}, nil
}

// search is one configuration of corpora_search.
type search struct {
	searcher Searcher
	request  map[string]any // a QueryRequest without a query; its corpora are a list of objects, references left out
}

const configurationField = "query_configuration"

// read reads query_configuration and finds its references and corpora.
func (s *search) read(configuration json.RawMessage, t *tool.Tool) error {
	f := fault.Invalid()
	members, _ := jsonvalue.Decode(configuration).(map[string]any)
	query, ok := members[configurationField].(map[string]any)
	if !ok {
		return fault.InvalidField(configurationField, "is required and an object")
	}
	settings, _ := query["search"].(map[string]any)
	corpora, _ := settings["corpora"].([]any)
	if len(corpora) == 0 {
		return fault.InvalidField(configurationField+".search.corpora", "must name at least one corpus")
	}
	for i := range corpora {
		place := corpusField(i)
		one, ok := corpora[i].(map[string]any)
		if !ok {
			f.Field(place, "must be an object")
			continue
		}
		key := textOf(one, "corpus_key", place, t, f)
		if _, referred := t.Eager[fault.Join(place, "corpus_key")]; key == "" && !referred {
			f.Field(fault.Join(place, "corpus_key"), "is required")
		}
		if key != "" {
			t.Needs = append(t.Needs, permit.Need{Corpus: key})
		}
		textOf(one, "metadata_filter", place, t, f)
	}
	if err := f.Err(); err != nil {
		return err
	}
	// history is kept where it is asked for, whatever the corpora say (contract: tools.md section 3)
	s.request = map[string]any{"search": settings, "save_history": query["save_history"] == true}
	if g, ok := query["generation"]; ok && g != nil {
		s.request["generation"] = g
	}
	s.request["query"] = "?"
	defer delete(s.request, "query")
	return fault.Under(s.searcher.Check(jsonvalue.Encode(s.request)), configurationField)
}

func corpusField(i int) string { return fmt.Sprintf("%s.search.corpora[%d]", configurationField, i) }

// textOf returns a member of a corpus that is a text, "" if it is absent or a reference, which moves to t.Eager.
func textOf(corpus map[string]any, name, place string, t *tool.Tool, f *fault.Fault) string {
	v, given := corpus[name]
	if !given || v == nil {
		return ""
	}
	place = fault.Join(place, name)
	r, is, err := reference.Of(v)
	text, isText := v.(string)
	switch {
	case err != nil:
		f.Field(place, "%s", err)
	case is:
		t.Eager[place] = tool.Eager{Reference: r}
		delete(corpus, name)
	case !isText:
		f.Field(place, `must be a text or a reference, as in {"$ref": "session.metadata.team"}`)
	}
	return text
}

// run is Tool.Run.
func (s *search) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf("the arguments can't be read: %s", err)}
	}
	request, err := s.resolve(c)
	if err != nil {
		return nil, err
	}
	request["query"] = args.Query
	out, err := s.searcher.Search(ctx, Query{Request: jsonvalue.Encode(request), Agent: c.Agent, Session: c.Session, Mask: c.Mask})
	if f, ok := fault.As(err); ok && f.Kind == fault.KindInvalid && f.Fields["query"] == "" {
		return nil, &tool.Failure{Class: tool.InvalidConfiguration, Text: "the search is not configured well: " + tool.Reason(f, configurationField)}
	}
	return out, err
}

// resolve returns the request with the values of its references. Every corpus must be allowed to the call.
func (s *search) resolve(c tool.Call) (map[string]any, error) {
	// the request of the configuration is shared by all calls
	out, _ := jsonvalue.Decode(jsonvalue.Encode(s.request)).(map[string]any)
	settings, _ := out["search"].(map[string]any)
	corpora, _ := settings["corpora"].([]any)
	var needs []permit.Need
	for i := range corpora {
		one, _ := corpora[i].(map[string]any)
		place := corpusField(i)
		if key, ok := c.Eager[fault.Join(place, "corpus_key")].(string); ok {
			one["corpus_key"] = key
		}
		if text, ok := c.Eager[fault.Join(place, "metadata_filter")].(string); ok {
			one["metadata_filter"] = text
		}
		key, _ := one["corpus_key"].(string)
		needs = append(needs, permit.Need{Corpus: key})
	}
	return out, c.Permit(needs...)
}

// Searcher runs queries in the contract's shapes.
type Searcher interface {
	// Check returns what is wrong with a query as far as it can be known without looking at corpora. Corpora and filters that
	// are references are left out. Faults name fields of a QueryRequest.
	Check(request json.RawMessage) error
	// Search runs a query and returns the response.
	Search(ctx context.Context, q Query) (json.RawMessage, error)
}

// Query is a query of the tool.
type Query struct {
	Request json.RawMessage // a QueryRequest of the contract
	Agent   string          // keys, for the history
	Session string
	Mask    *mask.Mask // for the history; nil where no secret is known
}
