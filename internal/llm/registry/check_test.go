package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
)

// TestRefusedRegistrations proves that what can't work, or would leak, is refused with the field at fault, and that
// nothing is called or stored then.
func TestRefusedRegistrations(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	bearer := func(token string) *registry.Auth { return &registry.Auth{Type: registry.Bearer, Token: token} }
	with := func(a registry.Auth) func(*registry.Create) { return func(c *registry.Create) { c.Auth = &a } }
	anthropic := func(a *registry.Auth) func(*registry.Create) {
		return func(c *registry.Create) { c.Type, c.URI, c.Auth = registry.Anthropic, "", a }
	}
	uri := func(u string) func(*registry.Create) { return func(c *registry.Create) { c.URI = u } }
	header := func(name, value string) func(*registry.Create) {
		return func(c *registry.Create) { c.Headers = map[string]string{name: value} }
	}
	oauth := registry.Auth{Type: registry.ClientCredentials, ClientID: "c", ClientSecret: "s", TokenEndpoint: "https://t.test/token"}
	change := func(f func(*registry.Auth)) func(*registry.Create) {
		a := oauth
		f(&a)
		return with(a)
	}
	for _, c := range []struct {
		field string
		cmd   func(*registry.Create)
	}{
		{"body.name", func(c *registry.Create) { c.Name = " \t" }}, {"body.name", func(c *registry.Create) { c.Name = strings.Repeat("名", 256) }},
		{"body.description", func(c *registry.Create) { c.Description = strings.Repeat("ü", 1_001) }},
		{"body.type", func(c *registry.Create) { c.Type = "pigeon" }}, {"body.model", func(c *registry.Create) { c.Model = " " }},
		{"body.model", func(c *registry.Create) { c.Model = "a\r\nb" }},
		{"body.uri", uri("")}, {"body.uri", uri("ftp://a.test/x")}, {"body.uri", uri("file:///etc/passwd")}, {"body.uri", uri("https://user:pw@a.test/")},
		{"body.uri", uri("https://a.test/x#frag")}, {"body.uri", uri("https://a.test/x#")}, {"body.uri", uri("https:///x")}, {"body.uri", uri("/v1")},
		{"body.uri", uri("https://a.test:99999/")}, {"body.uri", uri("https://a.test/\r\nX: y")}, {"body.uri", uri("mailto:a@b.test")}, {"body.uri", uri("https://a.test/" + strings.Repeat("x", 2_048))},
		{"body.uri", uri("http://[::1")}, {"body.uri", uri("https://ä.test/")}, {"body.uri", uri(`https://a.test\@b.test/`)},
		{"body.auth.token", with(*bearer(""))}, {"body.auth.token", with(*bearer("****"))}, {"body.auth.token", with(*bearer("*"))}, {"body.auth.token", with(*bearer("*************"))},
		{"body.auth.token", with(*bearer("a\nb"))}, {"body.auth.token", with(*bearer("ключ"))}, {"body.auth.token", with(*bearer(strings.Repeat("x", 20_001)))},
		{"body.auth.type", with(registry.Auth{Type: "magic"})}, {"body.auth.type", with(registry.Auth{Type: registry.APIKey, APIKey: "k"})},
		{"body.auth.type", anthropic(&oauth)}, {"body.auth", anthropic(nil)},
		{"body.auth.type", func(c *registry.Create) { c.Type, c.Auth = registry.Vertex, bearer("t") }}, {"body.auth", func(c *registry.Create) { c.Type = registry.Vertex }},
		{"body.auth.header", with(registry.Auth{Type: registry.Header, Header: "a b", Value: "v"})}, {"body.auth.header", with(registry.Auth{Type: registry.Header, Header: "Host", Value: "v"})},
		{"body.auth.header", with(registry.Auth{Type: registry.Header, Value: "v"})}, {"body.auth.value", with(registry.Auth{Type: registry.Header, Header: "x-key", Value: "***"})},
		{"body.auth.client_secret", change(func(a *registry.Auth) { a.ClientSecret = "****" })}, {"body.auth.token_endpoint", change(func(a *registry.Auth) { a.TokenEndpoint = "gopher://x" })},
		{"body.auth.client_auth_method", change(func(a *registry.Auth) { a.ClientAuthMethod = "private_key_jwt" })}, {"body.auth.scopes", change(func(a *registry.Auth) { a.Scopes = []string{"a b"} })},
		{"body.auth.audience", change(func(a *registry.Auth) { a.Audience = "a\nb" })},
		{"body.auth.region", anthropic(&registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "evil.test/x?"})},
		{"body.auth.region", anthropic(&registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "i", AWSSecretAccessKey: "s", Region: "us-east-1.evil.test"})},
		{"body.auth.aws_secret_access_key", anthropic(&registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "i", AWSSecretAccessKey: "****", Region: "us-east-1"})},
		{"body.auth.project", anthropic(&registry.Auth{Type: registry.VertexAccessToken, AccessToken: "t", Project: "../x", Region: "us-east5"})},
		{"body.auth.key_json", anthropic(&registry.Auth{Type: registry.VertexServiceAccount, KeyJSON: "****", Project: "p", Region: "us-east5"})},
		{"body.headers", header("a b", "v")}, {"body.headers", header("", "v")}, {"body.headers", header("x\r\ny", "v")}, {"body.headers.X-A", header("X-A", "v\r\nw: x")},
		{"body.headers.Content-Length", header("Content-Length", "0")}, {"body.headers.transfer-encoding", header("transfer-encoding", "chunked")}, {"body.headers.Host", header("Host", "b.test")},
		{"body.headers.Authorization", header("Authorization", "Bearer x")}, {"body.headers.X-API-Key", header("X-API-Key", "x")}, {"body.headers.Cookie", header("Cookie", "x")},
		{"body.headers.My-Secret", header("My-Secret", "x")}, {"body.headers.X-A", header("X-A", strings.Repeat("x", 8_000))},
		{"body.headers", func(c *registry.Create) {
			c.Headers = map[string]string{}
			for i := range 51 {
				c.Headers[fmt.Sprint("x-", i)] = ""
			}
		}},
		{"body.headers.x-a", func(c *registry.Create) { c.Headers = map[string]string{"X-A": "1", "x-a": "2"} }},
		{"body.idle_timeout_seconds", func(c *registry.Create) { c.Idle = 3_601 * time.Second }},
		{"body.capabilities.context_limit", func(c *registry.Create) { n := 4_095; c.Capabilities.ContextLimit = &n }},
		{"body.requests_per_second", func(c *registry.Create) { c.RPS = 10_001 }}, {"body.input_tokens_per_day", func(c *registry.Create) { c.Quota.InputPerDay = -1 }},
	} {
		cmd := registry.Create{Name: "local", Type: registry.OpenAI, Model: "m", URI: "http://a.test/v1"}
		c.cmd(&cmd)
		_, err := n.Create(t.Context(), cmd)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields[c.field] == "" {
			t.Errorf("%+v: %v, want a fault of %s", cmd, err, c.field)
		}
	}
	if len(n.dialer.opened) > 0 {
		t.Error("a refused registration was called")
	}
	wantList(t, n, registry.List{Limit: 10}, registry.Embedded)
}

// TestAcceptedRegistrations proves that what is unusual and works is taken.
func TestAcceptedRegistrations(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	for i, cmd := range []registry.Create{
		{Type: registry.OpenAI, Model: "m", URI: "http://127.0.0.1:11434/v1/chat/completions?api-version=2024-02-01"},
		{Type: registry.Responses, Model: "m", URI: "http://[::1]:80", Auth: &registry.Auth{Type: registry.Header, Header: "api-key", Value: "k"}, Headers: map[string]string{"OpenAI-Organization": "o", "anthropic-version": "2023-06-01", "X-Title": "ü"}},
		{Type: registry.Anthropic, Model: "anthropic.claude-v2:1", Auth: &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "eu-central-1"}},
		{Type: registry.Anthropic, Model: "m", Auth: &registry.Auth{Type: registry.VertexServiceAccount, KeyJSON: "{\n}", Project: "example.com:p-1", Region: "global"}},
		{Type: registry.Vertex, Model: "m", URI: "https://generativelanguage.googleapis.com/v1beta", Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}},
		{Type: registry.OpenAI, Model: "m", URI: "https://a.test", Auth: &registry.Auth{Type: registry.ClientCredentials, ClientID: "c", ClientSecret: "s*", TokenEndpoint: "https://t.test", Scopes: []string{"https://x.test/.default"}, ClientAuthMethod: "client_secret_post", Audience: "a b"}},
	} {
		cmd.Name = strings.Repeat("名", 254) + fmt.Sprint(i)
		if _, err := n.Create(t.Context(), cmd); err != nil {
			t.Errorf("%+v: %v", cmd, err)
		}
	}
}

func wantList(t *testing.T, n *node, q registry.List, want ...string) {
	t.Helper()
	var got []string
	for {
		page, next, err := n.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > q.Limit || next != nil && len(page) < q.Limit {
			t.Errorf("a page of %d has %d models, another follows: %v", q.Limit, len(page), next != nil)
		}
		for _, l := range page {
			name := l.Name
			if l.Default {
				name += "!"
			}
			got = append(got, name)
		}
		if q.After = next; next == nil {
			break
		}
	}
	for i := range want {
		if strings.HasPrefix(want[i], registry.Embedded) && !slices.ContainsFunc(want, func(w string) bool { return strings.HasSuffix(w, "!") }) {
			want[i] += "!"
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("list %q, want %q", got, want)
	}
}
