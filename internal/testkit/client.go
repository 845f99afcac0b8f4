package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// Client calls a server under test with JSON.
type Client struct {
	URL, Key string
	HTTP     *http.Client
}

// Client returns a client of the process with the owner's API key.
func (p *Process) Client() *Client { return &Client{p.URL, p.Key, &http.Client{}} }

// Do sends a request and returns the status and the JSON object of the response. It fails if there is no complete response.
func (c *Client) Do(method, path string, body any) (status int, answer map[string]any, err error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, c.URL+path, in)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("x-api-key", c.Key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &answer); err != nil {
			return res.StatusCode, nil, fmt.Errorf("%s %s answers no JSON: %w: %.200s", method, path, err, raw)
		}
	}
	return res.StatusCode, answer, nil
}

// Must sends a request and fails the test unless the status is want.
func (c *Client) Must(t testing.TB, want int, method, path string, body any) map[string]any {
	t.Helper()
	status, answer, err := c.Do(method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	if status != want {
		t.Fatalf("%s %s answers %d, want %d: %v", method, path, status, want, answer)
	}
	return answer
}
