// Package exchange makes one HTTP call of a service that answers with JSON, within bounds.
package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/outbound"
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 8 << 20

// Call is a request.
type Call struct {
	Method, URL string
	Header      map[string]string
	Body        any        // sent as JSON; nil for none
	Form        url.Values // sent in the place of Body
}

// ErrNoJSON is the error of an answer that is no JSON.
var ErrNoJSON = errors.New("its answer is no JSON")

// Do sends a call through a guarded client, and reads an answer of any status into into. The status is 0 if there was none. The
// text of an error is fit for whoever uses the service, but for secrets that the service itself repeats.
func Do(ctx context.Context, client *http.Client, c Call, into any) (status int, err error) {
	var body io.Reader
	kind := ""
	switch {
	case c.Form != nil:
		body, kind = strings.NewReader(c.Form.Encode()), "application/x-www-form-urlencoded"
	case c.Body != nil:
		raw, err := json.Marshal(c.Body)
		if err != nil {
			return 0, fmt.Errorf("write a request: %w", err)
		}
		body, kind = bytes.NewReader(raw), "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, c.URL, body)
	if err != nil {
		return 0, errors.New("its address can't be read")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Quarry")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range c.Header {
		r.Header.Set(name, value)
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, &Failed{reason(err), err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return resp.StatusCode, &Failed{reason(err), err}
	case len(raw) > maxAnswer:
		return resp.StatusCode, fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	case json.Unmarshal(raw, into) != nil:
		return resp.StatusCode, ErrNoJSON
	}
	return resp.StatusCode, nil
}

// Failed is the error of a call that nobody has answered.
type Failed struct {
	Text string // for people
	Err  error
}

// Error returns the text.
func (f *Failed) Error() string { return f.Text }

// Unwrap returns the cause.
func (f *Failed) Unwrap() error { return f.Err }

// reason returns why a call has failed, for people.
func reason(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "the call was interrupted"
	}
	return outbound.Explain(err)
}
