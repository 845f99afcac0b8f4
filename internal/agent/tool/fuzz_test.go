package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/llm"
)

// FuzzReference proves that no text breaks the parser of paths, that what it takes means the same with every optional prefix,
// and that a turn with it begins or is refused.
func FuzzReference(f *testing.F) {
	for _, s := range []string{
		"session.metadata.a", "$.session.secrets['x y']", "agent.secrets[session.metadata.user_id]", "tools.t.outputs.latest.rows[0].id", "currentDate", "session.metadata[", ".$session", "session.metadata[[",
		"agent.secrets", "$.agent.secrets[$.session.metadata.who]", "agent[session.metadata[session.metadata.who]].crm", "agent.secrets[agent.secrets[agent.secrets[agent.secrets[session.key]]]]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r, err := reference.Parse(path)
		if err != nil {
			if !utf8.ValidString(err.Error()) && utf8.ValidString(path) {
				t.Errorf("%q: %q", path, err)
			}
			return
		}
		if r.String() != path {
			t.Errorf("%q is written as %q", path, r)
		}
		bare := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
		values := map[string]bool{}
		for _, prefix := range []string{"", ".", "$", "$."} {
			if _, err := reference.Parse(prefix + bare); err != nil {
				if utf8.RuneCountInString(prefix+bare) > 1000 {
					continue
				}
				t.Errorf("%q is a path, %q is none: %v", path, prefix+bare, err)
				continue
			}
			raw, err := json.Marshal(map[string]any{"type": "test", "argument_override": map[string]any{"any": map[string]any{"$ref": prefix + bare}}, "input_transform": ".args | {text: (.any | tojson | .[:20]), headers: {Accept: \"\", Authorization: \"\"}}"})
			if err != nil {
				t.Fatal(err)
			}
			s, err := tool.Compile(map[string]json.RawMessage{"t": raw}, kit(t, echo))
			if err != nil {
				continue // of a tool that isn't there
			}
			b := bind(t, s, scene())
			p := b.Plan([]llm.ToolCall{{Name: "t"}}, nil, scene())
			out := b.Run(t.Context(), p[0], scene())
			values[strings.ReplaceAll(string(out.Output), prefix+bare, bare)] = true
			if all := string(out.Output) + string(out.Overrides); strings.Contains(all, "tok-1234567890") || strings.Contains(all, "crm-key-1234567890") {
				t.Errorf("%q shows a secret: %s", path, out.Output)
			}
		}
		if len(values) > 1 && utf8.ValidString(path) && !strings.ContainsAny(path, "\\\"\x7f") && !strings.Contains(bare, "$") {
			t.Errorf("%q has several values: %v", path, values)
		}
	})
}

// FuzzOverride proves that no key and value of an override breaks anything: it is refused, or its call has an output.
func FuzzOverride(f *testing.F) {
	f.Add("headers.Authorization", `"x"`)
	f.Add("items[0]", `{"$ref": "session.secrets.token"}`)
	f.Add("any['a.b'].c[3]", `[{"$$ref": {}}, {"$ref": "session.metadata.list"}]`)
	f.Add("any..", `{"$ref": 1}`)
	f.Fuzz(func(t *testing.T, key, value string) {
		if !json.Valid([]byte(value)) {
			return
		}
		raw, err := json.Marshal(map[string]any{"type": "test", "argument_override": map[string]any{key: json.RawMessage(value)}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := tool.Compile(map[string]json.RawMessage{"t": raw}, kit(t, echo))
		if err != nil {
			return
		}
		b := bind(t, s, scene())
		for _, o := range b.Offer(nil) {
			if _, err := schema.New(o.Parameters); err != nil {
				t.Errorf("%s is offered: %v", o.Parameters, err)
			}
		}
		p := b.Plan([]llm.ToolCall{{Name: "t", Arguments: json.RawMessage(`{"text": "t", "headers": {"Accept": "a", "Authorization": "b"}, "any": {"a": 1}}`)}}, nil, scene())
		out := b.Run(t.Context(), p[0], scene())
		var object map[string]any
		if err := json.Unmarshal(out.Output, &object); err != nil || len(p[0].Pinned) == 0 {
			t.Errorf("%s: %v, pinned %q", out.Output, err, p[0].Pinned)
		}
		if strings.Contains(string(out.Output)+string(out.Overrides), "tok-1234567890") {
			t.Errorf("%s shows a secret: %s", raw, out.Output)
		}
	})
}

// FuzzMask proves that no secret of eight characters or more is in a text or a JSON value behind a mask, that a text that is a
// secret is masked whatever its length, and that what has no secret stays as it is.
func FuzzMask(f *testing.F) {
	f.Add("tok-1234", "123456", `{"a": ["Bearer tok-1234", {"tok-1234": "tok-12345"}], "b": 1.50}`)
	f.Add("a\"b\\c", "x", `{"json": "{\"k\": \"a\\\"b\\\\c\"}"}`)
	f.Add("日本語の秘密です", "日本", `["日本", "これは日本語の秘密です"]`)
	f.Fuzz(func(t *testing.T, one, two, text string) {
		if strings.Contains(one+two, "*") || !utf8.ValidString(one+two+text) {
			return // a text with **** may hold a secret of asterisks again
		}
		m := mask.New(one, two)
		check := func(got string) {
			for _, secret := range []string{one, two} {
				if secret != "" && got == secret || utf8.RuneCountInString(secret) >= mask.Shortest && strings.Contains(got, secret) {
					t.Errorf("%q is in %q", secret, got)
				}
			}
		}
		check(m.Text(text))
		if !strings.Contains(text, one) && !strings.Contains(text, two) && len(one)+len(two) > 0 && !strings.ContainsAny(one+two, "\"\\<>&\u2028\u2029") && !strings.ContainsAny(text, `\%+`) {
			for r := range strings.SplitSeq(one+two, "") {
				if r < " " {
					return
				}
			}
			if got := m.Text(text); got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
		if !json.Valid([]byte(text)) {
			return
		}
		masked := m.JSON(json.RawMessage(text))
		var v any
		if err := json.Unmarshal(masked, &v); err != nil {
			t.Fatalf("%s became %s: %v", text, masked, err)
		}
		walk(v, check)
		if m == nil && !cmp.Equal(string(masked), text) {
			t.Errorf("%s became %s", text, masked)
		}
	})
}

// walk calls f with each text in v.
func walk(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case map[string]any:
		for name, member := range v {
			f("the name " + name) // a short one stays there
			walk(member, f)
		}
	case []any:
		for _, item := range v {
			walk(item, f)
		}
	}
}
