package httpapi_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/origin"
)

// cors returns a function that sends a request with pairs of headers to a server of a setting and returns the headers of
// the answer; the status stands under ":status".
func cors(t *testing.T, setting string, handlers area) func(method, path string, header ...string) http.Header {
	t.Helper()
	var texts []string
	if setting != "" {
		texts = strings.Split(setting, ",")
	}
	origins, err := origin.Parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := httpapi.New(httpapi.Config{
		Authenticate: authenticate, Areas: []httpapi.Area{handlers}, Origins: origins,
		Log: slog.New(slog.DiscardHandler), MaxJSON: 1 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path string, header ...string) http.Header {
		t.Helper()
		r := request(t, method, path, "")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		h := w.Header().Clone()
		h[":status"] = []string{http.StatusText(w.Code)}
		return h
	}
}

// TestPreflight proves that a browser's question is answered for every route of the contract, without a credential,
// with the methods of the path and the headers that clients send; that a foreign origin is refused; and that nothing
// of it happens without the setting.
func TestPreflight(t *testing.T) {
	t.Parallel()
	ask := cors(t, "https://app.example.com", area{})
	const origin = "https://app.example.com"
	for _, op := range api.Operations {
		h := ask("OPTIONS", fill(op.Path), "Origin", origin, "Access-Control-Request-Method", op.Method)
		if h.Get(":status") != "No Content" || h.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("%s: %v", op.ID, h)
		}
		if !slices.Contains(strings.Split(h.Get("Access-Control-Allow-Methods"), ", "), op.Method) {
			t.Errorf("%s: methods %q lack %s", op.ID, h.Get("Access-Control-Allow-Methods"), op.Method)
		}
	}
	h := ask("OPTIONS", "/v2/corpora", "Origin", origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-api-key,x-evil, X-Fern-Language,X-Stainless-Lang,x-fern-a b,content-type")
	for name, want := range map[string]string{
		"Access-Control-Allow-Methods":     "GET, HEAD, POST",
		"Access-Control-Allow-Headers":     "x-api-key, authorization, content-type, request-timeout, request-timeout-millis, x-evil, x-fern-language, x-stainless-lang",
		"Access-Control-Max-Age":           "7200",
		"Access-Control-Allow-Credentials": "",
		"Cache-Control":                    "no-store",
		"Cdn-Cache-Control":                "no-store",
		"X-Content-Type-Options":           "nosniff",
		"Content-Type":                     "",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if vary := h.Values("Vary"); !slices.Contains(vary, "Origin") {
		t.Errorf("Vary: %q", vary)
	}
	if h := ask("OPTIONS", "/v2/nothing", "Origin", origin, "Access-Control-Request-Method", "PUT"); h.Get(":status") != "No Content" || !strings.Contains(h.Get("Access-Control-Allow-Methods"), "PUT") {
		t.Errorf("unknown path: %v", h)
	}
	foreign := ask("OPTIONS", "/v2/corpora", "Origin", "https://evil.test", "Access-Control-Request-Method", "GET")
	if foreign.Get(":status") != "Forbidden" || foreign.Get("Access-Control-Allow-Origin") != "" || foreign.Get("Vary") != "Origin" {
		t.Errorf("foreign origin: %v", foreign)
	}
	if h := ask("OPTIONS", "/v2/corpora", "Origin", origin); h.Get(":status") != "Method Not Allowed" || h.Get("Allow") == "" {
		t.Errorf("OPTIONS that is no preflight: %v", h)
	}
	unset := cors(t, "", area{})("OPTIONS", "/v2/corpora", "Origin", origin, "Access-Control-Request-Method", "GET")
	for name := range unset {
		if strings.HasPrefix(name, "Access-Control") || name == "Vary" {
			t.Errorf("without the setting %s is sent", name)
		}
	}
}

// TestPreflightOfPublishedClients proves that a page of an allowed origin may send every header that published clients
// send, in the lists that browsers make of them; that what is no header name is not repeated; and that the answer stays
// small whatever is asked.
func TestPreflightOfPublishedClients(t *testing.T) {
	t.Parallel()
	const page = "https://app.example.com"
	ask := cors(t, page, area{})
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprintf("x-h%d", i))
	}
	always := []string{"x-api-key", "authorization", "content-type", "request-timeout", "request-timeout-millis"}
	for _, c := range []struct {
		client, asked string
		more          []string // granted beyond always
	}{
		{"the streaming client", "content-type,customer-id,x-api-key", []string{"customer-id"}},
		{"the search widget", "authorization,content-type,customer-id,x-source", []string{"customer-id", "x-source"}},
		{
			"the TypeScript client in Chromium",
			"authorization,content-type,request-timeout,x-api-key,x-fern-language,x-fern-runtime,x-fern-runtime-version,x-fern-sdk-name,x-fern-sdk-version",
			[]string{"x-fern-language", "x-fern-runtime", "x-fern-runtime-version", "x-fern-sdk-name", "x-fern-sdk-version"},
		},
		{
			"the TypeScript client where User-Agent may be set",
			"user-agent,x-api-key,x-fern-language", []string{"user-agent", "x-fern-language"},
		},
		{"any spelling", " Customer-Id\t,CUSTOMER-ID,, X-API-KEY", []string{"customer-id"}},
		{"all that a token may hold", "a!#$%&'*+-.^_`|~9", []string{"a!#$%&'*+-.^_`|~9"}},
		{"no names", "a b,x:y,\"q\",é,(c),x\x7f,*/,x;y," + strings.Repeat("n", 65), nil},
		{"a longest name", strings.Repeat("n", 64), []string{strings.Repeat("n", 64)}},
		{"too many", strings.Join(many, ","), many[:50]},
		{"nothing", "", nil},
	} {
		h := ask("OPTIONS", "/v2/query", "Origin", page, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", c.asked)
		want := strings.Join(append(slices.Clone(always), c.more...), ", ")
		if got := h.Get("Access-Control-Allow-Headers"); h.Get(":status") != "No Content" || got != want {
			t.Errorf("%s: %s %q, want %q", c.client, h.Get(":status"), got, want)
		}
		foreign := ask("OPTIONS", "/v2/query", "Origin", "https://evil.test", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", c.asked)
		if foreign.Get(":status") != "Forbidden" || foreign.Get("Access-Control-Allow-Headers") != "" {
			t.Errorf("%s, foreign origin: %v", c.client, foreign)
		}
	}
}

// TestCORSOnEveryAnswer proves that pages of an allowed origin can read every answer, errors too, with its request id
// and when to try again, and that caches keep the answers for different origins apart.
func TestCORSOnEveryAnswer(t *testing.T) {
	t.Parallel()
	ask := cors(t, "https://app.example.com", area{
		"listCorpora": seen,
		"getCorpus":   func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic("of a handler") },
		"queryCorpus": func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			return nil
		},
	})
	for _, c := range []struct{ method, path, key, status string }{
		{"GET", "/v2/corpora", ownerKey, "OK"},
		{"GET", "/v2/corpora", "wrong", "Unauthorized"},
		{"GET", "/v2/corpora", noneKey, "Forbidden"},
		{"GET", "/v2/corpora?limit=x", ownerKey, "Bad Request"},
		{"GET", "/v2/nothing", ownerKey, "Not Found"},
		{"PUT", "/v2/corpora", ownerKey, "Method Not Allowed"},
		{"DELETE", "/v2/corpora/a", ownerKey, "Not Implemented"},
		{"GET", "/v2/corpora/a", ownerKey, "Internal Server Error"},
		{"POST", "/v2/corpora/a/query", ownerKey, "Bad Request"},
	} {
		h := ask(c.method, c.path, "Origin", "https://app.example.com", "X-Api-Key", c.key)
		if h.Get(":status") != c.status || h.Get("Access-Control-Allow-Origin") != "https://app.example.com" || h.Get("Vary") != "Origin" ||
			!strings.HasPrefix(h.Get("Access-Control-Expose-Headers"), "X-Request-Id, Retry-After, X-RateLimit-Limit") || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s %s: %v", c.method, c.path, h)
		}
		if h := ask(c.method, c.path, "X-Api-Key", c.key); h.Get("Vary") != "Origin" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s without an origin: %v", c.method, c.path, h)
		}
	}
}

// TestNoStoreEverywhere proves that no answer may be kept by a cache or read as another type than it is, whichever way
// it came to be.
func TestNoStoreEverywhere(t *testing.T) {
	t.Parallel()
	fails := func(err any) httpapi.Handler {
		return func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic(err) }
	}
	s := start(t, area{
		"listCorpora": seen, "getCorpus": fails("of a handler"), "queryCorpus": func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			return nil
		},
		"deleteCorpus": func(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
			w.WriteHeader(http.StatusNoContent)
			return nil
		},
		"resetCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { return nil },
	})
	for _, c := range []struct {
		method, path, body, key string
		status                  int
	}{
		{"GET", "/v2/corpora", "", ownerKey, 200},
		{"HEAD", "/v2/corpora", "", ownerKey, 200},
		{"POST", "/v2/corpora/mine/query", `{"query":"x","search":{}}`, ownerKey, 200},
		{"DELETE", "/v2/corpora/mine", "", ownerKey, 204},
		{"POST", "/v2/corpora/mine/reset", "", ownerKey, 200},
		{"GET", "/v2/corpora?limit=x", "", ownerKey, 400},
		{"GET", "/v2/corpora", "", "wrong", 401},
		{"GET", "/v2/corpora", "", noneKey, 403},
		{"GET", "//", "", ownerKey, 404},
		{"GET", "/v2/../etc/passwd", "", ownerKey, 404},
		{"GET", "/v2/corpora/gone", "", ownerKey, 404},
		{"PATCH", "/v2/corpora", "", ownerKey, 405},
		{"OPTIONS", "/v2/corpora", "", ownerKey, 405},
		{"TRACE", "/v2/corpora", "", ownerKey, 405},
		{"POST", "/v2/corpora/mine/query", strings.Repeat(" ", 1<<17), ownerKey, 413},
		{"GET", "/v2/corpora/mine", "", ownerKey, 500},
		{"GET", "/v2/agents", "", ownerKey, 501},
		{"GET", "/healthz", "", "", 200},
	} {
		got := s.ask(t, c.method, c.path, c.body, "X-Api-Key: "+c.key)
		h := got.Header
		if got.StatusCode != c.status || h.Get("Cache-Control") != "no-store" || h.Get("CDN-Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" || len(h.Get("X-Request-Id")) != 32 {
			t.Errorf("%s %s: %d, want %d, with headers %v", c.method, c.path, got.StatusCode, c.status, h)
		}
	}
}
