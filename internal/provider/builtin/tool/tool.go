// Package tool chooses the tool to call for a question and its arguments, by the names and descriptions of the tools: one that
// searches, or the one that a request requires.
package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/form"
	"quarry/internal/provider/builtin/span"
)

// Choose returns the tool to call, false for none: one that searches, if search allows it, or any if the choice requires a call.
func Choose(tools []llm.Tool, choice llm.Choice, search bool) (llm.Tool, bool) {
	must := choice.Mode == "required" || choice.Mode == "tool"
	if choice.Mode == "none" || !must && !search {
		return llm.Tool{}, false
	}
	best, most := -1, 0
	for i, t := range tools {
		p := points(t)
		if choice.Mode == "tool" {
			p = 0
			if t.Name == choice.Name {
				p = enough
			}
		}
		if p > most {
			best, most = i, p
		}
	}
	switch {
	case best >= 0 && (most >= enough || must):
		return tools[best], true
	case choice.Mode == "required":
		return tools[0], true
	}
	return llm.Tool{}, false
}

// Arguments returns the arguments of a call: the question, and what else is required.
func Arguments(t llm.Tool, question string) json.RawMessage {
	name := queryParameter(t)
	from := form.Source{Question: question, Fixed: map[string]string{name: question}, Needed: true}
	filled, _ := form.Fill(t.Parameters, "", "", from) // fails by Source.About alone
	value, ok := filled.(map[string]any)
	if !ok {
		value = map[string]any{}
	}
	if _, ok := value[name]; !ok && name != "" {
		value[name], _ = form.Member(t.Parameters, name, from)
	}
	out, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}

// enough is how many points a tool needs to count as one that searches.
const enough = 4

// points returns how much a tool's name, description and parameters suggest that it searches.
func points(tool llm.Tool) int {
	n := 0
	for _, w := range span.Words(tool.Name) {
		switch w {
		case "search", "retrieve", "retrieval", "query", "lookup", "rag":
			n += 4
		case "find", "corpus", "corpora", "knowledge", "ask":
			n += 2
		case "delete", "create", "update", "send", "write", "remove", "add", "set", "execute", "run", "post":
			n -= 6
		}
	}
	description := strings.ToLower(tool.Description)
	for _, w := range []string{"search", "retriev", "look up", "knowledge", "documents"} {
		if strings.Contains(description, w) {
			n++
		}
	}
	name := queryParameter(tool)
	all, required := properties(tool)
	if name == "" {
		if len(all)+len(required) == 0 && n > 0 { // such as a search whose words are pinned
			return n + 1
		}
		return 0
	}
	if n >= 0 && len(all) == 1 && name == queryNames[0] { // such as a search that is named after what it searches
		n += 2
	}
	return n + 2
}

// queryNames are the names of parameters for a question, the clearest first.
var queryNames = []string{"query", "q", "search_query", "question", "search", "queries", "keywords", "search_term", "term", "text", "input", "prompt"}

// queryParameter returns the parameter for the question, "" if there is none.
func queryParameter(tool llm.Tool) string {
	properties, required := properties(tool)
	for _, name := range queryNames {
		if p, ok := properties[name].(map[string]any); ok && takesText(p) {
			return name
		}
	}
	for _, name := range required {
		if p, ok := properties[name].(map[string]any); ok && takesText(p) && p["enum"] == nil && p["const"] == nil {
			return name
		}
	}
	return ""
}

func takesText(schema map[string]any) bool {
	switch t := schema["type"].(type) {
	case string:
		return t == "string" || t == "array"
	case []any:
		return slices.Contains(t, any("string"))
	}
	return schema["type"] == nil && schema["properties"] == nil
}

func properties(tool llm.Tool) (map[string]any, []string) {
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	if json.Unmarshal(tool.Parameters, &schema) != nil { // no schema: no parameters
		return nil, nil
	}
	return schema.Properties, schema.Required
}
