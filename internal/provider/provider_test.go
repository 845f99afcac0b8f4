package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
)

const secret = "sk-proj-4f9aQ7x/Zk+2Lm=8"

// serve returns a client of a connection with bearer credentials to a server of h.
func serve(t *testing.T, h http.HandlerFunc, change func(*registry.Connection)) (*provider.Client, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	conn := registry.Connection{Name: "mine", Type: registry.OpenAI, Auth: &registry.Auth{Type: registry.Bearer, Token: secret}}
	if change != nil {
		change(&conn)
	}
	c, err := provider.NewClient(provider.NewShared(server.Client()), conn, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, server.URL
}

func failure(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error", err)
	}
	return e
}

// TestCallCarries proves what a call carries: method, body, headers of the wire format below those of the connection, credentials on top.
func TestCallCarries(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	c, at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}, func(c *registry.Connection) {
		c.Headers = map[string]string{"x-version": "theirs", "X-Team": "search"}
	})
	resp, err := c.Do(t.Context(), provider.Call{URL: at, Body: map[string]any{"a": 1}, Header: http.Header{"X-Version": {"ours"}, "X-Format": {"f"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	var answer struct{ OK bool }
	if err := resp.JSON(&answer); err != nil || !answer.OK {
		t.Fatalf("answer %v, %v", answer, err)
	}
	want := map[string]string{"Authorization": "Bearer " + secret, "X-Version": "theirs", "X-Team": "search", "X-Format": "f", "Content-Type": "application/json", "Accept": "application/json", "Content-Length": "7"}
	for name, value := range want {
		if got.Header.Get(name) != value {
			t.Errorf("%s: got %q, want %q", name, got.Header.Get(name), value)
		}
	}
	if got.Method != "POST" || body != `{"a":1}` {
		t.Errorf("%s %s", got.Method, body)
	}
	if r, err := c.Do(t.Context(), provider.Call{URL: at}); err != nil || got.Method != "GET" || body != "" {
		t.Errorf("a call without a body: %v %s %q", err, got.Method, body)
	} else {
		r.Close()
	}
}

// TestConnectionIsChecked proves that what cannot be called is a fault of the field that is wrong.
func TestConnectionIsChecked(t *testing.T) {
	t.Parallel()
	for field, conn := range map[string]registry.Connection{
		"auth.type":               {Auth: &registry.Auth{Type: registry.ServiceAccount}},
		"auth.token":              {Auth: &registry.Auth{Type: registry.Bearer, Token: "a\nb"}},
		"auth.header":             {Auth: &registry.Auth{Type: registry.Header, Header: "a b", Value: "x"}},
		"auth.value":              {Auth: &registry.Auth{Type: registry.Header, Header: "api-key"}},
		"auth.token_endpoint":     {Auth: &registry.Auth{Type: registry.ClientCredentials, ClientID: "a", ClientSecret: "b", TokenEndpoint: "ftp://x"}},
		"auth.client_id":          {Auth: &registry.Auth{Type: registry.ClientCredentials, ClientSecret: "b", TokenEndpoint: "http://x"}},
		"auth.client_secret":      {Auth: &registry.Auth{Type: registry.ClientCredentials, ClientID: "a", TokenEndpoint: "http://x"}},
		"auth.client_auth_method": {Auth: &registry.Auth{Type: registry.ClientCredentials, ClientID: "a", ClientSecret: "b", TokenEndpoint: "http://x", ClientAuthMethod: "tls"}},
		"headers.Content-Length":  {Headers: map[string]string{"Content-Length": "1"}},
		"headers.X-A":             {Headers: map[string]string{"X-A": "1\r\nB: 2"}},
		"headers.":                {Headers: map[string]string{"": "1"}},
	} {
		_, err := provider.NewClient(provider.NewShared(http.DefaultClient), conn, nil)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Fields[field] == "" {
			t.Errorf("%s: got %v", field, err)
		}
	}
	for _, uri := range []string{"", "x", "ftp://a", "http://", "http://u:p@h/", "://", "http://[::1"} {
		if _, err := provider.ParseURI(uri); err == nil {
			t.Errorf("the address %q was taken", uri)
		}
	}
	if u, err := provider.ParseURI(" https://h:8/v1?x=1#f "); err != nil || u.String() != "https://h:8/v1?x=1" {
		t.Errorf("got %v, %v", u, err)
	}
}

// TestStatuses proves what each status of a provider means, and that its message and its wish to wait arrive.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		header map[string]string
		body   string
		want   llm.Error
	}{
		{400, nil, `{"error":{"message":"bad model","type":"invalid_request_error"}}`, llm.Error{Failure: llm.Rejected, Text: "bad model"}},
		{404, nil, `{"error":"model 'x' not found"}`, llm.Error{Failure: llm.Rejected, Text: "model 'x' not found"}},
		{401, nil, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.Error{Failure: llm.Rejected, Text: "invalid x-api-key"}},
		{403, nil, `{"message":"no access"}`, llm.Error{Failure: llm.Rejected, Text: "no access"}},
		{422, nil, `{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too long"}]}`, llm.Error{Failure: llm.Rejected, Text: "field required; too long"}},
		{400, nil, `[{"error":{"code":400,"message":"no such model","status":"INVALID_ARGUMENT"}}]`, llm.Error{Failure: llm.Rejected, Text: "no such model"}},
		{408, nil, ``, llm.Error{Failure: llm.TimedOut}},
		{504, nil, `upstream`, llm.Error{Failure: llm.TimedOut, Text: "upstream"}},
		{500, nil, `{"weird":true}`, llm.Error{Failure: llm.Broken}},
		{529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Error{Failure: llm.Broken, Text: "Overloaded"}},
		{502, map[string]string{"Content-Type": "text/html"}, `<html><head><title>502 Bad Gateway</title></head><body>secret page</body>`, llm.Error{Failure: llm.Broken, Text: `it answered with a web page, "502 Bad Gateway"`}},
		{429, map[string]string{"Retry-After": "7"}, `{"error":{"message":"slow"}}`, llm.Error{Failure: llm.Limited, Text: "slow", After: 7 * time.Second}},
		{429, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, ``, llm.Error{Failure: llm.Limited, After: 1500 * time.Millisecond}},
		{503, map[string]string{"Retry-After": "3"}, ``, llm.Error{Failure: llm.Broken, After: 3 * time.Second}},
		{302, nil, ``, llm.Error{Failure: llm.Broken}},
	} {
		c.want.Status, c.want.Model = c.status, "mine"
		client, at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for k, v := range c.header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}, nil)
		_, err := client.Do(t.Context(), provider.Call{URL: at, Body: 1})
		if d := cmp.Diff(&c.want, failure(t, err)); d != "" {
			t.Errorf("%d %s: %s", c.status, c.body, d)
		}
	}
}

// TestRetryAfter proves that every way of saying when to come again is understood, and none can make us wait for ever.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		{nil, "", 0},
		{map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, "", 30 * time.Second},
		{map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, "", 0},
		{map[string]string{"Retry-After": "soon"}, "", 0},
		{map[string]string{"Retry-After": "-5"}, "", 0},
		{map[string]string{"Retry-After": "NaN"}, "", 0},
		{map[string]string{"Retry-After": "99999999"}, "", 24 * time.Hour},
		{map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s", "X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Requests": "20h", "X-Ratelimit-Remaining-Requests": "5"}, "", 6 * time.Minute},
		{map[string]string{"Anthropic-Ratelimit-Tokens-Reset": "2026-03-01T12:00:09Z", "Anthropic-Ratelimit-Tokens-Remaining": "0"}, "", 9 * time.Second},
		{map[string]string{"X-Ratelimit-Reset": strconv.FormatInt(now.Unix()+5, 10), "X-Ratelimit-Remaining": "0"}, "", 5 * time.Second},
		{nil, `{"error":{"details":[{"@type":"x"},{"retryDelay":"31s"}]}}`, 31 * time.Second},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if got := provider.RetryAfter(h, []byte(c.body), now); got != c.want {
			t.Errorf("%v %s: got %s, want %s", c.header, c.body, got, c.want)
		}
	}
}

// TestSecretsAreNotPassedOn proves that no echo of the credentials comes through a provider's error, in no form that servers echo in.
func TestSecretsAreNotPassedOn(t *testing.T) {
	t.Parallel()
	long := "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----\n"
	key, _ := json.Marshal(map[string]string{"type": "service_account", "project_id": "my-project", "private_key": long})
	quoted, _ := json.Marshal(secret)
	clean := provider.NewCleaner(secret, "tiny5", "ab", string(key))
	for _, c := range []struct{ in, want string }{
		{"key " + secret + " is wrong", "key **** is wrong"},
		{"Bearer " + strings.ToUpper(secret), "Bearer ****"},
		{"got " + base64.StdEncoding.EncodeToString([]byte("user:"+secret)), ""},
		{"got " + base64.StdEncoding.EncodeToString([]byte("us:"+secret+"x")), ""},
		{"got " + base64.URLEncoding.EncodeToString([]byte("u:"+secret)), ""},
		{"got ?key=" + url.QueryEscape(secret), "got ?key=****"},
		{"got " + url.PathEscape(secret), ""},
		{"got " + string(quoted), `got "****"`},
		{"got " + fmt.Sprintf("%x", secret), "got ****"},
		{"starts with " + secret[:9] + "!", "starts with ****!"},
		{"ends with " + secret[len(secret)-8:], "ends with ****"},
		{"Incorrect API key provided: sk-pr********Lm=8.", "Incorrect API key provided: ****=8."},
		{"key sk-...8 is wrong", "key **** is wrong"},
		{"key sk-p… is wrong", "key **** is wrong"},
		{"well... yes", "well... yes"},
		{"short tiny5 one, ab is masked, abc is not", "short **** one, **** is masked, abc is not"},
		{"line BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj of my-project", "line **** of my-project"},
		{"our own zut_0123456789abcdefghijklmnop too", "our own zut_**** too"},
		{"got " + each(secret, "%%%02X"), "got ****"},
		{"got " + each(secret, `\u%04x`), "got ****"},
		{"got " + each(secret, `\\u%04X`), `got \****`},
		{"got " + each(secret, `\x%02x`), "got ****"},
		{"got " + each(secret, "&#%d;"), "got ****"},
		{"got " + each(secret, "&#x%x;"), "got ****"},
		{"got " + each(secret, "%02x "), "got ****"},
		{"got " + each(secret, "%c "), "got ****"},
		{"got " + each(secret, "%c-"), "got ****"},
		{"got " + each(secret, "%c\u200b"), "got ****"},
		{"got " + secret[:10] + "\n" + secret[10:], "got **** ****"},
		{`100 % sure, C:\users\xerox, a &# b; \u`, `100 % sure, C:\users\xerox, a &# b; \u`},
		{"two\nlines\x00and\ttabs\u202e", "two lines and tabs"},
	} {
		got := clean.Text(c.in)
		if c.want != "" && got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
		if !strings.Contains(got, "****") && c.want == "" {
			t.Errorf("%q: nothing was masked: %q", c.in, got)
		}
	}
	if got := clean.Text(strings.Repeat("é", 5000)); len([]rune(got)) != 1001 {
		t.Errorf("a long text has %d characters", len([]rune(got)))
	}
	if got := clean.Text(strings.Repeat(secret, 3)); got != "****" {
		t.Errorf("three in a row: %q", got)
	}
}

// each writes every byte of s in a format.
func each(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// FuzzCleaner proves that no piece of eight characters of a secret comes through, whatever stands around it.
func FuzzCleaner(f *testing.F) {
	f.Add("before ", " after", "0123456789secret", 0, 16)
	f.Fuzz(func(t *testing.T, before, after, key string, from, to int) {
		key = strings.TrimSpace(key)
		if len(key) < 8 || strings.ContainsAny(key, "*{\r\n") || from < 0 || to > len(key) || to-from < 8 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return
		}
		got := provider.NewCleaner(key).Text(before + key[from:to] + after)
		for i := 0; i+8 <= len(key); i++ {
			if strings.Contains(got, key[i:i+8]) {
				t.Fatalf("%q holds %q", got, key[i:i+8])
			}
		}
	})
}

// TestEchoOfTheCredentials proves that a server which answers with the headers of the call tells nobody the credentials,
// be they of the connection, of its headers, of its address, or a token that was fetched.
func TestEchoOfTheCredentials(t *testing.T) {
	t.Parallel()
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_, _ = io.WriteString(w, `{"access_token":"tok-abcdefghijkl","expires_in":60}`)
			return
		}
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, "you sent %v to %s", r.Header, r.URL)
	}
	server := httptest.NewServer(http.HandlerFunc(h))
	t.Cleanup(server.Close)
	auths := []*registry.Auth{
		{Type: registry.Bearer, Token: secret}, {Type: registry.Header, Header: "x-gate", Value: secret},
		{Type: registry.ClientCredentials, ClientID: "me", ClientSecret: secret, TokenEndpoint: server.URL + "/token"},
	}
	for _, a := range auths {
		conn := registry.Connection{Name: "m", URI: server.URL + "/?api-key=query-secret-1", Auth: a, Headers: map[string]string{"X-Api-Key": "header-secret-1"}}
		c, err := provider.NewClient(provider.NewShared(server.Client()), conn, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), provider.Call{URL: conn.URI, Body: 1})
		e := failure(t, err)
		for _, s := range []string{secret, "query-secret", "header-secret", "tok-abcdefgh"} {
			if strings.Contains(e.Error(), s) || strings.Contains(fmt.Sprint(e.Cause), s) {
				t.Errorf("%s: %q holds %q", a.Type, e.Error(), s)
			}
		}
		if !strings.Contains(e.Text, "you sent") {
			t.Errorf("%s: the message is lost: %q", a.Type, e.Text)
		}
	}
}

// TestClientCredentials proves the requests of both methods, that a token is fetched once for many calls and connections, again before it
// ends, and once after a 401.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []url.Values
	var basics []string
	valid, refuse := "", false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/token" {
			_ = r.ParseForm()
			asked = append(asked, r.PostForm)
			basics = append(basics, r.Header.Get("Authorization"))
			if r.Header.Get("X-Team") != "" {
				t.Error("headers of the connection went to the token endpoint")
			}
			valid = fmt.Sprintf("token-%d", len(asked))
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"expires_in":"3600"}`, valid)
			return
		}
		if refuse || r.Header.Get("Authorization") != "Bearer "+valid {
			w.WriteHeader(401)
		}
	}))
	t.Cleanup(server.Close)
	shared := provider.NewShared(server.Client())
	call := func(a registry.Auth) error {
		a.Type, a.ClientID, a.ClientSecret, a.TokenEndpoint = registry.ClientCredentials, "me:", "s p", server.URL+"/token"
		c, err := provider.NewClient(shared, registry.Connection{Auth: &a, Headers: map[string]string{"X-Team": "a"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(t.Context(), provider.Call{URL: server.URL, Body: 1})
		if err == nil {
			resp.Close()
		}
		return err
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if err := call(registry.Auth{Scopes: []string{"a", "b"}}); err != nil {
				t.Error(err)
			}
		})
	}
	together.Wait()
	if d := cmp.Diff([]url.Values{{"grant_type": {"client_credentials"}, "scope": {"a b"}}}, asked); d != "" {
		t.Errorf("eight calls at once asked: %s", d)
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me%3A:s+p")); basics[0] != want {
		t.Errorf("got %q, want %q", basics[0], want)
	}
	valid = "another"
	if err := call(registry.Auth{Scopes: []string{"a", "b"}}); err != nil || len(asked) != 2 {
		t.Errorf("after a 401: %v, %d tokens asked for, want 2", err, len(asked))
	}
	if err := call(registry.Auth{ClientAuthMethod: "client_secret_post", Audience: "aud"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(url.Values{"grant_type": {"client_credentials"}, "audience": {"aud"}, "client_id": {"me:"}, "client_secret": {"s p"}}, asked[2]); d != "" || basics[2] != "" {
		t.Errorf("post: %s %q", d, basics[2])
	}
	refuse = true
	if e := failure(t, call(registry.Auth{})); e.Failure != llm.Rejected || e.Status != 401 || len(asked) != 5 {
		t.Errorf("refused for good: %v after %d tokens, want a rejection after one renewal", e, len(asked))
	}
}

// TestTokensEnd proves that a token is fetched again before it ends, within a minute of it.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			body := "{}"
			if r.URL.Path == "/token" {
				n++
				body = `{"access_token":"abc","expires_in":600}`
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
		})}
		c, err := provider.NewClient(provider.NewShared(client), registry.Connection{Auth: &registry.Auth{
			Type: registry.ClientCredentials, ClientID: "a", ClientSecret: "b", TokenEndpoint: "http://h/token",
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {530 * time.Second, 1}, {20 * time.Second, 2}} {
			time.Sleep(step.wait)
			resp, err := c.Do(t.Context(), provider.Call{URL: "http://h/", Body: 1})
			if err != nil {
				t.Fatal(err)
			}
			resp.Close()
			if n != step.want {
				t.Errorf("after %s: %d tokens fetched, want %d", step.wait, n, step.want)
			}
		}
	})
}

// TestTokenEndpointFails proves that a failure of the token endpoint says that it is one, and tells no secret.
func TestTokenEndpointFails(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":"invalid_client","error_description":"bad secret ` + secret + `"}`: "the token endpoint failed: bad secret ****",
		`{}`: "the token endpoint failed: its answer has no access_token",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if strings.Contains(body, "error") {
				w.WriteHeader(401)
			}
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(server.Close)
		c, err := provider.NewClient(provider.NewShared(server.Client()), registry.Connection{Auth: &registry.Auth{
			Type: registry.ClientCredentials, ClientID: "a", ClientSecret: secret, TokenEndpoint: server.URL,
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Do(t.Context(), provider.Call{URL: server.URL, Body: 1})
		if e := failure(t, err); e.Text != want {
			t.Errorf("got %q, want %q", e.Text, want)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// pipe is a body of a server under the control of the test; it ends with the call's context, as those of net/http do.
func pipe(ctx context.Context) (*io.PipeReader, *io.PipeWriter) {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	return r, w
}

// TestSilence proves that silence beyond the idle timeout is a timeout: before the answer, within it, and not while the reader
// takes its time or the body is on its way.
func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		never := client(t, 20*time.Second, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := never.Do(t.Context(), provider.Call{URL: "http://h/", Body: 1})
		if e := failure(t, err); e.Failure != llm.TimedOut || time.Since(start) != 20*time.Second || e.Text != "nothing was heard for 20s" {
			t.Errorf("never answered: %v after %s", e, time.Since(start))
		}

		var w *io.PipeWriter
		slow := client(t, 20*time.Second, func(r *http.Request) (*http.Response, error) {
			body := r.Body
			for range 3 { // a body that takes a minute to send is no silence
				time.Sleep(19 * time.Second)
				_, _ = body.Read(make([]byte, 1))
			}
			var out *io.PipeReader
			out, w = pipe(r.Context())
			return &http.Response{StatusCode: 200, Body: out}, nil
		})
		resp, err := slow.Do(t.Context(), provider.Call{URL: "http://h/", Body: "long"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) // the caller takes its time
		go func() { _, _ = io.WriteString(w, "data: 1\n\n") }()
		n := 0
		for _, err = range resp.Events() {
			if err == nil {
				n++
				time.Sleep(time.Hour)
			}
		}
		if e := failure(t, err); e.Failure != llm.TimedOut || n != 1 {
			t.Errorf("silent within: %v after %d events", e, n)
		}
		resp.Close()
	})
}

func client(t *testing.T, idle time.Duration, f transport) *provider.Client {
	t.Helper()
	c, err := provider.NewClient(provider.NewShared(&http.Client{Transport: f}), registry.Connection{Name: "mine", Idle: idle}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCancelled proves that the end of the caller's context ends the call at once and is told with its cause, before the answer and within it.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("the client left")
		upstream := make(chan struct{}, 2)
		c := client(t, time.Minute, func(r *http.Request) (*http.Response, error) {
			context.AfterFunc(r.Context(), func() { upstream <- struct{}{} })
			if r.URL.Path == "/never" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			body, _ := pipe(r.Context())
			return &http.Response{StatusCode: 200, Body: body}, nil
		})
		for _, path := range []string{"/never", "/stream"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			start := time.Now()
			time.AfterFunc(time.Second, func() { cancel(left) })
			resp, err := c.Do(ctx, provider.Call{URL: "http://h" + path, Body: 1})
			if err == nil {
				for _, err = range resp.Events() {
				}
				resp.Close()
			}
			<-upstream
			if !errors.Is(err, left) || time.Since(start) != time.Second {
				t.Errorf("%s: got %v after %s", path, err, time.Since(start))
			}
		}
	})
}

type refusedByGuard struct{}

func (refusedByGuard) Error() string { return "169.254.169.254 is a link-local address" }
func (refusedByGuard) Blocked() bool { return true }

// TestNoConnection proves that what keeps a connection from coming about is told in plain words.
func TestNoConnection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want llm.Failure
		text string
	}{
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, llm.Unreachable, "no connection: connection refused"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errors.New("no route"))}, llm.Unreachable, "no connection: no route"},
		{&url.Error{Op: "Post", URL: "https://h/?key=abcdefghij", Err: http.ErrSchemeMismatch}, llm.Unreachable, "it does not speak TLS: is the address one of http:// rather than https://?"},
		{&net.DNSError{Name: "nowhere.example", IsNotFound: true}, llm.Unreachable, `the host name "nowhere.example" is not known`},
		{io.EOF, llm.Unreachable, "the connection broke before an answer came"},
		{fmt.Errorf("dial: %w", refusedByGuard{}), llm.Blocked, "169.254.169.254 is a link-local address"},
		{errors.New("odd " + secret), llm.Unreachable, "odd " + secret},
	} {
		_, err := client(t, time.Minute, func(*http.Request) (*http.Response, error) { return nil, c.err }).
			Do(t.Context(), provider.Call{URL: "http://h/?key=abcdefghij", Body: 1})
		e := failure(t, err)
		if e.Failure != c.want || e.Text != c.text || e.Cause == nil || strings.Contains(e.Cause.Error(), "abcdefghij") {
			t.Errorf("%v: got %v (%s)", c.err, e, e.Cause)
		}
	}
}

// TestStreams proves that an event stream is told from JSON whatever the type that the server states, and that pages are neither.
func TestStreams(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, body string
		stream     bool
		text       string
	}{
		{"text/event-stream; charset=utf-8", "data: 1\n\n", true, ""},
		{"application/json", `{}`, false, ""},
		{"text/plain", "\n data: 1\n\n", true, ""},
		{"", ": comment\n\n", true, ""},
		{"application/octet-stream", "  {}", false, ""},
		{"text/html", "<!doctype html><title>Sign in</title>", false, `it answered with a web page, "Sign in"; is the address right?`},
		{"text/plain", "hello there", false, "its answer is not in the form that its type speaks"},
	} {
		client := client(t, time.Minute, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(strings.NewReader(c.body))}, nil
		})
		resp, err := client.Do(t.Context(), provider.Call{URL: "http://h/", Body: 1, Accept: provider.Stream})
		if err != nil {
			t.Fatal(err)
		}
		stream, err := resp.Streams()
		if c.text != "" {
			if e := failure(t, err); e.Failure != llm.Broken || e.Text != c.text || e.Retriable() {
				t.Errorf("%s: got %v", c.kind, e)
			}
			continue
		}
		rest, _ := resp.All()
		if err != nil || stream != c.stream || string(rest) != c.body {
			t.Errorf("%s %q: got %v, %v and then %q", c.kind, c.body, stream, err, rest)
		}
	}
}

// endless gives the same bytes for ever.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }
func (e endless) Close() error               { return nil }

// TestAnswersAreBounded proves that an endless answer ends with a failure that is not tried again.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"data: 123456789\n\n", strings.Repeat("x", 4096)} {
		c := client(t, time.Minute, func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: endless{text}}, nil
		})
		resp, err := c.Do(t.Context(), provider.Call{URL: "http://h/", Body: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range resp.Events() {
		}
		if e := failure(t, err); e.Failure != llm.Broken || e.Retriable() {
			t.Errorf("got %v", e)
		}
	}
}

// TestErrorsInStreams proves what an error object within a stream means.
func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	c := client(t, time.Minute, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
	})
	resp, err := c.Do(t.Context(), provider.Call{URL: "http://h/", Body: 1})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]llm.Error{
		`{"error":{"message":"busy","type":"overloaded_error"}}`:                                         {Failure: llm.Broken, Text: "busy"},
		`{"error":{"message":"slow","code":429}}`:                                                        {Failure: llm.Limited, Status: 429, Text: "slow"},
		`{"error":{"message":"slow","code":"rate_limit_exceeded"}}`:                                      {Failure: llm.Limited, Text: "slow"},
		`{"error":{"message":"long","code":"context_length_exceeded","type":"invalid_request_error"}}`:   {Failure: llm.Rejected, Text: "long"},
		`{"error":{"code":503,"message":"down","status":"UNAVAILABLE","details":[{"retryDelay":"2s"}]}}`: {Failure: llm.Broken, Status: 503, Text: "down"},
		`{"error":{"status":"RESOURCE_EXHAUSTED","message":"quota","details":[{"retryDelay":"2s"}]}}`:    {Failure: llm.Limited, Text: "quota", After: 2 * time.Second},
		`{"type":"error","code":"server_error","message":"oops"}`:                                        {Failure: llm.Broken, Text: "oops"},
		`nonsense`: {Failure: llm.Broken, Text: "nonsense"},
	} {
		want.Model = "mine"
		if d := cmp.Diff(&want, resp.Reported([]byte(in))); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
}

// TestCutOff proves that an answer which was cut off has no reason of its own, and usage only if some of it was passed on or the provider
// told it; one that is complete has both.
func TestCutOff(t *testing.T) {
	t.Parallel()
	c := client(t, time.Minute, func(*http.Request) (*http.Response, error) { return nil, io.EOF })
	r := llm.Request{Messages: []llm.Message{llm.Text(llm.User, "What does the crane lift?")}}
	broken := errors.New("broken")
	for name, made := range map[string]struct {
		make      func(b *provider.Builder) (llm.Answer, error)
		reason    llm.Reason
		estimated bool
	}{
		"not begun": {func(b *provider.Builder) (llm.Answer, error) { return b.Fail(broken) }, "", false},
		"begun": {func(b *provider.Builder) (llm.Answer, error) {
			_ = b.Text("Twelve")
			return b.Fail(broken)
		}, "", true},
		"told": {func(b *provider.Builder) (llm.Answer, error) {
			b.Answer.Usage, b.Answer.Reason = llm.Usage{Input: 7}, llm.Length
			return b.Fail(broken)
		}, llm.Length, false},
		"empty":    {func(b *provider.Builder) (llm.Answer, error) { return b.Done() }, llm.Stop, true},
		"complete": {func(b *provider.Builder) (llm.Answer, error) { _ = b.Text("Twelve"); return b.Done() }, llm.Stop, true},
	} {
		a, _ := made.make(c.NewBuilder(r, func(llm.Event) error { return nil }))
		if a.Reason != made.reason || a.Usage.Estimated != made.estimated || (name == "not begun") != (a.Usage.Input == 0) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// FuzzMessage proves that any error body is read without a panic and gives text.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"a"}}`, `[{"error":"x"}]`, `{"detail":[{"msg":"a"}]}`, `{"errors":[[[[]]]]}`, "plain", `"x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(provider.Message(in)) > 6*len(in)+16 {
			t.Fatal("the message is larger than the body")
		}
	})
}

// TestRefusalsAreCleaned proves that what a model says in refusing is passed on without secrets and within bounds, and
// that an answer in one piece is bounded.
func TestRefusalsAreCleaned(t *testing.T) {
	t.Parallel()
	c, at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"x":"`+strings.Repeat("x", 17<<20)+`"}`)
	}, nil)
	b := c.NewBuilder(llm.Request{}, func(llm.Event) error { return nil })
	for range 1000 {
		b.Refuse("I won't, " + secret + "; ")
	}
	b.Answer.Reason = llm.Refused
	a, err := b.Done()
	if err != nil || strings.Contains(a.Refusal, secret[:8]) || !strings.HasPrefix(a.Refusal, "I won't, ****; ") || len(a.Refusal) > 1100 {
		t.Errorf("%v, %q", err, a.Refusal)
	}
	resp, err := c.Do(t.Context(), provider.Call{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	var v map[string]any
	if e := failure(t, resp.JSON(&v)); e.Failure != llm.Broken || !strings.Contains(e.Text, "larger than 16 MiB") {
		t.Errorf("%v", e)
	}
}
