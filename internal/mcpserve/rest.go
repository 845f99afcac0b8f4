package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/sse"
)

// rest calls operations of a service.
type rest struct{ Service }

// The most that is read of an answer, and of an event of a stream, in bytes.
const (
	longestAnswer = 64 << 20
	longestEvent  = 64 << 20
)

// call sends a request, with a body of JSON unless it is nil, and decodes the answer into out unless that is nil.
func (s rest) call(ctx context.Context, method, path string, body, out any) error {
	answer, err := s.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer of the service broke off: %w", err)
	case len(raw) > longestAnswer:
		return fmt.Errorf("the answer is longer than %d MiB, which is too much for a tool; ask for less", longestAnswer>>20)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return nil
}

// frames sends a request whose answer is a stream of frames, and calls fn with each until the one of type end. An error of fn ends
// it and is returned.
func (s rest) frames(ctx context.Context, path string, body any, fn func(*frame) error) error {
	answer, err := s.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	events := sse.NewReader(answer.Body, sse.Limits{Line: longestEvent, Event: longestEvent})
	for {
		e, err := events.Next()
		if err != nil {
			return fmt.Errorf("the answer of the service broke off: %w", err)
		}
		var f frame
		_ = json.Unmarshal(e.Data, &f) // a frame of a later service may have another shape
		if f.Type == "end" {           // the service notes how the request went before it ends the answer
			_, _ = io.Copy(io.Discard, answer.Body)
			return nil
		}
		if err := fn(&f); err != nil {
			return err
		}
	}
}

// send sends a request and returns its answer unless that is a refusal.
func (s rest) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, in)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.Do(req)
	if err != nil || answer.StatusCode/100 == 2 {
		return answer, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer of the service broke off: %w", err)
	}
	r := &refusal{Status: answer.StatusCode, after: answer.Header.Get("Retry-After")}
	_ = json.Unmarshal(raw, r) // a body that is not ours leaves the status alone to speak
	return nil, r
}

// refusal is an answer outside 2xx.
type refusal struct {
	Status   int               `json:"-"`
	Messages []string          `json:"messages"`
	Fields   map[string]string `json:"field_errors"`
	Code     string            `json:"code"`
	after    string            // seconds to wait, "" if that is unknown
}

// status returns the status of a refusal, 0 for any other error.
func status(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// Error returns what the service says, with the arguments of tools in the place of fields, and what to do next.
func (r *refusal) Error() string {
	text := strings.Join(r.Messages, "; ")
	if text == "" {
		text = http.StatusText(r.Status)
	}
	for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
		switch reason := r.Fields[field]; {
		case !strings.Contains(text, reason):
			text += fmt.Sprintf(" (%s %s)", field, reason)
		case !strings.Contains(text, field):
			text += fmt.Sprintf(" (%s)", field)
		}
	}
	return bodyField.ReplaceAllStringFunc(text, argument) + r.advice()
}

// bodyField matches a field of a request as refusals name it.
var bodyField = regexp.MustCompile(`\b(body|query)\.[A-Za-z_]+(\[\d+\]|\.[A-Za-z_]+)*`)

// argument returns the argument of tools that sets a field of a request.
func argument(field string) string {
	name := field[strings.LastIndexByte(field, '.')+1:]
	switch {
	case name == "corpus_key":
		return "corpus_keys"
	case name == "content", strings.HasPrefix(name, "messages"):
		return "message"
	}
	return name
}

// advice returns what the caller can do about a refusal.
func (r *refusal) advice() string {
	switch {
	case r.Status == http.StatusUnauthorized:
		return ". The API key or token that this client is set up with is not valid; its owner has to change it"
	case r.Status == http.StatusForbidden:
		return ". list_corpora and list_agents show what this key may see; for more, its owner has to ask an administrator"
	case r.Code == "corpus_not_found":
		return ". list_corpora shows the keys of those that there are"
	case r.Code == "document_not_found":
		return ". search shows the document_id of what it finds"
	case r.Code == "agent_not_found":
		return ". list_agents shows the keys of those that there are"
	case r.Code == "session_not_found":
		return ". Leave session_key out to begin a new session"
	case r.Status == http.StatusConflict:
		return ". Call again once that is over"
	case r.after != "":
		return ". Call again in " + r.after + " s"
	case r.Status == http.StatusServiceUnavailable, r.Status == http.StatusGatewayTimeout:
		return ". Call again in a moment"
	}
	return ""
}

// page is the rest of an answer that lists things.
type page struct {
	Metadata struct {
		Key string `json:"page_key"`
	} `json:"metadata"`
}

// listed returns the path of a page of a list.
func listed(path string, limit int, key string) string {
	q := url.Values{}
	q.Set("limit", fmt.Sprint(limit))
	if key != "" {
		q.Set("page_key", key)
	}
	return path + "?" + q.Encode()
}

// cut returns the first n characters of a text and whether that is not all.
func cut(text string, n int) (string, bool) {
	if utf8.RuneCountInString(text) <= n {
		return text, false
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return text[:at], true
}
