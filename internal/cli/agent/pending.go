package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"quarry/internal/cli/command"
)

// call is a call that the session waits for, and that the person here answers.
type call struct {
	Event     string          `json:"event_id"`
	Tool      string          `json:"tool_configuration_name"`
	Arguments json.RawMessage `json:"arguments"`
}

// showPending prints the calls that wait.
func (t *talk) showPending() {
	if t.cmd.JSON || len(t.pending) == 0 {
		return
	}
	for _, c := range t.pending {
		command.Wrap(t.env.Err, "", command.Prose(fmt.Sprintf("waits for you: %s %s", c.Tool, compact(c.Arguments))))
	}
	of := "its output"
	if len(t.pending) > 1 {
		of = "the output of the first"
	}
	fmt.Fprintf(t.env.Err, "the next line is %s, as JSON or text; /fail TEXT is an error, /new QUESTION asks something else\n", of)
}

// outstanding reads the calls that a session waits for.
func (t *talk) outstanding() error {
	var found struct {
		Calls []call `json:"client_tool_calls"`
	}
	_, err := t.client.Call(t.env.Ctx, http.MethodGet, sessionPath(t.cmd.Agent, t.session)+"/outstanding_client_tool_calls", nil, &found)
	if err == nil {
		t.pending = found.Calls
	}
	return err
}

// refused finds out what the session waits for after it has refused a line, if it waited for before.
func (t *talk) refused(before []call) {
	if len(before) > 0 && t.outstanding() != nil {
		t.pending = before
	}
}

// answer sends a line as the output of the first call that waits, and shows what follows. A text that is no JSON object is its
// member text.
func (t *talk) answer(line string, failed bool) error {
	c := t.pending[0]
	output := map[string]any{"type": "success", "event_id": c.Event}
	var object map[string]json.RawMessage
	switch {
	case failed:
		output["type"], output["error"] = "error", line
	case strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &object) == nil:
		output["output"] = object
	default:
		output["output"] = map[string]any{"text": line}
	}
	body := map[string]any{"type": "tool_output", "tool_outputs": []any{output}}
	before := t.pending
	err := t.held(func(ctx context.Context) error {
		if t.cmd.JSON {
			return t.whole(ctx, body)
		}
		return t.stream(ctx, body, newScreen(t.env, ""))
	})
	if command.Status(err) != 0 {
		t.refused(before)
	}
	return err
}
