package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
)

func offers(names ...string) (out []registry.Offer) {
	for _, n := range names {
		out = append(out, registry.Offer{Model: n})
	}
	return out
}

// TestDiscover proves which type an address is taken for, which models are called, and what 422 says.
func TestDiscover(t *testing.T) {
	t.Parallel()
	chat := registry.Catalog{URI: "http://a.test/v1/chat/completions", Offers: offers("small-chat", "text-embedding-3-small")}
	many := registry.Catalog{URI: chat.URI}
	for i := range 130 {
		many.Offers = append(many.Offers, registry.Offer{Model: fmt.Sprint("m", i)})
	}
	type catalogs = map[registry.Type]registry.Catalog
	type errs = map[registry.Type]error
	bearer := &registry.Auth{Type: registry.Bearer, Token: "secret-token"}
	for _, c := range []struct {
		name     string
		cmd      registry.Discover
		catalogs catalogs
		errs     errs
		want     string // type and model of each candidate, ! where verified; or the code of the refusal
	}{
		{"found out", registry.Discover{URI: "http://a.test"}, catalogs{registry.OpenAI: chat}, nil, "openai-compatible small-chat!"},
		{"stated", registry.Discover{URI: "http://a.test", Type: registry.OpenAI}, catalogs{registry.OpenAI: chat}, nil, "openai-compatible small-chat!"},
		{"responses stated", registry.Discover{URI: "http://a.test", Type: registry.Responses}, catalogs{registry.Responses: chat}, nil, "openai-responses small-chat!"},
		{"anthropic by its lists", registry.Discover{URI: "http://a.test", Auth: bearer}, catalogs{registry.Anthropic: {Offers: offers("claude-x")}}, nil, "anthropic claude-x!"},
		{"contradicted", registry.Discover{URI: "http://a.test", Type: registry.Anthropic, Auth: bearer}, catalogs{registry.OpenAI: chat}, nil, "llm_type_mismatch"},
		{"nothing there", registry.Discover{URI: "http://a.test"}, nil, nil, "llm_not_probed"},
		{"an empty list", registry.Discover{URI: "http://a.test", Type: registry.OpenAI}, catalogs{registry.OpenAI: {}}, nil, "llm_not_probed"},
		{"blocked", registry.Discover{URI: "http://169.254.169.254/v1"}, nil, errs{registry.OpenAI: &llm.Error{Failure: llm.Blocked}}, "llm_not_probed"},
		{"secrets echoed", registry.Discover{URI: "http://a.test", Auth: bearer}, nil, errs{registry.OpenAI: &llm.Error{Failure: llm.Rejected, Status: 401, Text: "secret-token is wrong"}}, "llm_not_probed"},
		{"a key of Google's", registry.Discover{URI: "http://a.test", Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}}, catalogs{registry.OpenAI: chat, registry.Vertex: {Offers: offers("gemini-x")}}, nil, "vertex-ai gemini-x!"},
		{"wrong credentials", registry.Discover{URI: "http://a.test", Type: registry.Vertex, Auth: bearer}, nil, nil, "invalid_request"},
		{"no address", registry.Discover{URI: "ftp://a.test"}, nil, nil, "invalid_request"},
		{"headers", registry.Discover{URI: "http://a.test", Headers: map[string]string{"Cookie": "x"}}, nil, nil, "invalid_request"},
		{"only others", registry.Discover{URI: "http://a.test"}, catalogs{registry.OpenAI: {Offers: offers("bge-m3-embed")}}, nil, "openai-compatible bge-m3-embed!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := nodes(t, 1)[0]
			n.prober.catalogs, n.prober.errs = c.catalogs, c.errs
			found, err := n.Discover(t.Context(), c.cmd)
			var got []string
			for _, f := range found {
				one := string(f.Type) + " " + f.Model
				if f.Why == "" {
					one += "!"
				}
				got = append(got, one)
			}
			if f, ok := fault.As(err); ok {
				got = []string{f.Code}
				if strings.Contains(f.Error(), "secret-token") || strings.HasPrefix(f.Code, "llm_") && f.Kind != fault.KindUnprocessable {
					t.Errorf("the refusal is %d %v", f.Kind, f)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
			wantList(t, n, registry.List{Limit: 10}, registry.Embedded)
		})
	}
	n := nodes(t, 1)[0]
	n.prober.catalogs = catalogs{registry.OpenAI: many}
	found, err := n.Discover(t.Context(), registry.Discover{URI: "http://a.test"})
	if err != nil || len(found) != 100 || len(n.dialer.called) != 5 || found[4].Why != "" || found[5].Why == "" || found[0].URI != chat.URI {
		t.Errorf("%d candidates, %d calls, %v", len(found), len(n.dialer.called), err)
	}
	n.dialer.fail = &llm.Error{Failure: llm.Rejected, Status: 401, Text: "secret-token"}
	found, err = n.Discover(t.Context(), registry.Discover{URI: "http://a.test", Auth: bearer})
	if err != nil || !strings.Contains(found[0].Why, "401") || strings.Contains(found[0].Why, "secret-token") {
		t.Errorf("a model that is there and refuses: %+v, %v", found[0], err)
	}
}
