package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// contents is the format of the Gemini API.
type contents struct{ sse }

func (contents) read(r *http.Request, c *call) error {
	var in struct {
		Contents []map[string]any `json:"contents"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return fmt.Errorf("invalid JSON payload received: %w", err)
	}
	if len(in.Contents) == 0 {
		return fmt.Errorf("contents is not specified")
	}
	method := ""
	c.model, method = splitPath(r)
	switch {
	case method == "generateContent":
	case method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		c.stream = true
	case method == "streamGenerateContent":
		return fmt.Errorf("this server streams only with alt=sse")
	default:
		return fmt.Errorf("unknown method %q", method)
	}
	return nil
}

// splitPath returns the parts of a path …/models/{model}:{method}.
func splitPath(r *http.Request) (model, method string) {
	_, last, _ := strings.Cut(r.URL.Path, "/models/")
	at := strings.LastIndex(last, ":")
	if at < 0 {
		return last, ""
	}
	return last[:at], last[at+1:]
}

func (contents) frame(_ string, data []byte) []byte {
	return []byte("data: " + string(data) + "\r\n\r\n")
}

func (contents) chunk(c *call, r *Reply, parts []obj, last bool) obj {
	candidate := obj{"index": 0}
	if parts != nil {
		candidate["content"] = obj{"role": "model", "parts": parts}
	}
	out := obj{"candidates": []obj{candidate}, "modelVersion": r.model(c), "responseId": "resp-1"}
	if last {
		candidate["finishReason"] = r.finish("STOP", "STOP", "MAX_TOKENS", "SAFETY")
		if r.Refusal != "" {
			candidate["finishReason"], candidate["finishMessage"] = "SAFETY", r.Refusal
		}
		if r.Fault != NoUsage {
			u := r.usage()
			out["usageMetadata"] = obj{
				"promptTokenCount": u.Input, "cachedContentTokenCount": u.Cached,
				"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Input + u.Output,
			}
		}
	}
	return out
}

func (contents) calls(r *Reply) []obj {
	var out []obj
	for _, t := range r.Calls {
		call := obj{"name": t.Name, "args": arguments(t.arguments())}
		if t.ID != "" {
			call["id"] = t.ID
		}
		out = append(out, obj{"functionCall": call, "thoughtSignature": "c2lnbmVk"})
	}
	return out
}

func (d contents) whole(c *call, r *Reply) any {
	var parts []obj
	if r.Reasoning != "" {
		parts = append(parts, obj{"text": r.Reasoning, "thought": true})
	}
	if len(r.pieces()) > 0 && r.Refusal == "" {
		parts = append(parts, obj{"text": r.text()})
	}
	return d.chunk(c, r, append(parts, d.calls(r)...), true)
}

func (d contents) frames(c *call, r *Reply) []frame {
	var out []frame
	add := func(parts []obj) { out = append(out, frame{d.frame("", encode(d.chunk(c, r, parts, false))), true}) }
	for _, piece := range words(r.Reasoning) {
		add([]obj{{"text": piece, "thought": true}})
	}
	if r.Refusal == "" {
		for _, piece := range r.pieces() {
			add([]obj{{"text": piece}})
		}
	}
	for _, call := range d.calls(r) {
		add([]obj{call})
	}
	return append(out, frame{d.frame("", encode(d.chunk(c, r, nil, true))), false})
}

// googleStatus are Google's error codes by status.
var googleStatus = map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}

func (contents) failure(status int, message string) any {
	return obj{"error": obj{"code": status, "message": message, "status": cmp.Or(googleStatus[status], "INTERNAL")}}
}

func (d contents) broken(message string) (string, any) {
	return "", d.failure(http.StatusServiceUnavailable, message)
}
