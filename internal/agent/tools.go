package agent

import (
	"encoding/json"
	"maps"
	"slices"

	"quarry/internal/fault"
)

// corporaSearch is the type of the tool that searches corpora.
const corporaSearch = "corpora_search"

// checkTools checks configurations of tools and returns the corpora that they name; a reference names none.
func checkTools(all map[string]json.RawMessage, bad *fault.Fault) map[string]bool {
	corpora := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == nil {
			continue
		}
		var t struct {
			Type  string `json:"type"`
			Query struct {
				Search struct {
					Corpora []struct {
						Key json.RawMessage `json:"corpus_key"`
					} `json:"corpora"`
				} `json:"search"`
			} `json:"query_configuration"`
		}
		at := "tool_configurations." + name
		if err := json.Unmarshal(all[name], &t); err != nil {
			bad.Field(at, "can't be read: %s", err)
			continue
		}
		if t.Type != corporaSearch {
			bad.Field(at+".type", "is %q, which is part of the contract and not built yet; %s is", t.Type, corporaSearch)
		}
		for _, c := range t.Query.Search.Corpora {
			var key string
			if json.Unmarshal(c.Key, &key) == nil {
				corpora[key] = true
			}
		}
	}
	return corpora
}
