package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Message returns what a provider's error body says to people. It knows the shapes of OpenAI and those who follow it, Azure,
// Anthropic, Google, AWS, Ollama, FastAPI servers such as vLLM, token endpoints, and plain text. The text is not cleaned.
func Message(data []byte) string {
	data = bytes.TrimSpace(data)
	var v any
	if json.Unmarshal(data, &v) == nil {
		if list, ok := v.([]any); ok && len(list) > 0 { // Google's streams put the error into an array
			v = list[0]
		}
		if text := messageIn(v, 3); text != "" {
			return text
		}
	}
	if len(data) == 0 || data[0] == '{' || data[0] == '[' || data[0] == '<' || !utf8.Valid(data) {
		return ""
	}
	return string(data)
}

// messageIn returns the message in an object or in the objects nested in it, and joins those of a list of errors, as
// validators return them.
func messageIn(v any, depth int) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var texts []string
		for _, item := range v[:min(len(v), 5)] {
			if text := messageIn(item, depth); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	case map[string]any:
		if depth == 0 {
			return ""
		}
		for _, name := range []string{"error_description", "message", "Message", "msg", "error", "detail", "details", "title", "errors"} {
			if text := messageIn(v[name], depth-1); text != "" {
				return text
			}
		}
	}
	return ""
}

// code returns the status that an error object states, and its type, code and status in words.
func code(data []byte) (status int, kind string) {
	var o struct {
		Error json.RawMessage `json:"error"`
	}
	inner := data
	if json.Unmarshal(data, &o) == nil && len(o.Error) > 0 && o.Error[0] == '{' {
		inner = o.Error
	}
	var e struct {
		Type   json.RawMessage `json:"type"`
		Code   json.RawMessage `json:"code"`
		Status json.RawMessage `json:"status"`
	}
	if json.Unmarshal(inner, &e) != nil {
		return 0, ""
	}
	for _, raw := range []json.RawMessage{e.Code, e.Status} {
		if n, err := strconv.Atoi(jsonText(raw)); err == nil && status == 0 {
			status = n
		}
	}
	return status, strings.Join([]string{jsonText(e.Type), jsonText(e.Code), jsonText(e.Status)}, " ")
}

// maxAfter bounds what a provider may ask us to wait.
const maxAfter = 24 * time.Hour

// RetryAfter returns how long a provider wants us to wait before the next call: Retry-After in seconds or as a date, its
// variant in milliseconds, the reset of a limit that is used up, or Google's retryDelay in the body. 0 means that it does not
// say.
func RetryAfter(h http.Header, body []byte, now time.Time) time.Duration {
	ms, _ := seconds(h.Get("Retry-After-Ms"))
	wait := cmp.Or(ms/1000, max(0, moment(h.Get("Retry-After"), now)))
	if wait == 0 {
		// x-ratelimit-reset-tokens (OpenAI), anthropic-ratelimit-tokens-reset, x-ratelimit-reset and ratelimit-reset (others),
		// each beside a header of what remains. One that is no reset stands for itself here: its 0 is no wait.
		for name := range h {
			name = strings.ToLower(name)
			if strings.Contains(name, "ratelimit-") && h.Get(strings.Replace(name, "reset", "remaining", 1)) == "0" {
				wait = max(wait, moment(h.Get(name), now))
			}
		}
	}
	return min(cmp.Or(wait, delay(body)), maxAfter)
}

// moment returns how far in the future a text lies: seconds, a duration such as 6m0s, a date of HTTP, RFC 3339 or seconds
// since 1970. 0 stands for what can't be read.
func moment(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if d, ok := seconds(s); ok {
		if d > 1e8*time.Second {
			return time.Unix(int64(d/time.Second), 0).Sub(now)
		}
		return d
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.Sub(now)
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Sub(now)
	}
	return 0
}

// delay returns the retryDelay of Google's errors, or 0.
func delay(body []byte) time.Duration {
	var o struct {
		Error struct {
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &o) != nil {
		return 0
	}
	for _, d := range o.Error.Details {
		if v, err := time.ParseDuration(d.RetryDelay); err == nil {
			return max(0, v)
		}
	}
	return 0
}
