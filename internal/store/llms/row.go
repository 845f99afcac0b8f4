package llms

import (
	"encoding/json"
	"fmt"
	"time"

	"quarry/internal/llm/registry"
	"quarry/internal/store"
)

// columns is what row writes, in its order; the id comes first.
const columns = `id, name, description, enabled, type, model, uri, auth, headers, idle, parameters, capabilities,
	rps, input_minute, input_day, input_month, output_minute, output_day, output_month, revision, created, updated`

// capabilities is how stated capabilities are stored.
type capabilities struct {
	Images      *bool `json:"image_support,omitempty"`
	Context     *int  `json:"context_limit,omitempty"`
	Tools       *bool `json:"tool_calling,omitempty"`
	Structured  *bool `json:"structured_outputs,omitempty"`
	Alternation *bool `json:"requires_role_alternation,omitempty"`
}

// row returns the values of the columns.
func row(l *registry.LLM) ([]any, error) {
	c := l.Capabilities
	texts := make([]string, 4)
	for i, v := range []any{
		l.Shown, l.Headers, l.TestParameters,
		capabilities{c.ImageSupport, c.ContextLimit, c.ToolCalling, c.StructuredOutputs, c.RequiresRoleAlternation},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("encode language model: %w", err)
		}
		texts[i] = string(raw)
	}
	q := &l.Budget
	return []any{
		string(l.ID), l.Name, l.Description, l.Enabled, string(l.Type), l.Model, l.URI, texts[0], texts[1], l.Idle.Microseconds(), texts[2], texts[3],
		q.RequestsPerSecond, q.InputPerMinute, q.InputPerDay, q.InputPerMonth, q.OutputPerMinute, q.OutputPerDay, q.OutputPerMonth,
		l.Revision, l.Created.UnixMicro(), l.Updated.UnixMicro(),
	}, nil
}

// scan reads a row. A row that cannot be decoded is marked as such and does not fail the others.
func scan(r store.Row) (l registry.LLM, err error) {
	var auth, headers, parameters, stated string
	var idle int64
	q := &l.Budget
	if err = r.Scan(&l.ID, &l.Name, &l.Description, &l.Enabled, &l.Type, &l.Model, &l.URI, &auth, &headers, &idle, &parameters, &stated,
		&q.RequestsPerSecond, &q.InputPerMinute, &q.InputPerDay, &q.InputPerMonth, &q.OutputPerMinute, &q.OutputPerDay, &q.OutputPerMonth,
		&l.Revision, store.Micros(&l.Created), store.Micros(&l.Updated), &l.Default); err != nil {
		return l, err
	}
	l.Idle = time.Duration(idle) * time.Microsecond
	if !l.Type.Known() {
		l.Broken = fmt.Sprintf("its row has the unknown type %q", l.Type)
	}
	var c capabilities
	for _, part := range []struct {
		column, text string
		into         any
	}{{"auth", auth, &l.Shown}, {"headers", headers, &l.Headers}, {"parameters", parameters, &l.TestParameters}, {"capabilities", stated, &c}} {
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			l.Broken = fmt.Sprintf("the column %s of its row is damaged", part.column)
		}
	}
	l.Capabilities = registry.Capabilities{ImageSupport: c.Images, ContextLimit: c.Context, ToolCalling: c.Tools, StructuredOutputs: c.Structured, RequiresRoleAlternation: c.Alternation}
	return l, nil
}
