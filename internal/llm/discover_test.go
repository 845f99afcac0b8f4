package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

func offers(names ...string) (out []llm.Offer) {
	for _, n := range names {
		out = append(out, llm.Offer{Model: n})
	}
	return out
}

// TestDiscover proves which type an address is taken for, which models are called, and what 422 says.
func TestDiscover(t *testing.T) {
	t.Parallel()
	chat := llm.Catalog{URI: "http://a.test/v1/chat/completions", Offers: offers("small-chat", "text-embedding-3-small")}
	many := llm.Catalog{URI: chat.URI}
	for i := range 130 {
		many.Offers = append(many.Offers, llm.Offer{Model: fmt.Sprint("m", i)})
	}
	type catalogs = map[llm.Type]llm.Catalog
	type errs = map[llm.Type]error
	bearer := &llm.Auth{Type: llm.Bearer, Token: "secret-token"}
	for _, c := range []struct {
		name     string
		cmd      llm.Discover
		catalogs catalogs
		errs     errs
		want     string // type and model of each candidate, ! where verified; or the code of the refusal
	}{
		{"found out", llm.Discover{URI: "http://a.test"}, catalogs{llm.OpenAI: chat}, nil, "openai-compatible small-chat!"},
		{"stated", llm.Discover{URI: "http://a.test", Type: llm.OpenAI}, catalogs{llm.OpenAI: chat}, nil, "openai-compatible small-chat!"},
		{"responses stated", llm.Discover{URI: "http://a.test", Type: llm.Responses}, catalogs{llm.Responses: chat}, nil, "openai-responses small-chat!"},
		{"anthropic by its lists", llm.Discover{URI: "http://a.test", Auth: bearer}, catalogs{llm.Anthropic: {Offers: offers("claude-x")}}, nil, "anthropic claude-x!"},
		{"contradicted", llm.Discover{URI: "http://a.test", Type: llm.Anthropic, Auth: bearer}, catalogs{llm.OpenAI: chat}, nil, "llm_type_mismatch"},
		{"nothing there", llm.Discover{URI: "http://a.test"}, nil, nil, "llm_not_probed"},
		{"an empty list", llm.Discover{URI: "http://a.test", Type: llm.OpenAI}, catalogs{llm.OpenAI: {}}, nil, "llm_not_probed"},
		{"blocked", llm.Discover{URI: "http://169.254.169.254/v1"}, nil, errs{llm.OpenAI: &llm.Error{Failure: llm.Blocked}}, "llm_not_probed"},
		{"secrets echoed", llm.Discover{URI: "http://a.test", Auth: bearer}, nil, errs{llm.OpenAI: &llm.Error{Failure: llm.Rejected, Status: 401, Text: "secret-token is wrong"}}, "llm_not_probed"},
		{"a key of Google's", llm.Discover{URI: "http://a.test", Auth: &llm.Auth{Type: llm.APIKey, APIKey: "k"}}, catalogs{llm.OpenAI: chat, llm.Vertex: {Offers: offers("gemini-x")}}, nil, "vertex-ai gemini-x!"},
		{"wrong credentials", llm.Discover{URI: "http://a.test", Type: llm.Vertex, Auth: bearer}, nil, nil, "invalid_request"},
		{"no address", llm.Discover{URI: "ftp://a.test"}, nil, nil, "invalid_request"},
		{"headers", llm.Discover{URI: "http://a.test", Headers: map[string]string{"Cookie": "x"}}, nil, nil, "invalid_request"},
		{"only others", llm.Discover{URI: "http://a.test"}, catalogs{llm.OpenAI: {Offers: offers("bge-m3-embed")}}, nil, "openai-compatible bge-m3-embed!"},
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
			wantList(t, n, llm.List{Limit: 10}, llm.Embedded)
		})
	}
	n := nodes(t, 1)[0]
	n.prober.catalogs = catalogs{llm.OpenAI: many}
	found, err := n.Discover(t.Context(), llm.Discover{URI: "http://a.test"})
	if err != nil || len(found) != 100 || len(n.dialer.called) != 5 || found[4].Why != "" || found[5].Why == "" || found[0].URI != chat.URI {
		t.Errorf("%d candidates, %d calls, %v", len(found), len(n.dialer.called), err)
	}
	n.dialer.fail = &llm.Error{Failure: llm.Rejected, Status: 401, Text: "secret-token"}
	found, err = n.Discover(t.Context(), llm.Discover{URI: "http://a.test", Auth: bearer})
	if err != nil || !strings.Contains(found[0].Why, "401") || strings.Contains(found[0].Why, "secret-token") {
		t.Errorf("a model that is there and refuses: %+v, %v", found[0], err)
	}
}
