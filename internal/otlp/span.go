package otlp

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"quarry/internal/id"
	"quarry/internal/trace"
)

// Kinds and states of spans, as OTLP counts them.
const (
	internal = 1
	client   = 3
	failed   = 2
)

// The parts of a request, by the JSON mapping of OTLP: ids in hexadecimal, 64-bit numbers as texts, enums as numbers.
type (
	span struct {
		Trace      string      `json:"traceId"`
		ID         string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Started    string      `json:"startTimeUnixNano"`
		Ended      string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes"`
		Status     *status     `json:"status,omitempty"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	// value has one of its members.
	value struct {
		String *string  `json:"stringValue,omitempty"`
		Int    string   `json:"intValue,omitempty"`
		Double *float64 `json:"doubleValue,omitempty"`
		Array  *array   `json:"arrayValue,omitempty"`
		Object *object  `json:"kvlistValue,omitempty"`
	}
	array struct {
		Values []value `json:"values"`
	}
	object struct {
		Values []attribute `json:"values"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
)

// frame is a request without its spans.
type frame struct{ head, tail []byte }

func newFrame(cfg Config) frame {
	var resource attributes
	resource.text("service.name", "quarry")
	resource.text("service.version", cfg.Version)
	resource.text("service.instance.id", cfg.Instance)
	described, _ := json.Marshal(resource)                        // texts
	scoped, _ := json.Marshal(scope{"quarry/agent", cfg.Version}) // likewise
	return frame{
		head: slices.Concat([]byte(`{"resourceSpans":[{"resource":{"attributes":`), described, []byte(`},"scopeSpans":[{"scope":`), scoped, []byte(`,"spans":[`)),
		tail: []byte(`]}]}]}`),
	}
}

// pack returns the body of a request.
func (f frame) pack(batch [][]byte) ([]byte, error) {
	body := slices.Clone(f.head)
	for i, raw := range batch {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, raw...)
	}
	return gzipped(append(body, f.tail...))
}

// encode returns a span as a collector reads it, with its texts if they are wanted.
func encode(s *trace.Span, content bool) ([]byte, error) {
	out := span{
		Trace: s.Trace, ID: s.ID, Parent: s.Parent, Name: name(s), Kind: internal, Started: nanos(s.Started), Ended: nanos(s.Ended),
		Attributes: describe(s),
	}
	if s.Chat != nil && s.Chat.Provider != builtin {
		out.Kind = client
	}
	if s.Failed {
		out.Status = &status{failed, s.Message}
	}
	if content && s.Content != nil {
		out.Attributes = append(out.Attributes, texts(s)...)
	}
	return json.Marshal(out)
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// name returns the operation and what it was done with.
func name(s *trace.Span) string {
	with := ""
	switch {
	case s.Invocation != nil:
		with = s.Invocation.AgentName
	case s.Chat != nil:
		with = s.Chat.Model
	case s.Call != nil:
		with = s.Call.Tool
	}
	if with == "" {
		return string(s.Operation)
	}
	return string(s.Operation) + " " + with
}

// attributes are in the order in which they were added. What is empty is left out.
type attributes []attribute

func (a *attributes) add(key string, v value) { *a = append(*a, attribute{key, v}) }

func (a *attributes) text(key, v string) {
	if v != "" {
		a.add(key, value{String: &v})
	}
}

func (a *attributes) number(key string, v int64) { a.add(key, value{Int: strconv.FormatInt(v, 10)}) }

func (a *attributes) list(key string, vs []string) {
	if len(vs) == 0 {
		return
	}
	all := &array{}
	for _, v := range vs {
		all.Values = append(all.Values, value{String: &v})
	}
	a.add(key, value{Array: all})
}

func (a *attributes) event(key string, e id.Event) { a.text(key, string(e)) }

// describe returns the attributes of a span: those of the GenAI semantic conventions of OpenTelemetry 1.41 under their names, others
// as quarry.*.
func describe(s *trace.Span) []attribute {
	var a attributes
	a.text("gen_ai.operation.name", string(s.Operation))
	a.text("gen_ai.agent.id", s.Agent.Key)
	a.text("gen_ai.conversation.id", s.Session.Key)
	if s.Failed {
		class := s.Class
		if class == "" {
			class = "_OTHER"
		}
		a.text("error.type", string(class))
	}
	a.text("quarry.step.name", s.Step)
	a.event("quarry.event.id", s.Event)
	switch {
	case s.Invocation != nil:
		a.invocation(s.Invocation)
	case s.Chat != nil:
		a.chat(s.Chat)
	case s.Call != nil:
		a.call(s.Call)
	case s.Transition != nil:
		a.text("quarry.step.from", s.Transition.From)
		a.text("quarry.step.to", s.Transition.To)
	case s.Image != nil:
		a.text("quarry.artifact.id", s.Image.Artifact)
		a.text("quarry.image.detail", s.Image.Detail)
	case s.Compaction != nil:
		a.number("quarry.compaction.turns", s.Compaction.Turns)
		a.number("quarry.compaction.events", s.Compaction.Events)
		a.text("quarry.compaction.summary", s.Compaction.Summary)
	}
	return a
}

func (a *attributes) invocation(v *trace.InvocationAttributes) {
	a.chat(&v.ChatAttributes)
	a.text("gen_ai.agent.name", v.AgentName)
	a.text("gen_ai.agent.description", v.AgentDescription)
	a.text("gen_ai.output.type", v.OutputType)
	a.event("quarry.input_event.id", v.InputEvent)
	a.event("quarry.output_event.id", v.OutputEvent)
	a.text("quarry.parent_agent.id", v.ParentAgent)
	a.text("quarry.parent_session.id", v.ParentSession)
	a.number("quarry.agent.depth", int64(v.Depth))
	if len(v.Files) == 0 {
		return
	}
	files := &array{}
	for _, f := range v.Files {
		var o attributes
		o.text("name", f.Name)
		o.number("size_bytes", f.Size)
		files.Values = append(files.Values, value{Object: &object{o}})
	}
	a.add("quarry.input_files", value{Array: files})
}

// builtin is the provider of the model inside the program.
const builtin = "quarry"

// providers are the names that the conventions have for wire formats.
var providers = map[string]string{
	"openai-compatible": "openai", "openai-responses": "openai", "vertex-ai": "gcp.vertex_ai",
}

func (a *attributes) chat(v *trace.ChatAttributes) {
	provider := v.Provider
	if known, ok := providers[provider]; ok {
		provider = known
	}
	a.text("gen_ai.provider.name", provider)
	a.text("gen_ai.request.model", v.Model)
	if v.Temperature != nil {
		a.add("gen_ai.request.temperature", value{Double: v.Temperature})
	}
	if v.MaxTokens != nil {
		a.number("gen_ai.request.max_tokens", *v.MaxTokens)
	}
	a.list("gen_ai.response.finish_reasons", v.FinishReasons)
	a.text("gen_ai.response.id", v.Response)
	a.number("gen_ai.usage.input_tokens", v.InputTokens)
	a.number("gen_ai.usage.output_tokens", v.OutputTokens)
	a.number("gen_ai.usage.cache_read.input_tokens", v.CachedTokens)
}

// kinds are the types of tools that the conventions have; the others are extensions, which the program runs itself.
var kinds = map[string]string{"client": "function", "corpora_search": "datastore"}

func (a *attributes) call(v *trace.CallAttributes) {
	a.text("gen_ai.tool.name", v.Tool)
	a.text("gen_ai.tool.call.id", v.CallID)
	if v.Type != "" {
		kind, ok := kinds[v.Type]
		if !ok {
			kind = "extension"
		}
		a.text("gen_ai.tool.type", kind)
	}
	a.text("quarry.tool.type", v.Type)
	a.text("quarry.tool.key", v.Key)
	a.list("quarry.corpus.keys", v.Corpora)
	a.event("quarry.input_event.id", v.InputEvent)
	a.event("quarry.output_event.id", v.OutputEvent)
}
