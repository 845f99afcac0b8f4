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

// experimental is the category that lists leave out unless it is asked for.
const experimental = "experimental"

// builtIn has a line for each type that a program can have. A type that is not among those of the kit is not listed.
var builtIn = map[string]facts{
	tool.CorporaSearch: {title: "Search in corpora", category: "retrieval", released: "2026-11-01",
		sample: `{"type":"corpora_search","query_configuration":{"search":{"corpora":[{"corpus_key":"corpus"}]}}}`},
	"get_document_text": {title: "Text of a document", category: "retrieval", released: "2026-11-23"},
	"artifact_create":   {title: "Create an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"artifact_read":     {title: "Read an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
	"artifact_grep":     {title: "Search in an artifact", category: "artifacts", released: "2026-11-23", groups: []string{"artifacts"}},
}

// builtTools returns the built-in tools among the types of a kit. A type without a line in builtIn is an error: it could be
// configured and would not be listed.
func builtTools(kit tool.Kit) ([]Tool, error) {
	var out []Tool
	for _, name := range slices.Sorted(maps.Keys(kit.Types)) {
		f, ok := builtIn[name]
		if !ok {
			return nil, fmt.Errorf("the type %s of tools is not in the catalogue", name)
		}
		if f.sample == "" {
			f.sample = fmt.Sprintf(`{"type":%q}`, name)
		}
		made, err := kit.Types[name](json.RawMessage(f.sample))
		if err != nil {
			return nil, fmt.Errorf("list the tool %s: %w", name, err)
		}
		at, err := time.Parse(time.DateOnly, f.released)
		if err != nil {
			return nil, fmt.Errorf("list the tool %s: %w", name, err)
		}
		out = append(out, Tool{
			ID: id.Tool(undated(name) + "_" + strings.ReplaceAll(f.released, "-", "")), Version: 1, Created: at, Updated: at,
			Definition: Definition{
				Type: name, Name: made.Name, Title: f.title, Description: made.Description, Enabled: true, Input: made.Schema.JSON(),
			},
			Built: &Built{Category: f.category, Lineage: made.Name, Released: f.released, Groups: f.groups},
		})
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
