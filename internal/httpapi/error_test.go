package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

// TestErrorWriter proves the status, the status word, the code and the members of the body for every kind of error.
func TestErrorWriter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err        error
		status     int
		message    string
		code       string
		retryAfter string
	}{
		{fault.Invalid().Field("body.b", "is required").Field("body.a", "must be at least 1"), 400, "INVALID_ARGUMENT: body.a must be at least 1; body.b is required", "invalid_request", ""},
		{&fault.Fault{Kind: fault.KindInvalid, Code: "invalid_request", Text: "INVALID_ARGUMENT: The filter expression contains an error. x"}, 400, "INVALID_ARGUMENT: The filter expression contains an error. x", "invalid_request", ""},
		{fault.Unauthenticated("no key"), 401, "UNAUTHENTICATED: no key", "unauthorized", ""},
		{fault.Forbidden("no role"), 403, "PERMISSION_DENIED: no role", "forbidden", ""},
		{fault.NotFound("document_not_found", "d/1", "document d/1 does not exist"), 404, "NOT_FOUND: document d/1 does not exist", "document_not_found", ""},
		{fault.Conflict("corpus_exists", "corpus 'a' already exists"), 409, "ALREADY_EXISTS: corpus 'a' already exists", "corpus_exists", ""},
		{fault.Conflict("document_changed", "it changed"), 409, "CONFLICT: it changed", "document_changed", ""},
		{fault.TooLarge("too big"), 413, "PAYLOAD_TOO_LARGE: too big", "too_large", ""},
		{fault.MediaType("not that"), 415, "UNSUPPORTED_MEDIA_TYPE: not that", "unsupported_media_type", ""},
		{fault.Unprocessable("no", "can't"), 422, "FAILED_PRECONDITION: can't", "no", ""},
		{fault.Limited("rate_limit_exceeded", "slow down").After(1500 * time.Millisecond), 429, "RESOURCE_EXHAUSTED: slow down", "rate_limit_exceeded", "2"},
		{fault.NotBuilt("later"), 501, "UNIMPLEMENTED: later", "not_built", ""},
		{fault.Upstream("they broke"), 502, "UNAVAILABLE: they broke", "upstream_error", ""},
		{fault.Unavailable("disk_full", "the disk is full").After(time.Minute), 503, "UNAVAILABLE: the disk is full", "disk_full", "60"},
		{fault.Timeout("too late"), 504, "DEADLINE_EXCEEDED: too late", "timeout", ""},
		{fmt.Errorf("read row: %w", fault.Forbidden("wrapped")), 403, "PERMISSION_DENIED: wrapped", "forbidden", ""},
		{errors.New("secret cause"), 500, "INTERNAL: the request failed inside the service; the log has the cause under the request id", "internal", ""},
		{&fault.Fault{Text: "secret cause"}, 500, "INTERNAL: the request failed inside the service; the log has the cause under the request id", "internal", ""},
	} {
		s := start(t, area{"getCorpus": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { return c.err }})
		got := s.ask(t, "GET", "/v2/corpora/k", "")
		if got.StatusCode != c.status || got.body.Code != c.code || got.Header.Get("Retry-After") != c.retryAfter {
			t.Errorf("%v: %d %s, Retry-After %q; want %d %s %q", c.err, got.StatusCode, got.raw, got.Header.Get("Retry-After"), c.status, c.code, c.retryAfter)
		}
		if d := cmp.Diff([]string{c.message}, got.body.Messages); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.err, d)
		}
		if (got.body.ID != nil) != (c.status == 404) || c.status == 404 && *got.body.ID != "d/1" {
			t.Errorf("%v: id in %s", c.err, got.raw)
		}
		if logged := strings.Contains(s.log.String(), "secret cause"); logged != (c.status == 500) {
			t.Errorf("%v: logged is %v", c.err, logged)
		}
	}
}

// TestOpenAIPaths proves that a client of OpenAI's interface reads why a path or a method is none of ours, below both base
// addresses and nowhere else.
func TestOpenAIPaths(t *testing.T) {
	t.Parallel()
	s := start(t, area{"createChatCompletion": func(http.ResponseWriter, *http.Request, *httpapi.Call) error { panic("broken") }})
	body := `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"POST", "/v1/embeddings", 404, `"type":"invalid_request_error","code":"path_not_found","param":null}`},
		{"GET", "/v2/llms/models/gpt-4o", 404, `"type":"invalid_request_error","code":"path_not_found","param":null}`},
		{"GET", "/v1/chat/completions", 405, `"error":{"message":"METHOD_NOT_ALLOWED: the path takes POST, not GET","type":"invalid_request_error","code":"method_not_allowed","param":null}`},
		{"POST", "/v2/llms/models", 405, `"code":"method_not_allowed","param":null}`},
		{"POST", "/v2/llms/chat/completions", 500, `"type":"server_error","code":"internal","param":null}`},
		{"GET", "/v1beta/models", 404, ""},
		{"GET", "/v2/nothing", 404, ""},
		{"PUT", "/v2/corpora/k", 405, ""},
	} {
		got := s.ask(t, c.method, c.path, body)
		if got.StatusCode != c.status || !strings.Contains(got.raw, c.want) || strings.Contains(got.raw, `"error":`) != (c.want != "") || len(got.body.Messages) != 1 {
			t.Errorf("%s %s: %d %s, want %d with %q", c.method, c.path, got.StatusCode, got.raw, c.status, c.want)
		}
	}
}

// TestOpenAIErrors proves that what refuses a chat completion has the member that clients of OpenAI's interface read,
// without any secret, and that other operations don't have it.
func TestOpenAIErrors(t *testing.T) {
	t.Parallel()
	key := "zut_" + strings.Repeat("k", 30)
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, `{"message":"UNIMPLEMENTED: createChatCompletion (POST /v2/llms/chat/completions) is part of the contract and not built yet","type":"server_error","code":"not_built","param":null}`},
		{fault.InvalidField("body.model", "is no model: %s", key), `{"message":"INVALID_ARGUMENT: body.model is no model: zut_****","type":"invalid_request_error","code":"invalid_request","param":"model"}`},
		{fault.Limited("rate_limit_exceeded", "slow down"), `{"message":"RESOURCE_EXHAUSTED: slow down","type":"rate_limit_error","code":"rate_limit_exceeded","param":null}`},
		{errors.New("broken"), `{"message":"INTERNAL: the request failed inside the service; the log has the cause under the request id","type":"server_error","code":"internal","param":null}`},
	} {
		handlers := area{}
		if c.err != nil {
			fail := func(http.ResponseWriter, *http.Request, *httpapi.Call) error { return c.err }
			handlers = area{"createChatCompletion": fail, "getCorpus": fail}
		}
		s := start(t, handlers)
		got := s.ask(t, "POST", "/v2/llms/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
		if !strings.Contains(got.raw, `"error":`+c.want) || !strings.Contains(got.raw, `"messages":`) {
			t.Errorf("%v: %s, want the error %s", c.err, got.raw, c.want)
		}
		if other := s.ask(t, "GET", "/v2/corpora/k", ""); strings.Contains(other.raw, `"error"`) {
			t.Errorf("getCorpus: %s", other.raw)
		}
	}
}
