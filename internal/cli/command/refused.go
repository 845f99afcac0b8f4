package command

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Refused is an answer outside 2xx, for commands that act on it.
type Refused struct {
	Status   int
	Code     string // of the fault, "" where it is not the service that answers
	Messages []string
	Fields   map[string]string // path → reason
	After    time.Duration     // how long to wait before the next attempt, 0 where the service does not say
}

// AsRefused returns the refusal that err is.
func AsRefused(err error) (*Refused, bool) {
	var r *refusal
	if !errors.As(err, &r) {
		return nil, false
	}
	seconds, _ := strconv.Atoi(r.header.Get("Retry-After")) // a date, or nothing, is no time to wait
	return &Refused{r.Status, r.Code, r.Messages, r.Fields, time.Duration(max(seconds, 0)) * time.Second}, true
}

// Do sends a request with the credential and returns a 2xx answer, whose body the caller closes. Any other is an error that
// AsRefused knows.
func (c *Client) Do(req *http.Request) (*http.Response, error) { return c.do(req) }
