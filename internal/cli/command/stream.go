package command

import (
	"context"
	"encoding/json"
	"net/http"

	"quarry/internal/sse"
)

// longestEvent bounds an event of a stream, in bytes; outputs of tools are the longest.
const longestEvent = 64 << 20

// Stream sends one request as Call does, or reads where body is nil, whose answer is a stream of events, and calls fn with each event
// as it comes, until the event "end". Events without a name have that of their member type. An error of fn ends it and is
// returned.
func (c *Client) Stream(ctx context.Context, path string, body any, fn func(name string, data []byte) error) error {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	res, err := c.unhurried().do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	events := sse.NewReader(res.Body, sse.Limits{Line: longestEvent, Event: longestEvent})
	for {
		e, err := events.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return Failed(ExitUnreachable, "the answer of %s broke off: %v", c.Base, err)
		}
		if e.Name == "" {
			var typed struct {
				Type string `json:"type"`
			}
			_ = json.Unmarshal(e.Data, &typed) // what is no object has no name
			e.Name = typed.Type
		}
		if err := fn(e.Name, e.Data); err != nil || e.Name == "end" {
			return err
		}
	}
}
