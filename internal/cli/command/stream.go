package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"quarry/internal/sse"
)

// Stream sends one JSON request whose answer is a stream of events and calls fn with each event as it comes, until the
// event "end". An error of fn ends it and is returned.
func (c *Client) Stream(ctx context.Context, path string, body any, fn func(name string, data []byte) error) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+path, bytes.NewReader(raw))
	if err != nil {
		return Failed(ExitUsage, "%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	events := sse.NewReader(res.Body, sse.Limits{})
	for {
		e, err := events.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF), err != nil:
			return Failed(ExitUnreachable, "the answer of %s broke off: %v", c.Base, err)
		}
		if err := fn(e.Name, e.Data); err != nil || e.Name == "end" {
			return err
		}
	}
}
