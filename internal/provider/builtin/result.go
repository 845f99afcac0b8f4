package builtin

import (
	"encoding/json"
	"slices"
	"strings"

	"quarry/internal/llm"
)

// readResult returns the passages of a tool's result: the texts of its results or documents, each with a number, and with its
// score as a share of the best. A list without results, and an error, have none. A result of another form is one passage without
// a number.
func readResult(text string) []llm.Evidence {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return []llm.Evidence{{Text: text, Score: 1}}
	}
	var out []llm.Evidence
	if !gather(value, &out, 0) {
		out = []llm.Evidence{{Text: text}}
	}
	share(out)
	return out
}

// JSON members searched for the text of a result and for lists of results, and how deep they may be nested.
var (
	textMembers  = []string{"text", "content", "page_content", "snippet", "passage", "summary", "body"}
	listMembers  = []string{"search_results", "results", "documents", "passages", "hits", "items", "data", "output"}
	resultsDepth = 6
)

// gather adds the passages in a value. It returns false for a value of a form that it does not know.
func gather(value any, out *[]llm.Evidence, depth int) bool {
	if depth > resultsDepth {
		return false
	}
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		known := len(v) == 0
		for _, x := range v {
			known = gather(x, out, depth+1) || known
		}
		return known
	case string:
		*out = append(*out, llm.Evidence{N: len(*out) + 1, Text: v})
		return true
	case map[string]any:
		return gatherMembers(v, out, depth)
	}
	return false
}

// gatherMembers is gather for an object. Its lists of results go before its texts, since the answer to a query has both.
func gatherMembers(v map[string]any, out *[]llm.Evidence, depth int) bool {
	known, before := v["error"] != nil, len(*out)
	for _, name := range listMembers {
		if _, ok := v[name].([]any); ok {
			known = gather(v[name], out, depth+1) || known
		}
	}
	if len(*out) > before {
		return true
	}
	for _, name := range textMembers {
		if text, ok := v[name].(string); ok && strings.TrimSpace(text) != "" {
			score, _ := v["score"].(float64)
			*out = append(*out, llm.Evidence{N: len(*out) + 1, Text: text, Title: title(v), Score: score})
			return true
		}
	}
	for _, name := range append(slices.Clone(listMembers), textMembers...) {
		inner, ok := v[name]
		if _, list := inner.([]any); ok && !list {
			known = gather(inner, out, depth+1) || known
		}
	}
	return known
}

// title returns the title of a result, which may be among the metadata of its document.
func title(v map[string]any) string {
	if t, ok := v["title"].(string); ok {
		return t
	}
	about, _ := v["document_metadata"].(map[string]any)
	t, _ := about["title"].(string)
	return t
}

// share turns scores into shares of the best. Where one is missing or not positive, all passages stand alike.
func share(all []llm.Evidence) {
	best, alike := 0.0, false
	for _, p := range all {
		best, alike = max(best, p.Score), alike || p.Score <= 0
	}
	for i := range all {
		if all[i].Score /= best; alike {
			all[i].Score = 1
		}
	}
}
