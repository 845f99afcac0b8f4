package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// checkEvents compares a stream with the events expected.
func (e *Expect) checkEvents(res *http.Response, raw []byte, saved map[string]any) error {
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		return fmt.Errorf("the content type is %q, want text/event-stream: %.600s", got, raw)
	}
	events, err := readEvents(string(raw))
	if err != nil {
		return fmt.Errorf("%w in the stream %.2000s", err, raw)
	}
	if d := differ("events", fill(e.Events, saved), pieces(events)); d != "" {
		return fmt.Errorf("%s", d)
	}
	return nil
}

// pieces returns events with thinking as clients get it while it comes. A reader that looks only after it was stored gets it as
// one event, and which of the two happens is a matter of time.
func pieces(events []any) []any {
	out := []any{}
	for _, e := range events {
		whole, _ := e.(map[string]any)
		if whole["type"] != "thinking" {
			out = append(out, e)
			continue
		}
		out = append(out, map[string]any{"type": "streaming_thinking", "content": whole["content"], "created_at": whole["created_at"]},
			map[string]any{"type": "streaming_thinking_end", "created_at": whole["created_at"]})
	}
	return out
}

// readEvents reads a stream framed as clients of the contract need it (generation-and-citations, section 8): one line
// that names the event, one line of JSON whose type is that name, an empty line; comments between events. Chunks of
// text in a row become one, as clients join them.
func readEvents(stream string) ([]any, error) {
	switch {
	case strings.HasSuffix(stream, doneLine):
		return readChunks(strings.TrimSuffix(stream, doneLine))
	case strings.HasSuffix(stream, endFrame):
		return readFrames(stream)
	}
	out := []any{}
	for block := range strings.SplitSeq(stream, "\n\n") {
		for strings.HasPrefix(block, ":") {
			_, block, _ = strings.Cut(block, "\n")
		}
		if block == "" {
			continue
		}
		name, data, _ := strings.Cut(block, "\n")
		name, named := strings.CutPrefix(name, "event:")
		data, dated := strings.CutPrefix(data, "data:")
		if !named || !dated || strings.Contains(data, "\n") {
			return nil, fmt.Errorf("%q is not an event of one name and one line of data", block)
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return nil, fmt.Errorf("read event %q: %w", data, err)
		}
		if event["type"] != strings.TrimSpace(name) {
			return nil, fmt.Errorf("an event named %q has the type %v", name, event["type"])
		}
		out = join(out, event)
	}
	if !strings.HasSuffix(stream, "\n\n") {
		return nil, fmt.Errorf("the last event does not end")
	}
	return out, nil
}

// doneLine ends a stream that clients of OpenAI's interface read.
const doneLine = "data: [DONE]\n\n"

// endFrame ends the stream of a session, whose frames have no names (contract: sessions-and-events, section 11).
const endFrame = "data: {\"type\":\"end\"}\n\n"

// readFrames reads such a stream. Pieces of a text in a row become one.
func readFrames(stream string) ([]any, error) {
	all, err := readChunks(stream)
	out := []any{}
	for _, one := range all {
		next, _ := one.(map[string]any)
		kind := next["type"]
		if n := len(out); n > 0 && (kind == "streaming_agent_output" || kind == "streaming_thinking") {
			if last, _ := out[n-1].(map[string]any); last["type"] == kind {
				last["content"] = fmt.Sprint(last["content"], next["content"])
				continue
			}
		}
		out = append(out, next)
	}
	return out, err
}

// readChunks reads a stream of OpenAI's interface: one line of JSON for each chunk, without a name. Pieces of the content of one answer in a
// row become one.
func readChunks(stream string) ([]any, error) {
	out := []any{}
	for block := range strings.SplitSeq(stream, "\n\n") {
		for strings.HasPrefix(block, ":") {
			_, block, _ = strings.Cut(block, "\n")
		}
		if block == "" {
			continue
		}
		data, dated := strings.CutPrefix(block, "data: ")
		if !dated || strings.Contains(data, "\n") {
			return nil, fmt.Errorf("%q is not one line of data", block)
		}
		var next map[string]any
		if err := json.Unmarshal([]byte(data), &next); err != nil {
			return nil, fmt.Errorf("read chunk %q: %w", data, err)
		}
		if n := len(out); n > 0 && piece(out[n-1]) != nil && piece(next) != nil && index(out[n-1]) == index(next) {
			piece(out[n-1])["content"] = fmt.Sprint(piece(out[n-1])["content"], piece(next)["content"])
			continue
		}
		out = append(out, next)
	}
	return out, nil
}

// first is the first choice of a chunk, nil without one.
func first(chunk any) map[string]any {
	choices, _ := chunk.(map[string]any)["choices"].([]any)
	if len(choices) == 0 {
		return nil
	}
	choice, _ := choices[0].(map[string]any)
	return choice
}

func index(chunk any) any { return first(chunk)["index"] }

// piece is the delta of a chunk that has content and no role, else nil.
func piece(chunk any) map[string]any {
	delta, _ := first(chunk)["delta"].(map[string]any)
	if _, begins := delta["role"]; begins || delta["content"] == nil {
		return nil
	}
	return delta
}

// streamConforms checks each event of a stream against the contract.
func streamConforms(op *openapi3.Operation, res *http.Response, raw []byte) error {
	const stream = "text/event-stream"
	if res.Header.Get("Content-Type") != stream {
		return nil
	}
	answer := op.Responses.Status(res.StatusCode)
	if answer == nil || answer.Value.Content[stream] == nil {
		return fmt.Errorf("%s answers no stream with status %d", op.OperationID, res.StatusCode)
	}
	events, err := readEvents(string(raw))
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := answer.Value.Content[stream].Schema.Value.VisitJSON(e); err != nil {
			return fmt.Errorf("event %s: %w", show(e), err)
		}
	}
	return nil
}

func join(events []any, next map[string]any) []any {
	const chunk = "generation_chunk"
	if len(events) > 0 && next["type"] == chunk {
		if last, _ := events[len(events)-1].(map[string]any); last["type"] == chunk {
			last[chunk] = fmt.Sprint(last[chunk], next[chunk])
			return events
		}
	}
	return append(events, next)
}
