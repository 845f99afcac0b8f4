package anthropic

import (
	"encoding/json"

	"quarry/internal/llm"
)

// way is a way of asking for structured output. None works with every model and host, so a call that is refused for its way is
// made again in the next one.
type way int

// The ways, strongest first. native is output_config.format: generation 4.5 and later, where an organization allows it;
// forced is a tool that must be called: models that don't think; offered is a tool and a sentence: all of them.
const (
	native way = iota
	forced
	offered
	exhausted
)

// next returns the way to try when w was refused.
func (w way) next(r llm.Request, model string) way {
	if w == native && (parseGeneration(model) >= thinksFrom || thinks(r.Parameters.Extra)) {
		return offered
	}
	return w + 1
}

// matter returns the fact to learn about a way: that it was refused.
func (w way) matter() string {
	return "structured output in way " + string(rune('0'+w)) + " is refused"
}

// shape is where the answer is in what the model sends.
type shape int

// The shapes: the text is the answer; the input of a tool is, as it comes; the input of a tool or, failing that, the
// text is, known when it is complete.
const (
	text shape = iota
	input
	either
)

// firstWay returns the way to begin with. Organizations on Vertex can forbid native output, which is the default there, so it
// comes first only if no tool can be forced.
func firstWay(r llm.Request, model string, host host) way {
	gen := parseGeneration(model)
	_, narrow := narrowed(r.Format.Schema)
	tool := gen < thinksFrom && !thinks(r.Parameters.Extra)
	switch {
	case gen >= shapedFrom && narrow && r.Format.Type == "json_schema" && (host != vertex || !tool):
		return native
	case tool:
		return forced
	}
	return offered
}

// structure asks for the format and returns what to tell the model about it.
func (q *request) structure(f *llm.Format, tools *[]tool, pick *choice, way way) (more []string) {
	if way == native {
		if schema, ok := narrowed(f.Schema); ok {
			q.configure(schema)
			return nil
		}
	}
	schema := asObject(f.Schema)
	if rootType(f.Schema) != "object" && f.Type == "json_schema" {
		q.wrapped = true
		schema, _ = json.Marshal(map[string]any{"type": "object", "properties": map[string]json.RawMessage{"value": f.Schema}, "required": []string{"value"}})
	}
	q.output, q.shape = "structured_answer", input
	for _, t := range *tools {
		if t.Name == q.output {
			q.output += "_"
		}
	}
	own := len(*tools) > 0 && pick.Type != "none"
	*tools = append(*tools, tool{q.output, "Gives the answer. " + f.Description, schema})
	switch {
	case way == forced && !own:
		*pick = choice{"tool", q.output}
		return nil
	case way == forced && pick.Type == "":
		pick.Type = "any"
		return []string{"When you have what you need, give the answer by calling the tool " + q.output + "."}
	case way == forced: // the caller wants one of its own tools called
		return nil
	}
	if pick.Type != "" {
		*pick = choice{}
	}
	q.shape = either
	return []string{"Give the answer by calling the tool " + q.output + ", once, and write nothing else."}
}

// configure adds the schema to what a caller set in output_config, such as the effort.
func (q *request) configure(schema json.RawMessage) {
	config := map[string]any{}
	if raw, ok := q.body["output_config"].(json.RawMessage); ok {
		_ = json.Unmarshal(raw, &config)
	}
	config["format"] = map[string]any{"type": "json_schema", "schema": schema}
	q.body["output_config"] = config
	delete(q.body, "output_format")
}

// rootType returns the type that a schema states for its root; an absent or unreadable schema stands for any object.
func rootType(schema json.RawMessage) string {
	var s struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &s) != nil || s.Type == nil {
		return "object"
	}
	kind, _ := s.Type.(string)
	return kind
}
