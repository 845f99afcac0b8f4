package registry

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// A test may take as long as the idle timeout of its connection, up to testMost, plus testSlack: the client waits for it,
// and a provider may keep a connection alive without ever answering.
const (
	testMost  = 5 * time.Minute
	testSlack = 30 * time.Second
)

// test calls a model once and returns when the answer begins. Any failure is a fault.KindInvalid: to the client that registers
// the model, its registration is at fault.
func (s *Service) test(ctx context.Context, l *LLM, auth *Auth) error {
	c := l.connection(auth)
	p, err := s.dialer.Open(c)
	if err != nil {
		return err
	}
	if err := ask(ctx, p, c, l.TestParameters); err != nil {
		return testFault(err, auth)
	}
	return nil
}

// errHeard ends a call whose answer has begun: the test needs no more of it.
var errHeard = errors.New("the answer has begun")

// ask calls a model with a short question and waits for the beginning of an answer. No limit of tokens is set: models
// that think first would use it up, and some refuse the parameter.
func ask(ctx context.Context, p llm.Provider, c Connection, extra map[string]json.RawMessage) error {
	limit, cancel := context.WithTimeout(ctx, min(c.Idle, testMost)+testSlack)
	defer cancel()
	r := llm.Request{
		Messages:   []llm.Message{llm.Text(llm.User, "This is a test of the connection. Answer with the word OK and nothing else.")},
		Parameters: llm.Parameters{Extra: extra},
	}
	_, err := p.Stream(limit, r, func(llm.Event) error { return errHeard })
	switch {
	case err == nil, errors.Is(err, errHeard):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limit.Err() != nil:
		return &llm.Error{Failure: llm.TimedOut, Model: c.Name, Cause: err}
	}
	var failure *llm.Error
	if errors.As(err, &failure) && failure.Failure == llm.Truncated {
		return nil // it answered, and longer than it may
	}
	return err
}

// testFault returns the fault of a failed test. It names the field that is most likely at fault.
func testFault(err error, auth *Auth) error {
	var failure *llm.Error
	if !errors.As(err, &failure) {
		return err
	}
	text := clean("connection test failed, nothing was saved: "+failure.Error(), auth)
	f := fault.Invalid().Field(suspect(failure), "%s", text).Because(err)
	f.Text = text
	return f
}

// suspect returns the field that is most likely at fault for a failure.
func suspect(e *llm.Error) string {
	switch e.Status {
	case 401, 403:
		return "auth"
	case 400, 422:
		return "model"
	}
	return "uri"
}

// clean returns a text without the credentials, which providers may echo.
func clean(text string, auth *Auth) string {
	for _, secret := range auth.Secrets() {
		if len(secret) < 4 {
			continue // no secret, and part of too many words
		}
		text = strings.ReplaceAll(text, secret, Mask)
	}
	return text
}
