package anthropic_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/anthropic"
	"quarry/internal/provider/google/googletest"
	"quarry/internal/testkit"
)

// wire stands in for the network: it keeps what was sent and answers with texts in turn, the last again and again.
type wire struct {
	kind    string // of the answers; "" is an event stream
	status  int    // of all answers but the last
	answers []string

	sent   []*http.Request
	bodies []string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	w.sent, w.bodies = append(w.sent, r), append(w.bodies, string(body))
	status, kind := http.StatusOK, w.kind
	if len(w.sent) < len(w.answers) && w.status != 0 {
		status, kind = w.status, "application/json"
	}
	if kind == "" {
		kind = "text/event-stream"
	}
	text := w.answers[min(len(w.sent), len(w.answers))-1]
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// well is an answer of which nothing matters.
const well = `data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well."}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

data: {"type":"message_stop"}

`

func key() *registry.Auth {
	return &registry.Auth{Type: registry.Bearer, Token: "sk-ant-api03-0123456789"}
}

func open(t testing.TB, w *wire, c registry.Connection) llm.Provider {
	t.Helper()
	c.Type, c.Name = registry.Anthropic, "claude"
	if c.Model == "" {
		c.Model = "claude-3-5-sonnet-20241022"
	}
	if len(w.answers) == 0 {
		w.answers = []string{well}
	}
	m, err := anthropic.New(provider.NewShared(&http.Client{Transport: w}), c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The address, headers and envelope are what each host wants, whatever uri a cloud-hosted connection states.
func TestHosts(t *testing.T) {
	t.Parallel()
	const vertexToken = "ya29.token"
	for _, c := range []struct {
		name    string
		conn    registry.Connection
		url     string
		header  http.Header
		absent  []string
		members string
	}{
		{"direct", registry.Connection{Auth: key()}, "https://api.anthropic.com/v1/messages", http.Header{"X-Api-Key": {"sk-ant-api03-0123456789"}, "Anthropic-Version": {"2023-06-01"}}, []string{"Authorization"}, `{"model":"claude-3-5-sonnet-20241022","stream":true}`},
		{"oauth token", registry.Connection{Auth: &registry.Auth{Type: registry.Bearer, Token: "sk-ant-oat01-0123"}}, "https://api.anthropic.com/v1/messages", http.Header{"Authorization": {"Bearer sk-ant-oat01-0123"}, "Anthropic-Beta": {"oauth-2025-04-20"}}, []string{"X-Api-Key"}, ""},
		{"gateway", registry.Connection{URI: "http://gateway.test:4000/", Auth: key()}, "http://gateway.test:4000/v1/messages", http.Header{"X-Api-Key": {"sk-ant-api03-0123456789"}, "Authorization": {"Bearer sk-ant-api03-0123456789"}}, nil, ""},
		{"gateway below a path", registry.Connection{URI: "http://gateway.test/claude/v1", Auth: key()}, "http://gateway.test/claude/v1/messages", nil, nil, ""},
		{"own path", registry.Connection{URI: "http://gateway.test/x?team=7", Auth: key()}, "http://gateway.test/x?team=7", nil, nil, ""},
		{"header", registry.Connection{URI: "http://gateway.test/v1/messages", Auth: &registry.Auth{Type: registry.Header, Header: "api-key", Value: "v"}, Headers: map[string]string{"Anthropic-Beta": "a"}}, "http://gateway.test/v1/messages", http.Header{"Api-Key": {"v"}, "Anthropic-Beta": {"a"}}, []string{"Authorization", "X-Api-Key"}, ""},
		{"bedrock key", registry.Connection{URI: "http://elsewhere.test", Model: "us.anthropic.claude-sonnet-4-20250514-v1:0", Auth: &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "us-east-1"}, Headers: map[string]string{"anthropic-beta": "a,b"}}, "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-20250514-v1%3A0/invoke-with-response-stream", http.Header{"Authorization": {"Bearer k"}, "Accept": {"application/vnd.amazon.eventstream"}}, []string{"Anthropic-Version"}, `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["a","b"]}`},
		{"bedrock in China", registry.Connection{Auth: &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "cn-north-1"}}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/claude-3-5-sonnet-20241022/invoke-with-response-stream", nil, nil, ""},
		{"vertex", registry.Connection{URI: "http://elsewhere.test", Model: "claude-sonnet-4@20250514", Auth: &registry.Auth{Type: registry.VertexAccessToken, AccessToken: vertexToken, Project: "acme", Region: "us-east5"}}, "https://us-east5-aiplatform.googleapis.com/v1/projects/acme/locations/us-east5/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict", http.Header{"Authorization": {"Bearer ya29.token"}}, []string{"Anthropic-Version"}, `{"anthropic_version":"vertex-2023-10-16","stream":true}`},
		{"vertex, global", registry.Connection{Auth: &registry.Auth{Type: registry.VertexAccessToken, AccessToken: vertexToken, Project: "acme", Region: "global"}}, "https://aiplatform.googleapis.com/v1/projects/acme/locations/global/publishers/anthropic/models/claude-3-5-sonnet-20241022:streamRawPredict", nil, nil, ""},
		{"vertex, a continent", registry.Connection{Auth: &registry.Auth{Type: registry.VertexAccessToken, AccessToken: vertexToken, Project: "acme", Region: "eu"}}, "https://aiplatform.eu.rep.googleapis.com/v1/projects/acme/locations/eu/publishers/anthropic/models/claude-3-5-sonnet-20241022:streamRawPredict", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			if _, err := llm.Complete(t.Context(), open(t, w, c.conn), llm.Request{Messages: []llm.Message{llm.Text(llm.User, "Hm?")}}); err != nil {
				t.Fatal(err)
			}
			sent := w.sent[0]
			if got := sent.URL.String(); got != c.url {
				t.Errorf("sent to %s, want %s", got, c.url)
			}
			for name, want := range c.header {
				if diff := cmp.Diff(want, sent.Header[name]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			for _, name := range c.absent {
				if got := sent.Header.Get(name); got != "" {
					t.Errorf("%s is %q, want none", name, got)
				}
			}
			body := testkit.Object(t, w.bodies[0])
			if c.members != "" {
				want := testkit.Object(t, c.members)
				for _, name := range []string{"model", "stream", "anthropic_version", "anthropic_beta"} {
					if diff := cmp.Diff(want[name], body[name]); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
				}
			}
		})
	}
}

// What is wrong with a connection is said before anything is called.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	iam := registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "AKID", AWSSecretAccessKey: "s", Region: "us-east-1"}
	with := func(a registry.Auth, set func(*registry.Auth)) *registry.Auth { set(&a); return &a }
	vertex := registry.Auth{Type: registry.VertexAccessToken, AccessToken: "t", Project: "acme", Region: "global"}
	for name, c := range map[string]struct {
		conn registry.Connection
		want string
	}{
		"variant of others":   {registry.Connection{Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}}, "auth.type"},
		"empty token":         {registry.Connection{Auth: &registry.Auth{Type: registry.Bearer}}, "auth.token"},
		"no region":           {registry.Connection{Auth: with(iam, func(a *registry.Auth) { a.Region = "" })}, "auth.region"},
		"region with a host":  {registry.Connection{Auth: with(iam, func(a *registry.Auth) { a.Region = "evil.test/" })}, "auth.region"},
		"region that escapes": {registry.Connection{Auth: with(vertex, func(a *registry.Auth) { a.Region = "x.evil" })}, "auth.region"},
		"project with a path": {registry.Connection{Auth: with(vertex, func(a *registry.Auth) { a.Project = "../other" })}, "auth.project"},
		"secret of two lines": {registry.Connection{Auth: with(iam, func(a *registry.Auth) { a.AWSSecretAccessKey = "a\nb" })}, "auth.aws_secret_access_key"},
		"no key file":         {registry.Connection{Auth: &registry.Auth{Type: registry.VertexServiceAccount, KeyJSON: `{"type":"authorized_user"}`, Project: "acme", Region: "global"}}, "auth.key_json"},
		"no address":          {registry.Connection{URI: "ftp://x", Auth: key()}, "uri"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.conn.Model, c.conn.Type = "m", registry.Anthropic
			_, err := anthropic.New(provider.NewShared(http.DefaultClient), c.conn)
			var f *fault.Fault
			if !errors.As(err, &f) || len(f.Fields) != 1 || f.Fields[c.want] == "" {
				t.Errorf("got %v, want a fault of %s", err, c.want)
			}
		})
	}
}

// The region that is part of a signature is no secret: errors may name the host.
func TestSignatureHidesNoNames(t *testing.T) {
	t.Parallel()
	w := &wire{kind: "application/json", status: http.StatusForbidden, answers: []string{`{"message":"no access to bedrock in us-east-1"}`, ""}}
	_, err := llm.Complete(t.Context(), open(t, w, registry.Connection{Auth: &registry.Auth{Type: registry.BedrockStaticIAM, AWSAccessKeyID: "AKIDEXAMPLE", AWSSecretAccessKey: "wJalrXUtnFEMI", Region: "us-east-1"}}), llm.Request{Messages: ask("?")})
	if err == nil || !strings.Contains(err.Error(), "no access to bedrock in us-east-1") {
		t.Errorf("got %v", err)
	}
	_, signature, _ := strings.Cut(w.sent[0].Header.Get("Authorization"), "Signature=")
	if len(signature) != 64 {
		t.Errorf("signed with %q", signature)
	}
}

// A service account's token is fetched once for many calls, from the endpoint that its key names.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	w := &wire{answers: []string{`{"access_token":"ya29.fetched","expires_in":3600}`, well}, kind: "", status: 200}
	m := open(t, w, registry.Connection{Auth: &registry.Auth{Type: registry.VertexServiceAccount, KeyJSON: googletest.KeyJSON("https://tokens.test/token"), Project: "acme", Region: "us-east5"}})
	for range 2 {
		if _, err := llm.Complete(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Text(llm.User, "Hm?")}}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range w.sent {
		got = append(got, r.URL.Host+" "+r.Header.Get("Authorization"))
	}
	want := []string{"tokens.test ", "us-east5-aiplatform.googleapis.com Bearer ya29.fetched", "us-east5-aiplatform.googleapis.com Bearer ya29.fetched"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// The models of an address are listed as they are registered; OpenAI's list is none.
func TestCatalog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conn        registry.Connection
		answer, url string
		want        registry.Catalog
	}{
		{registry.Connection{URI: "http://gateway.test", Auth: key()}, `{"data":[{"type":"model","id":"claude-x","max_input_tokens":200000},{"type":"model","id":"claude-y"}]}`, "http://gateway.test/v1/models?limit=1000",
			registry.Catalog{URI: "http://gateway.test/v1/messages", Offers: []registry.Offer{{Model: "claude-x", Capabilities: registry.Capabilities{ContextLimit: ref(200000)}}, {Model: "claude-y"}}}},
		{registry.Connection{URI: "http://gateway.test/v1", Auth: key()}, `{"object":"list","data":[{"object":"model","id":"gpt"}]}`, "http://gateway.test/v1/models?limit=1000", registry.Catalog{}},
		{registry.Connection{Auth: &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "us-east-1"}}, "", "", registry.Catalog{}},
	} {
		w := &wire{kind: "application/json", answers: []string{c.answer}}
		got, err := anthropic.Catalog(t.Context(), provider.NewShared(&http.Client{Transport: w}), c.conn)
		if (err != nil) != (c.want.URI == "") {
			t.Errorf("%s: %v", c.conn.URI, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.conn.URI, diff)
		}
		if c.url == "" && len(w.sent) == 0 {
			continue
		}
		if w.sent[0].URL.String() != c.url || w.sent[0].Header.Get("Anthropic-Version") == "" {
			t.Errorf("%s: asked %s", c.conn.URI, w.sent[0].URL)
		}
	}
}
