package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/tool"
	"quarry/internal/id"
)

// Built is what a tool that comes with the program has beside its definition.
type Built struct {
	Category string
	Lineage  string // the name without a version
	Released string // the day of this version, 2006-01-02, which its id has, too
	Groups   []string
}

// facts are what the types of built-in tools don't say about themselves.
type facts struct {
	title, category, released string
	groups                    []string
	// sample is a configuration of the type by which its tool is listed; "" for one without members of its own.
	sample string
}

// Dynamic is the type of configurations of tools without a type of their own: they name their tool by its id.
const Dynamic = "dynamic_vectara"

// experimental is the category that lists leave out unless it is asked for.
const experimental = "experimental"

// builtIn has a line for each type that a program can have. A type that is not among those of the kit is not listed.
var builtIn = map[string]facts{
	"corpora_search": {title: "Search in corpora", category: "retrieval", released: "2026-11-01",
		sample: `{"type":"corpora_search","query_configuration":{"search":{"corpora":[{"corpus_key":"corpus"}]}}}`},
	"sub_agent": {title: "Ask another agent", category: "orchestration", released: "2026-11-23",
		sample: `{"type":"sub_agent","sub_agent_configuration":{"agent_key":"agent"}}`},
	"get_document_text":         {title: "Text of a document", category: "retrieval", released: "2026-11-23"},
	"artifact_create":           {title: "Create an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"artifact_read":             {title: "Read an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"core_document_index":       {title: "Index documents", category: "indexing", released: "2026-02-20", groups: []string{"indexing"}},
	"structured_document_index": {title: "Index a document with sections", category: "indexing", released: "2026-02-20", groups: []string{"indexing"}},
	"delete_documents":          {title: "Delete documents", category: "indexing", released: "2026-02-20", groups: []string{"indexing"}},
	"artifact_grep":             {title: "Search in an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"web_search":                {title: "Search the web", category: "retrieval", released: "2026-11-23", groups: []string{"web"}},
	"web_get":                   {title: "HTTP request", category: "utilities", released: "2026-11-23", groups: []string{"web"}},
	"slack_post_message":        {title: "Message to a channel of Slack", category: "utilities", released: "2026-02-20"},
	"gchat_direct_message":      {title: "Direct message by Google Chat", category: "utilities", released: "2026-02-20"},
	"artifact_jq":               {title: "Query a JSON artifact", category: "artifacts", released: "2026-02-20", groups: []string{"artifacts"}},
	"image_read":                {title: "Look at an image", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"document_conversion":       {title: "Convert a document", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
}

// builtTools returns the built-in tools of a kit. One without a line in builtIn is an error: it could be configured and would not
// be listed.
func builtTools(kit tool.Kit) ([]Tool, error) {
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(kit.Types)) {
		one, err := listed(name, name, kit.Types[name])
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	for _, name := range slices.Sorted(maps.Keys(kit.Dynamic)) {
		one, err := listed(name, Dynamic, kit.Dynamic[name])
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// listed returns a built-in tool as it is listed.
func listed(name, kind string, make tool.Type) (Tool, error) {
	f, ok := builtIn[name]
	if !ok {
		return Tool{}, fmt.Errorf("the tool %s is not in the catalogue", name)
	}
	if f.sample == "" {
		f.sample = fmt.Sprintf(`{"type":%q}`, kind)
	}
	made, err := make(json.RawMessage(f.sample))
	if err != nil {
		return Tool{}, fmt.Errorf("list the tool %s: %w", name, err)
	}
	at, err := time.Parse(time.DateOnly, f.released)
	if err != nil {
		return Tool{}, fmt.Errorf("list the tool %s: %w", name, err)
	}
	out := Tool{
		ID: id.Tool(undated(name) + "_" + strings.ReplaceAll(f.released, "-", "")), Version: 1, Created: at, Updated: at,
		Definition: Definition{
			Type: kind, Name: made.Name, Title: f.title, Description: made.Description, Enabled: !made.Disabled, Input: made.Schema.JSON(),
		},
		Built: &Built{Category: f.category, Lineage: made.Name, Released: f.released, Groups: f.groups},
	}
	if made.Output != nil {
		out.Output = made.Output.JSON()
	}
	return out, nil
}

// undated returns the id of the latest version of a built-in tool.
func undated(name string) string { return "tol_vectara_" + name }

// built returns the built-in tool of an id, dated or not, nil for none.
func (s *Service) built(which id.Tool) *Tool {
	for i := range s.builtIn {
		if t := &s.builtIn[i]; t.ID == which || undated(t.Name) == string(which) {
			return t
		}
	}
	return nil
}
