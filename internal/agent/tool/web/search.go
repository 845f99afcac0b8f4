package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/clip"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
)

// Search is the name of the tool that searches the web, and of the type of its configurations.
const Search = "web_search"

// Engine searches the web.
type Engine interface {
	// Search returns results, the best first. Errors are *tool.Failure, or that of ctx.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Query is what is searched for. Domains are as parseDomain returns them; an engine that takes none of them finds too much.
type Query struct {
	Text             string
	Limit            int
	Include, Exclude []string
}

// Result is a page that was found.
type Result struct {
	Title   string  `json:"title"`
	URL     string  `json:"url"`
	Content string  `json:"content"` // the passage that was found
	Score   float64 `json:"score"`
}

// Provider is the engine that a service searches with.
type Provider struct {
	Name   string // as the argument provider has it
	Engine Engine // nil if it isn't configured
	Why    string // it isn't, with the setting to change; "" if it is
}

// Bounds of a search.
const (
	defaultResults = 5
	maxResults     = 20
	searchTime     = 30 * time.Second
	maxPassage     = 8_000 // bytes of the content of a result
	maxTitle       = 1_000
)

const searchDescription = "Searches the public web and returns pages with their title, address, a passage and a score from 0 to 1. " +
	"Use it for what may be newer than your knowledge or isn't in the documents of this agent; read a page with a tool that fetches addresses, if there is one."

// searchSchema is of the arguments of web_search.
const searchSchema = `{
	"type": "object",
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "What to search for."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "How many results there are at most, 5 if it is left out."},
		"provider": {"type": "string", "enum": ["tavily", "searxng"], "description": "The service that searches; left out, the one that is configured."},
		"include_domains": {
			"type": "array", "items": {"type": "string"}, "maxItems": 50,
			"description": "Only pages of these domains: example.com with its subdomains, docs.example.com, or *.example.com for subdomains alone."
		},
		"exclude_domains": {"type": "array", "items": {"type": "string"}, "maxItems": 50, "description": "No pages of these domains, which are written in the same way."}
	},
	"required": ["query"],
	"additionalProperties": false
}`

const searchOutput = `{
	"type": "object",
	"properties": {
		"results": {
			"type": "array",
			"description": "The pages that were found, the best first.",
			"items": {
				"type": "object",
				"properties": {
					"title": {"type": "string"}, "url": {"type": "string"},
					"content": {"type": "string", "description": "The passage that was found."},
					"score": {"type": "number", "description": "How well the page fits."}
				},
				"required": ["title", "url", "content", "score"]
			}
		}
	},
	"required": ["results"]
}`

// NewSearch returns the type web_search.
func NewSearch(p Provider) (tool.Type, error) {
	arguments, err := schema.New(json.RawMessage(searchSchema))
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", Search, err)
	}
	output, err := schema.New(json.RawMessage(searchOutput))
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", Search, err)
	}
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		if err := checkPins(configuration); err != nil {
			return nil, err
		}
		return &tool.Tool{
			Name: Search, Description: searchDescription, Schema: arguments, Output: output, Repeat: tool.Reads,
			Disabled: p.Engine == nil, Why: p.Why, Run: p.run,
		}, nil
	}, nil
}

// checkPins refuses domains of a configuration that are none.
func checkPins(configuration json.RawMessage) error {
	var c struct {
		Override map[string]json.RawMessage `json:"argument_override"`
	}
	if json.Unmarshal(configuration, &c) != nil {
		return nil // package tool says why
	}
	f := fault.Invalid()
	for _, name := range []string{"include_domains", "exclude_domains"} {
		all, _ := jsonvalue.Decode(c.Override[name]).([]any)
		for i := range all {
			text, ok := all[i].(string)
			if _, err := parseDomain(text); ok && err != nil {
				f.Field(fmt.Sprintf("argument_override.%s[%d]", name, i), "%s", err)
			}
		}
	}
	return f.Err()
}

// run is Tool.Run.
func (p *Provider) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Query    string   `json:"query"`
		Limit    int      `json:"limit"`
		Provider string   `json:"provider"`
		Include  []string `json:"include_domains"`
		Exclude  []string `json:"exclude_domains"`
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, invalid("the arguments can't be read: %s", err)
	}
	if args.Provider != "" && args.Provider != p.Name {
		return nil, &tool.Failure{Class: tool.InvalidConfiguration, Text: fmt.Sprintf(
			"this service searches the web with %s, not with %s; its setting web_search says so", p.Name, args.Provider)}
	}
	q := Query{Text: strings.TrimSpace(args.Query), Limit: cmp.Or(args.Limit, defaultResults)}
	if q.Text == "" {
		return nil, invalid("query: must not be blank")
	}
	var err error
	if q.Include, err = parseDomains("include_domains", args.Include); err != nil {
		return nil, invalid("%s", err)
	}
	if q.Exclude, err = parseDomains("exclude_domains", args.Exclude); err != nil {
		return nil, invalid("%s", err)
	}
	within, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	found, err := p.Engine.Search(within, q)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &tool.Failure{Class: tool.Timeout, Text: fmt.Sprintf("the search took longer than %s", searchTime)}
	case err != nil:
		return nil, err
	}
	return encode(map[string]any{"results": q.fit(found)}), nil
}

// fit returns the results that a query lets through, cut to its limit.
func (q *Query) fit(found []Result) []Result {
	out := []Result{}
	for _, r := range found {
		if len(out) < q.Limit && wanted(r.URL, q.Include, q.Exclude) && !slices.ContainsFunc(out, func(o Result) bool { return o.URL == r.URL }) {
			r.Title, r.Content = clip.Head(strings.ToValidUTF8(r.Title, "\uFFFD"), maxTitle), clip.Head(strings.ToValidUTF8(r.Content, "\uFFFD"), maxPassage)
			out = append(out, r)
		}
	}
	return out
}

// Ask returns how many results an engine is asked for: more than are wanted where it may know nothing of the domains.
func (q *Query) Ask() int {
	if len(q.Include)+len(q.Exclude) > 0 {
		return maxResults
	}
	return q.Limit
}
