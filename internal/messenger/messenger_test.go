package messenger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/message"
	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/messenger"
	"quarry/internal/outbound"
	"quarry/internal/provider/google/googletest"
)

const token = "xoxb-hidden-token"

// connectors has one of each kind.
type connectors map[string]string

func (c connectors) Credential(_ context.Context, kind, id string) (string, error) {
	if credential, ok := c[kind+"/"+id]; ok {
		return credential, nil
	}
	return "", fault.NotFound("connector_not_found", id, "connector %s does not exist", id)
}

// service answers by the path of a request, and keeps what it was sent.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	sent []string // guarded by mu
}

func start(t *testing.T, answers map[string]string) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.sent = append(s.sent, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.RequestURI(), r.Header.Get("Authorization"), body))
		s.mu.Unlock()
		var status int
		text := answers[r.URL.Path]
		if n, _ := fmt.Sscanf(text, "%d", &status); n == 1 {
			w.WriteHeader(status)
			text = text[3:]
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	return s
}

// call calls one of the tools.
func call(t *testing.T, c message.Config, name, arguments string) tool.Output {
	t.Helper()
	types, err := message.Tools(c)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.Compile(map[string]json.RawMessage{"t": json.RawMessage(`{"type":"` + name + `"}`)}, tool.Kit{Types: types, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	bound, _, err := set.Bind(tool.Scene{}, "")
	if err != nil {
		t.Fatal(err)
	}
	planned := bound.Plan([]llm.ToolCall{{ID: "c", Name: "t", Arguments: json.RawMessage(arguments)}}, nil, tool.Scene{})
	return bound.Run(t.Context(), planned[0], tool.Scene{})
}

// TestSlack proves what Slack is sent, and what becomes of each of its answers. The token is in none of them.
func TestSlack(t *testing.T) {
	t.Parallel()
	client := outbound.New(outbound.Config{AllowPrivate: true})
	const hello = `{"connector_id":"con_1","channel_id":"C1","text":"Hello \"you\""}`
	for answer, want := range map[string]string{
		`{"ok":true,"ts":"1"}`:                     `{"delivered":true}`,
		`{"ok":false,"error":"channel_not_found"}`: `{"delivered":false,"reason":"channel_not_found"}`,
		`{"ok":false,"error":"not_in_channel"}`:    `{"delivered":false,"reason":"not_in_channel"}`,
		`{"ok":false,"error":"invalid_auth"}`:      "invalid_configuration refuses the token",
		`{"ok":false,"error":"ratelimited"}`:       "execution_error for now",
		`{"ok":false,"error":"` + token + `"}`:     "execution_error without a reason",
		`{"ok":false}`:                             "execution_error without a reason",
		`429{"ok":false,"error":"ratelimited"}`:    "execution_error status 429",
		`401{}`:                                    "invalid_configuration status 401",
		`<html>`:                                   "execution_error no JSON",
	} {
		s := start(t, map[string]string{"/chat.postMessage": answer})
		out := call(t, message.Config{Connectors: connectors{"slack/con_1": token}, Slack: messenger.NewSlack(client, s.URL)}, message.Slack, hello)
		check(t, answer, out, want)
		if len(s.sent) != 1 || s.sent[0] != `POST /chat.postMessage Bearer `+token+` {"channel":"C1","text":"Hello \"you\""}` {
			t.Errorf("%s: sent %q", answer, s.sent)
		}
	}
}

// check compares an output with JSON, or with a class of errors and words in it.
func check(t *testing.T, what string, out tool.Output, want string) {
	t.Helper()
	got := string(out.Output)
	if strings.Contains(got, token) || strings.Contains(got, "PRIVATE KEY") {
		t.Errorf("%s: a secret in %s", what, got)
	}
	if class, says, failed := strings.Cut(want, " "); failed && !strings.HasPrefix(want, "{") {
		if !out.Failed || string(out.Class) != class || !strings.Contains(got, says) {
			t.Errorf("%s: %s %s, want %s", what, out.Class, got, want)
		}
		return
	}
	if out.Failed || got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestChat proves what Google Chat is sent, and what becomes of each of its answers.
func TestChat(t *testing.T) {
	t.Parallel()
	client := outbound.New(outbound.Config{AllowPrivate: true})
	const hello = `{"connector_id":"con_1","user":"123","text":"Hello"}`
	const granted, found = `{"access_token":"granted-1"}`, `{"name":"spaces/AAA"}`
	for _, c := range []struct{ token, space, sent, want string }{
		{granted, found, `{"name":"spaces/AAA/messages/1"}`, `{"delivered":true}`},
		{granted, "404{}", "", `{"delivered":false,"reason":"the app has no conversation with this user: they have to add it in Google Chat first"}`},
		{granted, "400{}", "", `{"delivered":false,"reason":"there is no such user, or the app may not write to them"}`},
		{granted, found, "403{}", `{"delivered":false,"reason":"the user takes no messages of the app"}`},
		{granted, found, "503{}", "execution_error status 503"},
		{granted, "401{}", "", "invalid_configuration refuses the credential"},
		{granted, `{"name":"spaces/../../x"}`, "", "execution_error names no conversation"},
		{`400{"error":"invalid_grant"}`, "", "", "invalid_configuration refuses the key"},
		{`{}`, "", "", "execution_error no access token"},
	} {
		s := start(t, map[string]string{"/token": c.token, "/v1/spaces:findDirectMessage": c.space, "/v1/spaces/AAA/messages": c.sent})
		have := connectors{"gchat/con_1": googletest.KeyJSON(s.URL + "/token")}
		check(t, fmt.Sprintf("%+v", c), call(t, message.Config{Connectors: have, Chat: messenger.NewChat(client, s.URL)}, message.Chat, hello), c.want)
		if c.want != `{"delivered":true}` {
			continue
		}
		if len(s.sent) != 3 || s.sent[1] != "GET /v1/spaces:findDirectMessage?name=users%2F123 Bearer granted-1 " || s.sent[2] != `POST /v1/spaces/AAA/messages Bearer granted-1 {"text":"Hello"}` {
			t.Errorf("sent %q", s.sent)
		}
	}
	check(t, "a key that is none", call(t, message.Config{Connectors: connectors{"gchat/con_1": "x"}, Chat: messenger.NewChat(client, "http://x.invalid")}, message.Chat, hello), "invalid_configuration service account")
}

// TestDisabled proves that without connectors both tools are disabled and say why, and that a connector must be there.
func TestDisabled(t *testing.T) {
	t.Parallel()
	client := outbound.New(outbound.Config{})
	all := message.Config{Slack: messenger.NewSlack(client, messenger.SlackURL), Chat: messenger.NewChat(client, messenger.ChatURL)}
	for name, kind := range map[string]string{message.Slack: "slack", message.Chat: "gchat"} {
		check(t, name, call(t, all, name, `{}`), "invalid_configuration connector of the kind "+kind)
	}
	all.Connectors = connectors{}
	check(t, "no such connector", call(t, all, message.Slack, `{"connector_id":"con_2","channel_id":"C1","text":"x"}`), "not_found con_2")
	check(t, "no text", call(t, all, message.Slack, `{"connector_id":"con_2","channel_id":"C1","text":""}`), "invalid_input text")
}
