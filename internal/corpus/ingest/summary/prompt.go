package summary

import (
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/variable"
	"quarry/internal/expr/vtl"
	"quarry/internal/llm"
	"quarry/internal/llm/prompt"
)

// render returns the prompt for a table. What is wrong with the template has its field.
func (p *Plan) render(t *document.Table) (prompt.Rendered, error) {
	d := vtl.Defaults
	limits := vtl.Limits{Loops: d.Loops, Steps: d.Steps + len(t.Data), Output: d.Output + 2*len(t.Data), Memory: d.Memory + 2*len(t.Data)}
	out, err := p.template.Render(prompt.Names(map[string]vtl.Value{"Table": variable.NewTable(t)}), limits)
	return out, llm.Named(err, templateField)
}

// sample is what a template is tried with before there are tables.
var sample = document.Table{
	ID: "table_1", Title: "Sales", Description: "Sales by region.",
	Data: json.RawMessage(`{"headers":[[{"text_value":"Region"},{"text_value":"Sales"}]],"rows":[[{"text_value":"North"},{"text_value":"12"}]]}`),
}
