package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/scripted"
)

// key is the credential of every call.
const key = "sk-compat-0123456789"

// format is a wire format with the two that speak it.
type format struct {
	name string
	conn registry.Connection // ours; the uri is below the provider
	auth string              // the header that carries the key
	// theirs makes a request with the provider's library and gives what it read of the stream.
	theirs func(t *testing.T, url, model string, r llm.Request) read
	// alike rewrites a body where two ways of writing mean the same.
	alike func(body map[string]any)
}

// read is what was understood of an answer.
type read struct {
	Text  string
	Calls []called
	Stop  string // in the words of the format
	Usage string
}

type called struct{ ID, Name, Arguments string }

var formats = []format{
	{"chat", registry.Connection{Type: registry.OpenAI, Model: "gpt-4.1", URI: "/v1/chat/completions", Auth: &registry.Auth{Type: registry.Bearer, Token: key}}, "Authorization", chat, alikeChat},
	{"responses", registry.Connection{Type: registry.Responses, Model: "gpt-4.1", URI: "/v1/responses", Auth: &registry.Auth{Type: registry.Bearer, Token: key}}, "Authorization", respond, alikeResponses},
	{"messages", registry.Connection{Type: registry.Anthropic, Model: "claude-sonnet-4-5", URI: "/v1/messages", Auth: &registry.Auth{Type: registry.Header, Header: "x-api-key", Value: key}}, "X-Api-Key", messages, alikeMessages},
	{"gemini", registry.Connection{Type: registry.Vertex, Model: newGemini, URI: "/v1beta", Auth: &registry.Auth{Type: registry.APIKey, APIKey: key}}, "X-Goog-Api-Key", gemini, alikeGemini},
	{"gemini of old", registry.Connection{Type: registry.Vertex, Model: oldGemini, URI: "/v1beta", Auth: &registry.Auth{Type: registry.APIKey, APIKey: key}}, "X-Goog-Api-Key", gemini, alikeGemini},
}

// TestSameRequests proves that our adapters ask as the providers' libraries do: path, credentials and bodies of the
// twenty requests mean the same.
func TestSameRequests(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		for _, r := range requests() {
			t.Run(f.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				reply := scripted.Reply{Text: scripted.Answer}
				if r.Format != nil {
					reply.Text = `{"holds":true,"why":["size"]}`
				}
				ours, theirs := scripted.Start(t, reply), scripted.Start(t, reply)
				if f.theirs(t, theirs.URL, f.conn.Model, r.Request); t.Failed() {
					return
				}
				p := open(t, f, ours.URL)
				if _, err := llm.Complete(t.Context(), p, r.Request); err != nil {
					t.Fatal(err)
				}
				a, b := ours.Last(), theirs.Last()
				if a.Method != b.Method || a.Path != b.Path || !reflect.DeepEqual(a.Query, b.Query) || a.Header.Get(f.auth) != b.Header.Get(f.auth) || a.Header.Get(f.auth) == "" {
					t.Errorf("ours: %s %s?%s with %q, theirs: %s %s?%s with %q", a.Method, a.Path, a.Query.Encode(), a.Header.Get(f.auth), b.Method, b.Path, b.Query.Encode(), b.Header.Get(f.auth))
				}
				for _, header := range []string{"Content-Type", "Anthropic-Version"} {
					if a.Header.Get(header) != b.Header.Get(header) {
						t.Errorf("header %s: ours %q, theirs %q", header, a.Header.Get(header), b.Header.Get(header))
					}
				}
				x, y := decode(t, a.Body), decode(t, b.Body)
				f.alike(x)
				f.alike(y)
				if d := differ("", x, y); d != "" {
					t.Errorf("%s\nours:   %s\ntheirs: %s", d, a.Body, b.Body)
				}
			})
		}
	}
}

// TestSameAnswers proves that the libraries read of the scripted provider's streams what our adapters read: it speaks as
// the providers do, so what our adapters are held to against it holds.
func TestSameAnswers(t *testing.T) {
	t.Parallel()
	for _, f := range formats {
		for name, reply := range map[string]scripted.Reply{
			"text":      {Pieces: []string{"Größe ", "„日本“ ", "[1]."}, Usage: scripted.Usage{Input: 40, Cached: 30, Output: 25}},
			"reasoning": {Text: "Round it is.", Reasoning: "Gravity pulls."},
			"calls": {Text: "Let me see.", Calls: []scripted.Call{
				{ID: "c1", Name: "find", Pieces: []string{`{"q":`, `"moon"}`}}, {ID: "c2", Name: "now", Pieces: []string{`{}`}},
			}},
			"length": {Text: "It is", Stop: scripted.Length},
		} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := plain()
				r.Tools, r.Parameters.MaxTokens = []llm.Tool{find, now}, ref(300)
				theirs := f.theirs(t, scripted.Start(t, reply).URL, f.conn.Model, r)
				answer, err := llm.Complete(t.Context(), open(t, f, scripted.Start(t, reply).URL), r)
				if err != nil {
					t.Fatal(err)
				}
				ours := read{Text: answer.Text, Stop: stops[answer.Reason], Usage: fmt.Sprint(answer.Usage.Input, answer.Usage.Output)}
				for _, c := range answer.Calls {
					ours.Calls = append(ours.Calls, called{c.ID, c.Name, compact(c.Arguments)})
				}
				theirs.Stop = stops[reasons[theirs.Stop]]
				if !reflect.DeepEqual(ours, theirs) {
					t.Errorf("ours read   %+v\ntheirs read %+v", ours, theirs)
				}
			})
		}
	}
}

var stops = map[llm.Reason]string{llm.Stop: "stop", llm.Calls: "calls", llm.Length: "length"}

// reasons are the formats' words.
var reasons = map[string]llm.Reason{
	"stop": llm.Stop, "tool_calls": llm.Calls, "length": llm.Length,
	"completed": llm.Stop, "completed with calls": llm.Calls, "incomplete": llm.Length,
	"end_turn": llm.Stop, "tool_use": llm.Calls, "max_tokens": llm.Length,
	"STOP": llm.Stop, "STOP with calls": llm.Calls, "MAX_TOKENS": llm.Length,
}

func compact(raw []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}

func decode(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("read body: %v: %s", err, raw)
	}
	return v
}

// differ tells the first place where two values are not the same.
func differ(at string, ours, theirs any) string {
	a, isMap := ours.(map[string]any)
	b, both := theirs.(map[string]any)
	if !isMap || !both {
		x, isList := ours.([]any)
		y, both := theirs.([]any)
		if isList && both && len(x) == len(y) {
			for i := range x {
				if d := differ(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); d != "" {
					return d
				}
			}
			return ""
		}
		if !reflect.DeepEqual(ours, theirs) {
			return fmt.Sprintf("%s: ours %s, theirs %s", at, show(ours), show(theirs))
		}
		return ""
	}
	names := map[string]bool{}
	for _, m := range []map[string]any{a, b} {
		for k := range m {
			names[k] = true
		}
	}
	all := make([]string, 0, len(names))
	for k := range names {
		all = append(all, k)
	}
	slices.Sort(all)
	for _, k := range all {
		x, in := a[k]
		y, there := b[k]
		if in != there {
			return fmt.Sprintf("%s.%s: ours %s, theirs %s", at, k, show(x), show(y))
		}
		if d := differ(at+"."+k, x, y); d != "" {
			return d
		}
	}
	return ""
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// under applies fn to every object below v.
func under(v any, fn func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			under(e, fn)
		}
	case map[string]any:
		fn(v)
		for _, e := range v {
			under(e, fn)
		}
	}
}
