// Package openai is the two wire formats of OpenAI, which most servers of language models speak too: chat completions (Ollama,
// llama.cpp, vLLM, LM Studio, Azure, gateways) and responses. It builds bodies and reads events; package provider makes the
// calls. It adapts to servers that know a parameter by another name or not at all, and remembers that.
package openai

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
)

// New returns the provider of a connection whose type is registry.OpenAI or registry.Responses.
func New(s *provider.Shared, c registry.Connection) (llm.Provider, error) {
	u, err := provider.ParseURI(c.URI)
	if err != nil {
		return nil, err
	}
	client, err := provider.NewClient(s, c, nil)
	if err != nil {
		return nil, err
	}
	m := model{client: client, name: c.Model}
	if c.Type == registry.Responses {
		m.url, m.format = ResponsesURL(u).String(), responses{}
	} else {
		m.url, m.format = ChatURL(u).String(), chat{}
	}
	return &m, nil
}

// model is one model at one address.
type model struct {
	client *provider.Client
	name   string
	url    string
	format format
}

// format is one of the two wire formats.
type format interface {
	// body returns the body of a call to a server with these quirks.
	body(m *model, r llm.Request, q quirks) map[string]any
	// events reads a stream to its end.
	events(resp *provider.Response, b *provider.Builder) error
	// whole reads an answer that is not streamed.
	whole(data []byte, resp *provider.Response, b *provider.Builder) error
}

// Stream implements llm.Provider.
func (m *model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	b := m.client.NewBuilder(r, emit)
	resp, err := m.call(ctx, r)
	if err != nil {
		return b.Fail(err)
	}
	defer resp.Close()
	if err := m.read(resp, b); err != nil {
		return b.Fail(err)
	}
	resp.Finish()
	return b.Done()
}

// maxTries is how often a call is made whose parameters the server refuses.
const maxTries = 4

// call sends the request, and sends it again without the parameters that the server rejects.
func (m *model) call(ctx context.Context, r llm.Request) (*provider.Response, error) {
	for try := 1; ; try++ {
		q := m.quirks()
		body := m.format.body(m, r, q)
		resp, err := m.client.Do(ctx, provider.Call{URL: m.url, Body: body, Accept: provider.Stream + ", application/json"})
		var e *llm.Error
		if err == nil || !errors.As(err, &e) || try == maxTries || !m.adapt(e, q, body) {
			return resp, err
		}
	}
}

func (m *model) read(resp *provider.Response, b *provider.Builder) error {
	stream, err := resp.Streams()
	if err != nil {
		return err
	}
	if stream {
		return m.format.events(resp, b)
	}
	data, err := resp.All()
	if err != nil {
		return err
	}
	if !json.Valid(data) {
		return resp.BadBody(data, nil)
	}
	return m.format.whole(data, resp, b)
}

// quirks are the known peculiarities of a server.
type quirks struct {
	completionTokens bool // max_completion_tokens rather than max_tokens
	noStreamOptions  bool // stream_options are not known
	plainJSON        bool // json_object is known, json_schema is not
	noInclude        bool // reasoning can't be requested in sealed form
}

// The matters that calls find out about.
const (
	completionTokens = "max_completion_tokens"
	noStreamOptions  = "no stream_options"
	plainJSON        = "no json_schema"
	noInclude        = "no include"
)

// reasoner matches OpenAI's models that accept only max_completion_tokens and return their reasoning in sealed form.
var reasoner = regexp.MustCompile(`(^|/)(o[1-9]|gpt-[5-9])`)

func (m *model) quirks() quirks {
	knows := func(matter string, otherwise bool) bool {
		if fact, known := m.client.Knows(matter); known {
			return fact
		}
		return otherwise
	}
	return quirks{
		completionTokens: knows(completionTokens, reasoner.MatchString(m.name)),
		noStreamOptions:  knows(noStreamOptions, false),
		plainJSON:        knows(plainJSON, false),
		noInclude:        knows(noInclude, !reasoner.MatchString(m.name)),
	}
}

// unknown matches the messages of servers that do not know a parameter or one of its values.
var unknown = regexp.MustCompile(`(?i)not (\w+ )?(support|allow|permit|recogni|available|valid)|unsupported|unrecogni|unknown|unexpected|extra|unavailable|no longer|deprecated|invalid (param|arg|field|value)|must be|should be|instead|cannot`)

// adapt learns from a rejection which parameter the server refuses, and reports whether the call is worth another try.
func (m *model) adapt(e *llm.Error, q quirks, body map[string]any) bool {
	if e.Failure != llm.Rejected || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(e.Text)
	sent := func(name string) bool { _, ok := body[name]; return ok && strings.Contains(text, name) }
	switch {
	case sent("max_tokens") && !q.completionTokens && (strings.Contains(text, "max_completion_tokens") || strings.Contains(text, "unsupported")):
		m.client.Learn(completionTokens, true)
	case sent("max_completion_tokens") && q.completionTokens && unknown.MatchString(text):
		m.client.Learn(completionTokens, false)
	case (sent("stream_options") || strings.Contains(text, "include_usage")) && !q.noStreamOptions:
		m.client.Learn(noStreamOptions, true)
	case (sent("response_format") || strings.Contains(text, "json_schema")) && !q.plainJSON && isSchema(body) && unknown.MatchString(text) && !strings.Contains(text, "invalid schema"):
		m.client.Learn(plainJSON, true)
	case (sent("include") || strings.Contains(text, "encrypted")) && !q.noInclude:
		m.client.Learn(noInclude, true)
	default:
		return false
	}
	return true
}

// isSchema reports whether a body of chat completions asks for a schema.
func isSchema(body map[string]any) bool {
	f, ok := body["response_format"].(map[string]any)
	return ok && f["type"] == "json_schema"
}

// begin returns a body with the parameters that are passed through; the adapter sets its own afterwards.
func begin(r llm.Request) map[string]any {
	body := make(map[string]any, len(r.Parameters.Extra)+8)
	for name, value := range r.Parameters.Extra {
		body[name] = value
	}
	return body
}

// setIf sets a member that the caller stated.
func setIf[T any](body map[string]any, name string, value *T) {
	if value != nil {
		body[name] = *value
	}
}

// imageURL returns the address of an image, a data URL if it is given by value.
func imageURL(i *llm.Image) string {
	if i.URL != "" {
		return i.URL
	}
	return "data:" + i.MimeType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

func hasImage(m llm.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Image != nil })
}

// setTools sets the tools of a request and the choice among them; if nested, functions are described in a member of their own.
func setTools(body object, r llm.Request, nested bool) {
	if len(r.Tools) == 0 {
		return
	}
	function := func(f object) object {
		if nested {
			return object{"type": "function", "function": f}
		}
		f["type"] = "function"
		return f
	}
	var tools []object
	for _, t := range r.Tools {
		f := object{"name": t.Name, "parameters": parameters(t)}
		if t.Description != "" {
			f["description"] = t.Description
		}
		if t.Strict || !nested {
			f["strict"] = t.Strict // responses take true where nothing is stated
		}
		tools = append(tools, function(f))
	}
	body["tools"] = tools
	switch r.Choice.Mode {
	case "":
	case "tool":
		body["tool_choice"] = function(object{"name": r.Choice.Name})
	default:
		body["tool_choice"] = r.Choice.Mode
	}
}

// formatBody returns the form of an answer; if nested, the schema is described in a member of its own.
func formatBody(f *llm.Format, nested bool) object {
	if f.Type != "json_schema" {
		return object{"type": f.Type}
	}
	schema := object{"name": cmp.Or(f.Name, "answer"), "schema": f.Schema, "strict": f.Strict}
	if f.Description != "" {
		schema["description"] = f.Description
	}
	if nested {
		return object{"type": f.Type, "json_schema": schema}
	}
	schema["type"] = f.Type
	return schema
}

// parameters returns the parameters of a tool; servers want an object even if there are none.
func parameters(t llm.Tool) json.RawMessage {
	if !provider.Present(t.Parameters) {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}

// arguments returns the arguments of a call as the text that the format wants.
func arguments(c llm.ToolCall) string { return cmp.Or(string(c.Arguments), "{}") }

const (
	chatPath      = "/chat/completions"
	responsesPath = "/responses"
)

// base matches a path that is the base of an interface rather than an endpoint: nothing, or a version at its end.
var base = regexp.MustCompile(`^$|/v\d+\w*$|/openai$`)

// ChatURL returns the endpoint of chat completions for the address of that endpoint, of that of responses, or of the base of
// both. Any other address is returned unchanged: gateways have paths of their own.
func ChatURL(u *url.URL) *url.URL {
	return endpoint(u, responsesPath, chatPath)
}

// deployment matches the part of an Azure address that responses do not have: there the model stands in the body.
var deployment = regexp.MustCompile(`/openai/deployments/[^/]+$`)

// ResponsesURL is ChatURL for the endpoint of responses.
func ResponsesURL(u *url.URL) *url.URL {
	return endpoint(u, chatPath, responsesPath)
}

// endpoint returns the endpoint with the path to, in place of the one with the path from or below a base.
func endpoint(u *url.URL, from, to string) *url.URL {
	stem := strings.TrimRight(u.Path, "/")
	other, is := strings.CutSuffix(stem, from)
	switch {
	case is && to == responsesPath:
		stem = deployment.ReplaceAllString(other, "/openai")
	case is:
		stem = other
	case stem == "":
		stem = "/v1"
	case !base.MatchString(stem):
		return u
	}
	return withPath(u, stem+to)
}

func withPath(u *url.URL, path string) *url.URL {
	to := *u
	to.Path, to.RawPath = path, ""
	return &to
}
