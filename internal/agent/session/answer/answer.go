// Package answer checks what clients have made of calls that a session waits for.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"quarry/internal/agent/session"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/fault"
	"quarry/internal/id"
)

// Given is what a client has made of a call.
type Given struct {
	Call   id.Event
	Output json.RawMessage // of one that has failed: any JSON
	Failed bool
}

// Match returns the calls that outputs are of, and what is wrong with any of them.
func Match(p *session.Parked, given []Given) ([]session.Pending, error) {
	if p == nil {
		return nil, fault.InvalidField("tool_outputs", "the session doesn't wait for the output of any tool; its outstanding_client_tool_calls lists what it waits for")
	}
	bad := fault.Invalid()
	out := make([]session.Pending, len(given))
	seen := map[id.Event]bool{}
	for i, g := range given {
		at := fmt.Sprintf("tool_outputs[%d]", i)
		n := slices.IndexFunc(p.Calls, func(c session.Pending) bool { return c.Event == g.Call })
		switch {
		case n < 0:
			bad.Field(at+".event_id", "is %q, which is no call that waits for the client: it was answered, or is of another session or tool", g.Call)
		case seen[g.Call]:
			bad.Field(at+".event_id", "%s is answered twice", g.Call)
		case len(g.Output) > tool.MaxOutput:
			bad.Field(at, "has %d bytes, more than the %d that an output may have", len(g.Output), tool.MaxOutput)
		default:
			out[i] = p.Calls[n]
			if err := fits(out[i].Output, g); err != nil {
				member := ".output"
				if g.Failed {
					member = ".error"
				}
				bad.Field(at+member, "doesn't fit the tool %s: %s", out[i].ToolName, err)
			}
		}
		seen[g.Call] = true
	}
	return out, bad.Err()
}

// fits returns why an output doesn't fit a schema, which may be empty, or is none at all.
func fits(form json.RawMessage, g Given) error {
	d := json.NewDecoder(bytes.NewReader(g.Output))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	_, object := v.(map[string]any)
	_, text := v.(string)
	switch {
	case g.Failed && !text && !object:
		return errors.New("an error is a text or an object")
	case g.Failed:
		return nil
	case !object:
		return errors.New("an output is an object")
	case len(form) == 0:
		return nil
	}
	s, err := schema.New(form)
	if err != nil {
		return err
	}
	return s.Check(v)
}
