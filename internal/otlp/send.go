package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"quarry/internal/outbound"
	"quarry/internal/secret/redact"
)

// Bounds of one batch.
const (
	attempts   = 5
	firstWait  = time.Second      // doubled each time
	maxWait    = time.Minute      // also where the collector asks for more
	timeout    = 10 * time.Second // of one attempt
	maxReply   = 64 << 10
	maxMessage = 200 // bytes of what a collector says, in the log
)

// tracesPath is where collectors take spans.
const tracesPath = "/v1/traces"

// Address returns where spans are sent, by the address of a collector: its path gets /v1/traces at its end, unless it has it.
func Address(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	if u.Path = strings.TrimRight(u.Path, "/"); !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return u.String(), nil
}

// outcome is how an attempt has ended.
type outcome struct {
	why   string // "" where the collector has the spans
	again bool
	after time.Duration // before the next attempt, where the collector says so
}

// send sends a batch, again where that may help, and returns why it is lost, "" if it is not.
func (e *Exporter) send(ctx context.Context, batch [][]byte) (why string) {
	body, err := e.frame.pack(batch)
	if err != nil {
		return err.Error()
	}
	wait := firstWait
	for n := 1; ; n++ {
		o := e.post(ctx, body)
		if !o.again || n == attempts || e.isEnding() {
			return o.why
		}
		delay := wait/2 + rand.N(wait) // nodes that lost their collector at the same moment don't come back at the same moment
		if o.after > 0 {
			delay = min(o.after, maxWait)
		}
		select {
		case <-time.After(delay):
		case <-e.ending: // one attempt more
		}
		wait *= 2
		e.report(false)
	}
}

func (e *Exporter) isEnding() bool {
	select {
	case <-e.ending:
		return true
	default:
		return false
	}
}

// post sends a batch once.
func (e *Exporter) post(ctx context.Context, body []byte) outcome {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return outcome{why: "its address can't be read"}
	}
	for name, value := range e.cfg.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "Quarry")
	resp, err := e.cfg.HTTP.Do(r)
	if err != nil {
		if refused := new(outbound.Refused); errors.As(err, &refused) { // the next time, too
			return outcome{why: refused.Reason}
		}
		if ctx.Err() != nil {
			return outcome{why: "it took too long", again: true}
		}
		return outcome{why: outbound.Explain(err), again: true}
	}
	defer resp.Body.Close()
	reply, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply)) // the status counts
	return e.judge(resp, reply)
}

// judge returns what an answer means.
func (e *Exporter) judge(resp *http.Response, reply []byte) outcome {
	var said struct {
		Message string `json:"message"`
		Partial struct {
			Rejected json.Number `json:"rejectedSpans"` // a string in most answers
			Message  string      `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	_ = json.Unmarshal(reply, &said) // not every collector says something
	status := resp.StatusCode
	switch {
	case status >= 200 && status < 300:
		if n, _ := said.Partial.Rejected.Int64(); n > 0 || said.Partial.Message != "" {
			e.drop(int(max(n, 0)), "it has rejected some: "+e.quote(said.Partial.Message))
		}
		return outcome{}
	case status >= 300 && status < 400:
		return outcome{why: fmt.Sprintf("it answers with status %d, a redirect, which is not followed: give otlp_endpoint the final address", status)}
	}
	o := outcome{why: fmt.Sprintf("it answers with status %d", status)}
	if said.Message != "" {
		o.why += ": " + e.quote(said.Message)
	}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout: // no others, by OTLP
		o.again, o.after = true, retryAfter(resp.Header.Get("Retry-After"))
	}
	return o
}

// retryAfter returns how long a header asks to wait, 0 where it says nothing of use.
func retryAfter(text string) time.Duration {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32); err == nil {
		return max(0, time.Duration(n)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// quote returns what a collector says on one line, without the credentials that it was sent.
func (e *Exporter) quote(text string) string {
	for _, value := range e.cfg.Headers {
		if value != "" {
			text = strings.ReplaceAll(text, value, "****")
		}
		if _, secret, ok := strings.Cut(value, " "); ok && secret != "" {
			text = strings.ReplaceAll(text, secret, "****")
		}
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, redact.Text(text))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// gzipped returns what a batch is on the wire.
func gzipped(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
