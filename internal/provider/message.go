package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Message returns what a provider's error body says to people. It knows the shapes of OpenAI and those who follow it, Azure,
// Anthropic, Google, AWS, Ollama, FastAPI servers such as vLLM, token endpoints, and plain text. It is not cleaned.
func Message(data []byte) string {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[")) { // Google's streams put the error into an array
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && len(list) > 0 {
			data = list[0]
		}
	}
	if text := messageIn(data, 3); text != "" {
		return text
	}
	if len(data) == 0 || data[0] == '{' || data[0] == '[' || data[0] == '<' || !utf8.Valid(data) {
		return ""
	}
	return string(data)
}

// messageIn looks into an object and the objects in which the shapes nest it.
func messageIn(data []byte, depth int) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var o map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(data, &o) != nil {
		return ""
	}
	for _, name := range []string{"error_description", "message", "Message", "msg", "error", "detail", "details", "title"} {
		raw, ok := o[name]
		if !ok {
			continue
		}
		if text := messageIn(raw, depth-1); text != "" {
			return text
		}
		if text := messagesIn(raw, depth-1); text != "" {
			return text
		}
	}
	return messagesIn(o["errors"], depth-1)
}

// messagesIn joins the messages of a list of errors, as validators return them.
func messagesIn(data []byte, depth int) string {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return ""
	}
	var texts []string
	for _, item := range list[:min(len(list), 5)] {
		if text := messageIn(item, depth); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
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

// RetryAfter returns when a provider wants to be asked again: Retry-After in seconds or as a date, its variant in
// milliseconds, the reset of a limit that is used up, Google's retryDelay in the body. 0 is not said.
func RetryAfter(h http.Header, body []byte, now time.Time) time.Duration {
	after := func(d time.Duration, ok bool) (time.Duration, bool) {
		return min(max(d, 0), maxAfter), ok && d > 0
	}
	if ms, ok := seconds(h.Get("Retry-After-Ms")); ok {
		if d, ok := after(ms/1000, true); ok {
			return d
		}
	}
	if text := h.Get("Retry-After"); text != "" {
		if d, ok := after(moment(text, now)); ok {
			return d
		}
	}
	longest := time.Duration(0)
	for name := range h {
		prefix, which, ok := strings.Cut(strings.ToLower(name), "ratelimit-")
		if !ok {
			continue
		}
		// x-ratelimit-reset-tokens (OpenAI), anthropic-ratelimit-tokens-reset, x-ratelimit-reset and ratelimit-reset (others).
		left := ""
		switch {
		case strings.HasPrefix(which, "reset"):
			left = prefix + "ratelimit-remaining" + strings.TrimPrefix(which, "reset")
		case strings.HasSuffix(which, "-reset"):
			left = prefix + "ratelimit-" + strings.TrimSuffix(which, "-reset") + "-remaining"
		default:
			continue
		}
		if h.Get(left) != "0" {
			continue
		}
		if d, ok := after(moment(h.Get(name), now)); ok {
			longest = max(longest, d)
		}
	}
	if longest == 0 {
		longest, _ = after(delay(body))
	}
	return longest
}

// moment reads seconds, a duration such as 6m0s, a date of HTTP, RFC 3339 or seconds since 1970.
func moment(s string, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if d, ok := seconds(s); ok {
		if d > 1e8*time.Second {
			return time.Unix(int64(d/time.Second), 0).Sub(now), true
		}
		return d, true
	}
	if d, err := time.ParseDuration(s); err == nil {
		return d, true
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.Sub(now), true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.Sub(now), true
	}
	return 0, false
}

// delay reads the retryDelay of Google's errors.
func delay(body []byte) (time.Duration, bool) {
	var o struct {
		Error struct {
			Details []struct {
				RetryDelay string `json:"retryDelay"`
			} `json:"details"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &o) != nil {
		return 0, false
	}
	for _, d := range o.Error.Details {
		if v, err := time.ParseDuration(d.RetryDelay); err == nil {
			return v, true
		}
	}
	return 0, false
}
