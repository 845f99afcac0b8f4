package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// call gives the call that a request wants: of a tool that searches, once for each question; of any tool where the
// request insists. Nil for none.
func (t talk) call(r llm.Request) *llm.ToolCall {
	if len(r.Tools) == 0 || t.called || r.Choice.Mode == "none" {
		return nil
	}
	must := r.Choice.Mode == "required" || r.Choice.Mode == "tool"
	if !must && (t.given || !worthSearching(t.question)) {
		return nil
	}
	best, points := -1, 0
	for i, tool := range r.Tools {
		p := searches(tool)
		if r.Choice.Mode == "tool" {
			p = 0
			if tool.Name == r.Choice.Name {
				p = enough
			}
		}
		if p > points {
			best, points = i, p
		}
	}
	switch {
	case best >= 0 && (points >= enough || must):
	case r.Choice.Mode == "required":
		best = 0
	default:
		return nil
	}
	arguments := fillArguments(r.Tools[best], t.searchText(r))
	sum := sha256.Sum256(append([]byte(t.question+"\x00"+r.Tools[best].Name+"\x00"), byte(len(r.Messages))))
	return &llm.ToolCall{ID: "call_" + hex.EncodeToString(sum[:8]), Name: r.Tools[best].Name, Arguments: arguments}
}

// worthSearching reports whether a message has a word that a search could find: "thanks" has none worth it.
func worthSearching(text string) bool {
	return !slices.Contains(pleasantries, strings.ToLower(strings.Trim(text, " .!,\n"))) &&
		len(analysis.Query(text, lang.Of(text, "")).Stems) > 0
}

var pleasantries = []string{"hi", "hello", "hey", "thanks", "thank you", "ok", "okay", "yes", "no", "bye", "good morning", "hallo", "danke", "hola", "gracias", "bonjour", "merci"}

// searchText is what is searched for: the question, behind the one before it when it has one word of its own at most.
func (t talk) searchText(r llm.Request) string {
	if len(analysis.Query(t.question, lang.Of(t.question, "")).Stems) > 1 {
		return t.question
	}
	users := 0
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != llm.User {
			continue
		}
		if users++; users == 2 {
			if before, _ := questionOf(m.Plain()); before != "" {
				return before + " " + t.question
			}
		}
	}
	return t.question
}

// enough is how many points make a tool one that searches.
const enough = 4

// searches gives points for what a tool's name, description and parameters say of searching.
func searches(tool llm.Tool) int {
	points := 0
	for _, w := range span.Words(tool.Name) {
		switch w {
		case "search", "retrieve", "retrieval", "query", "lookup", "rag":
			points += 4
		case "find", "corpus", "corpora", "knowledge", "ask":
			points += 2
		case "delete", "create", "update", "send", "write", "remove", "add", "set", "execute", "run", "post":
			points -= 6
		}
	}
	description := strings.ToLower(tool.Description)
	for _, w := range []string{"search", "retriev", "look up", "knowledge", "documents"} {
		if strings.Contains(description, w) {
			points++
		}
	}
	if queryParameter(tool) == "" {
		return 0
	}
	return points + 2
}

// queryNames are parameters that take a question, the most telling first.
var queryNames = []string{"query", "q", "search_query", "question", "search", "queries", "keywords", "search_term", "term", "text", "input", "prompt"}

// queryParameter is the one that takes the question, "" if none does.
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

// fillArguments gives the arguments of a tool: the question where it belongs, and what else is required.
func fillArguments(tool llm.Tool, question string) json.RawMessage {
	s := parseSchema(tool.Parameters)
	name := queryParameter(tool)
	f := filler{root: s, fixed: map[string]string{name: question}, needed: true, said: question}
	value, ok := f.value(s, place{}).(map[string]any)
	if !ok {
		value = map[string]any{}
	}
	if _, ok := value[name]; !ok && name != "" {
		p, _ := properties(tool)
		schema, _ := p[name].(map[string]any)
		value[name] = f.value(schema, place{name: name, about: name, must: true})
	}
	out, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}
