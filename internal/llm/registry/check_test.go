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
		{"name", func(c *registry.Create) { c.Name = " \t" }}, {"name", func(c *registry.Create) { c.Name = strings.Repeat("名", 256) }},
		{"description", func(c *registry.Create) { c.Description = strings.Repeat("ü", 1_001) }},
		{"type", func(c *registry.Create) { c.Type = "pigeon" }}, {"model", func(c *registry.Create) { c.Model = " " }},
		{"model", func(c *registry.Create) { c.Model = "a\r\nb" }},
		{"uri", uri("")}, {"uri", uri("ftp://a.test/x")}, {"uri", uri("file:///etc/passwd")}, {"uri", uri("https://user:pw@a.test/")},
		{"uri", uri("https://a.test/x#frag")}, {"uri", uri("https://a.test/x#")}, {"uri", uri("https:///x")}, {"uri", uri("/v1")},
		{"uri", uri("https://a.test:99999/")}, {"uri", uri("https://a.test/\r\nX: y")}, {"uri", uri("mailto:a@b.test")}, {"uri", uri("https://a.test/" + strings.Repeat("x", 2_048))},
		{"uri", uri("http://[::1")}, {"uri", uri("https://ä.test/")}, {"uri", uri(`https://a.test\@b.test/`)},
		{"auth.token", with(*bearer(""))}, {"auth.token", with(*bearer("****"))}, {"auth.token", with(*bearer("*"))}, {"auth.token", with(*bearer("*************"))},
		{"auth.token", with(*bearer("a\nb"))}, {"auth.token", with(*bearer("ключ"))}, {"auth.token", with(*bearer(strings.Repeat("x", 20_001)))},
		{"auth.type", with(registry.Auth{Type: "magic"})}, {"auth.type", with(registry.Auth{Type: registry.APIKey, APIKey: "k"})},
		{"auth.type", anthropic(&oauth)}, {"auth", anthropic(nil)},
		{"auth.type", func(c *registry.Create) { c.Type, c.Auth = registry.Vertex, bearer("t") }}, {"auth", func(c *registry.Create) { c.Type = registry.Vertex }},
		{"auth.header", with(registry.Auth{Type: registry.Header, Header: "a b", Value: "v"})}, {"auth.header", with(registry.Auth{Type: registry.Header, Header: "Host", Value: "v"})},
		{"auth.header", with(registry.Auth{Type: registry.Header, Value: "v"})}, {"auth.value", with(registry.Auth{Type: registry.Header, Header: "x-key", Value: "***"})},
		{"auth.client_secret", change(func(a *registry.Auth) { a.ClientSecret = "****" })}, {"auth.token_endpoint", change(func(a *registry.Auth) { a.TokenEndpoint = "gopher://x" })},
		{"auth.client_auth_method", change(func(a *registry.Auth) { a.ClientAuthMethod = "private_key_jwt" })}, {"auth.scopes", change(func(a *registry.Auth) { a.Scopes = []string{"a b"} })},
		{"auth.audience", change(func(a *registry.Auth) { a.Audience = "a\nb" })},
		{"auth.region", anthropic(&registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "evil.test/x?"})},
		{"auth.region", anthropic(&registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "i", AWSSecretAccessKey: "s", Region: "us-east-1.evil.test"})},
		{"auth.aws_secret_access_key", anthropic(&registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "i", AWSSecretAccessKey: "****", Region: "us-east-1"})},
		{"auth.project", anthropic(&registry.Auth{Type: registry.VertexAccessToken, AccessToken: "t", Project: "../x", Region: "us-east5"})},
		{"auth.key_json", anthropic(&registry.Auth{Type: registry.VertexServiceAccount, KeyJSON: "****", Project: "p", Region: "us-east5"})},
		{"headers", header("a b", "v")}, {"headers", header("", "v")}, {"headers", header("x\r\ny", "v")}, {"headers.X-A", header("X-A", "v\r\nw: x")},
		{"headers.Content-Length", header("Content-Length", "0")}, {"headers.transfer-encoding", header("transfer-encoding", "chunked")}, {"headers.Host", header("Host", "b.test")},
		{"headers.Authorization", header("Authorization", "Bearer x")}, {"headers.X-API-Key", header("X-API-Key", "x")}, {"headers.Cookie", header("Cookie", "x")},
		{"headers.My-Secret", header("My-Secret", "x")}, {"headers.X-A", header("X-A", strings.Repeat("x", 8_000))},
		{"headers", func(c *registry.Create) {
			c.Headers = map[string]string{}
			for i := range 51 {
				c.Headers[fmt.Sprint("x-", i)] = ""
			}
		}},
		{"headers.x-a", func(c *registry.Create) { c.Headers = map[string]string{"X-A": "1", "x-a": "2"} }},
		{"idle_timeout_seconds", func(c *registry.Create) { c.Idle = 3_601 * time.Second }},
		{"capabilities.context_limit", func(c *registry.Create) { n := 4_095; c.Capabilities.ContextLimit = &n }},
		{"requests_per_second", func(c *registry.Create) { c.Budget.RequestsPerSecond = 10_001 }}, {"input_tokens_per_day", func(c *registry.Create) { c.Budget.InputPerDay = -1 }},
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
