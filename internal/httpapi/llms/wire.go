package llms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// reader reads the members of a checked body as they were sent: connections are a union, and any member may be null.
type reader struct {
	all map[string]json.RawMessage
	err error // the first one
}

func read(body json.RawMessage) *reader {
	r := &reader{all: map[string]json.RawMessage{}}
	if len(body) > 0 {
		r.err = httpapi.Decode(body, &r.all)
	}
	return r
}

// field reads a member: absent, null or a value.
func field[T any](r *reader, name string) opt.Field[T] {
	raw, ok := r.all[name]
	switch {
	case !ok:
		return opt.Field[T]{}
	case bytes.Equal(raw, []byte("null")):
		return opt.Null[T]()
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil && r.err == nil {
		r.err = fmt.Errorf("read %s of a checked body: %w", name, err)
	}
	return opt.Some(v)
}

// given reads a member without null: null counts as absent, as in the check of the body.
func given[T any](r *reader, name string) opt.Field[T] {
	f := field[T](r, name)
	if f.IsNull() {
		return opt.Field[T]{}
	}
	return f
}

// number reads an integer however it is written.
func number(r *reader, path, name string) opt.Field[int64] {
	return convert(field[json.Number](r, name), func(text json.Number) int64 {
		n, ok := httpapi.Integer(text)
		if !ok && r.err == nil {
			r.err = fault.InvalidField(path+name, "must be an integer of at most %d", math.MaxInt64)
		}
		return n
	})
}

// convert returns a field with its value converted.
func convert[A, B any](f opt.Field[A], to func(A) B) opt.Field[B] {
	v, ok := f.Get()
	switch {
	case ok:
		return opt.Some(to(v))
	case f.IsNull():
		return opt.Null[B]()
	}
	return opt.Field[B]{}
}

// patchCommand maps a body to the change that it asks for.
func patchCommand(body json.RawMessage) (registry.Patch, error) { return patchOf(read(body)) }

func patchOf(r *reader) (registry.Patch, error) {
	p := registry.Patch{
		Type: given[registry.Type](r, "type"), Description: given[string](r, "description"),
		Model: given[string](r, "model"), URI: given[string](r, "uri"),
		Enabled: given[bool](r, "enabled"), Default: given[bool](r, "default"),
		Headers:        given[map[string]string](r, "headers"),
		TestParameters: given[map[string]json.RawMessage](r, "test_model_parameters"),
		Budget:         map[string]opt.Field[int64]{},
	}
	if auth, ok := given[registry.Auth](r, "auth").Get(); ok {
		p.Auth = &auth
	}
	p.Idle = convert(number(r, "body.", "idle_timeout_seconds"), func(n int64) time.Duration {
		return time.Duration(n) * time.Second // the schema bounds it
	})
	for name := range new(usage.Budget).Limits() {
		p.Budget[name] = number(r, "body.", name)
	}
	stated := &reader{all: given[map[string]json.RawMessage](r, "capabilities").Or(nil)}
	p.Images, p.Tools = field[bool](stated, "image_support"), field[bool](stated, "tool_calling")
	p.Structured, p.Alternation = field[bool](stated, "structured_outputs"), field[bool](stated, "requires_role_alternation")
	context := number(stated, "body.capabilities.", "context_limit")
	p.Context = convert(context, func(n int64) int { return int(min(n, math.MaxInt32)) })
	if r.err != nil {
		return p, r.err
	}
	return p, stated.err
}

// createCommand maps a body to what is to be registered.
func createCommand(body json.RawMessage) (registry.Create, error) {
	r := read(body)
	delete(r.all, "enabled") // the contract has it on updates alone, so no schema has checked it
	p, err := patchOf(r)
	if err != nil {
		return registry.Create{}, err
	}
	cmd := registry.Create{
		Name: given[string](r, "name").Or(""), Description: p.Description.Or(""), Default: p.Default.Or(false),
		Type: p.Type.Or(""), Model: p.Model.Or(""), URI: p.URI.Or(""), Auth: p.Auth, Headers: p.Headers.Or(nil), Idle: p.Idle.Or(0),
		TestParameters: p.TestParameters.Or(nil),
		Capabilities: registry.Capabilities{
			ImageSupport: pointer(p.Images), ContextLimit: pointer(p.Context), ToolCalling: pointer(p.Tools),
			StructuredOutputs: pointer(p.Structured), RequiresRoleAlternation: pointer(p.Alternation),
		},
	}
	for name, at := range cmd.Budget.Limits() {
		*at = p.Budget[name].Or(0)
	}
	return cmd, r.err
}

func pointer[T any](f opt.Field[T]) *T {
	if v, ok := f.Get(); ok {
		return &v
	}
	return nil
}

// discoverCommand maps a body to what is to be asked.
func discoverCommand(body json.RawMessage) (registry.Discover, error) {
	p, err := patchCommand(body)
	return registry.Discover{URI: p.URI.Or(""), Type: p.Type.Or(""), Auth: p.Auth, Headers: p.Headers.Or(nil), TestParameters: p.TestParameters.Or(nil)}, err
}

// wireLLM maps a model to what clients see: secrets masked, capabilities with what is inferred.
func wireLLM(l registry.LLM) (api.LLM, error) {
	capabilities := wireAbilities(l.Can())
	ownership := api.LLMOwnership("customer")
	if l.Platform {
		ownership = "platform"
	}
	out := api.LLM{
		Id: string(l.ID), Name: l.Name, Description: &l.Description, Enabled: &l.Enabled, Default: &l.Default, Ownership: &ownership,
		Type: api.LLMType(l.Type), Capabilities: &capabilities, Model: opt.NonZero(l.Model), Uri: opt.NonZero(l.URI),
	}
	if len(l.Headers) > 0 {
		out.Headers = &l.Headers
	}
	if l.Shown != nil {
		raw, err := json.Marshal(l.Shown)
		if err != nil {
			return out, fmt.Errorf("encode auth: %w", err)
		}
		out.Auth = raw
	}
	if l.Idle > 0 {
		out.IdleTimeoutSeconds = opt.Some(int32(l.Idle / time.Second))
	}
	limits := l.Budget.Limits()
	if n := l.Budget.RequestsPerSecond; n > 0 {
		out.RequestsPerSecond = opt.Some(int32(n))
	}
	for name, at := range map[string]*opt.Field[api.TokenQuota]{
		"input_tokens_per_minute": &out.InputTokensPerMinute, "input_tokens_per_day": &out.InputTokensPerDay, "input_tokens_per_month": &out.InputTokensPerMonth,
		"output_tokens_per_minute": &out.OutputTokensPerMinute, "output_tokens_per_day": &out.OutputTokensPerDay, "output_tokens_per_month": &out.OutputTokensPerMonth,
	} {
		if n := *limits[name]; n > 0 {
			*at = opt.Some(n)
		}
	}
	return out, nil
}

func wireAbilities(a llm.Abilities) api.LLMCapabilities {
	return api.LLMCapabilities{
		ImageSupport: opt.Some(a.Images), ToolCalling: opt.Some(a.Tools),
		StructuredOutputs: opt.Some(a.Structured), RequiresRoleAlternation: opt.Some(a.Alternation),
		ContextLimit: opt.Some(int32(min(a.Context, math.MaxInt32))),
	}
}

func wireCandidate(f registry.Candidate) api.LLMCandidate {
	capabilities := wireAbilities(f.Can)
	return api.LLMCandidate{
		Type: api.LLMCandidateType(f.Type), Uri: f.URI, Model: f.Model, Capabilities: &capabilities,
		Verified: f.Why == "", VerificationError: opt.NonZero(f.Why),
	}
}

// wireUsage maps what a model has used.
func wireUsage(u registry.Used) api.LLMUsage {
	out := api.LLMUsage{Id: string(u.Model.ID), Name: u.Model.Name, At: u.At}
	at := map[string]*api.LLMQuota{
		"requests_per_second":     &out.Quotas.RequestsPerSecond,
		"input_tokens_per_minute": &out.Quotas.InputTokensPerMinute, "input_tokens_per_day": &out.Quotas.InputTokensPerDay, "input_tokens_per_month": &out.Quotas.InputTokensPerMonth,
		"output_tokens_per_minute": &out.Quotas.OutputTokensPerMinute, "output_tokens_per_day": &out.Quotas.OutputTokensPerDay, "output_tokens_per_month": &out.Quotas.OutputTokensPerMonth,
	}
	for _, q := range u.Quotas {
		*at[q.Limit] = api.LLMQuota{Limit: opt.Null[int64](), Used: opt.Null[int64](), WindowEnd: q.End}
		if q.Most > 0 {
			at[q.Limit].Limit = opt.Some(q.Most)
		}
		if q.Counted {
			at[q.Limit].Used = opt.Some(q.Used)
		}
	}
	return out
}
