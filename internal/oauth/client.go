package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/outbound"
)

// Client gets access tokens for tools and servers. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	rotated Rotated

	tokens Tokens
	mu     sync.Mutex
	unkept map[string]State // states that could not be stored, by key; guarded by mu
	spends sync.WaitGroup   // refresh tokens under way
}

// NewClient returns a client whose calls go out through client, which is to be one of package outbound. They stay at the origin of
// their endpoint, since their bodies have secrets.
func NewClient(client *http.Client, rotated Rotated) *Client {
	return &Client{http: outbound.Home(client), rotated: rotated, unkept: map[string]State{}}
}

// Close waits until no refresh token is under way.
func (c *Client) Close() { c.spends.Wait() }

// Error is a failure to get a token. Its text has no secret: what an endpoint writes by itself is not repeated.
type Error struct {
	// Host is that of the token endpoint.
	Host string
	// Text is what happened.
	Text string
	// Status is that of the answer, 0 without one.
	Status int
	// Code is the error code of RFC 6749, section 5.2, "" where there is none.
	Code string
}

func (e *Error) Error() string { return "the token endpoint " + e.Host + " " + e.Text }

// Times and sizes of calls.
const (
	// spendTime bounds one call of a token endpoint, and keepTime how long its answer is tried to be stored.
	spendTime = 30 * time.Second
	keepTime  = 30 * time.Second
	// lockTime is how long a refresh token stays locked when the node that has locked it is killed.
	lockTime = 2 * (spendTime + keepTime)
	// lockPause is the time between two looks at a lock of another node.
	lockPause = 200 * time.Millisecond
	maxAnswer = 1 << 20
)

// Token returns an access token for the credentials. Failures are *Error, the cause of ctx if that has ended, or what the store of
// rotated tokens says.
func (c *Client) Token(ctx context.Context, by Credentials) (string, error) {
	if by.Refresh == "" {
		return c.tokens.Get(ctx, by.Key(), func(ctx context.Context, _ string) (Token, error) {
			g, err := c.ask(ctx, by)
			return g.Token, err
		})
	}
	if token, ok := c.tokens.have(by.Key()); ok {
		return token, nil
	}
	return c.detached(ctx, func(detached context.Context) (string, error) {
		return c.tokens.Get(detached, by.Key(), func(detached context.Context, refused string) (Token, error) {
			if ctx.Err() != nil { // whoever wanted it has gone before its turn came
				return Token{}, context.Cause(ctx)
			}
			return c.refresh(detached, by, refused)
		})
	})
}

// Refuse forgets a token that was refused though it had not ended. The next call of Token gets another.
func (c *Client) Refuse(ctx context.Context, by Credentials, token string) {
	c.tokens.Refuse(ctx, by.Key(), token)
}

// detached runs f to its end, even if the caller goes: a refresh token that is spent must be replaced.
func (c *Client) detached(ctx context.Context, f func(context.Context) (string, error)) (string, error) {
	type outcome struct {
		token string
		err   error
	}
	done := make(chan outcome, 1)
	c.spends.Go(func() {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockTime+spendTime+keepTime)
		defer cancel()
		token, err := f(detached)
		done <- outcome{token, err}
	})
	select {
	case o := <-done:
		return o.token, o.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// refresh spends the refresh token, or takes the access token that another node has got with it.
func (c *Client) refresh(ctx context.Context, by Credentials, refused string) (Token, error) {
	key, holder := by.Key(), rand.Text()
	state, err := c.lock(ctx, by, holder)
	if err != nil {
		return Token{}, err
	}
	defer func() { _ = c.rotated.Unlock(context.WithoutCancel(ctx), key, holder) }() // it ends by itself
	if state, err = c.catchUp(ctx, key, state); err != nil {
		return Token{}, err
	}
	if a := state.Access; a.Value != "" && a.Value != refused && time.Now().Before(a.Expires) {
		return a, nil
	}
	spent := by
	if state.Refresh != "" {
		spent.Refresh = state.Refresh
	}
	got, err := c.ask(ctx, spent)
	if err != nil {
		return Token{}, err
	}
	next := State{Refresh: got.Refresh, Access: Token{got.Value, got.early(time.Now())}}
	if next.Refresh == "" {
		next.Refresh = spent.Refresh
	}
	if next.Refresh == by.Refresh && state.Version == 0 { // an endpoint that replaces nothing
		return got.Token, nil
	}
	return got.Token, c.keep(ctx, key, state.Version, next)
}

// lock waits for the right to spend the refresh token.
func (c *Client) lock(ctx context.Context, by Credentials, holder string) (State, error) {
	for {
		state, ok, err := c.rotated.Lock(ctx, by.Key(), holder, time.Now().Add(lockTime))
		if err != nil || ok {
			return state, err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return State{}, &Error{Host: by.host(), Text: "is being asked by another node, which does not end"}
		}
	}
}

// catchUp stores first what an earlier call could not store.
func (c *Client) catchUp(ctx context.Context, key string, state State) (State, error) {
	c.mu.Lock()
	unkept, ok := c.unkept[key]
	c.mu.Unlock()
	switch {
	case !ok:
		return state, nil
	case unkept.Version != state.Version: // another node was faster
		c.stored(key)
		return state, nil
	}
	if err := c.keep(ctx, key, state.Version, unkept); err != nil {
		return State{}, err
	}
	unkept.Version++
	return unkept, nil
}

func (c *Client) stored(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unkept, key)
}

// keep stores a state, and tries again while the store fails. Until it is stored, memory has it: the refresh token before it
// may be worth nothing any more.
func (c *Client) keep(ctx context.Context, key string, after int64, next State) error {
	held := next
	held.Version = after
	c.mu.Lock()
	c.unkept[key] = held
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		if _, err := c.rotated.Swap(ctx, key, after, next); err == nil { // another version is a later one
			c.stored(key)
			return nil
		} else if ctx.Err() != nil {
			return fmt.Errorf("store a refresh token: %w", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (c Credentials) host() string {
	if u, err := url.Parse(c.Endpoint); err == nil && u.Host != "" {
		return u.Host
	}
	return "that is configured"
}

// ask asks the token endpoint.
func (c *Client) ask(parent context.Context, by Credentials) (Granted, error) {
	ctx, cancel := context.WithTimeout(parent, spendTime)
	defer cancel()
	failed := func(status int, code, format string, args ...any) (Granted, error) {
		return Granted{}, &Error{Host: by.host(), Text: fmt.Sprintf(format, args...), Status: status, Code: code}
	}
	if err := CheckEndpoint(by.Endpoint); err != nil {
		return failed(0, "", "%s", err)
	}
	form, header := by.Request()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, by.Endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return failed(0, "", "is no address")
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("User-Agent", "quarry")
	resp, err := c.http.Do(r)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		var body []byte
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err == nil {
			return c.read(by, resp, body)
		}
	}
	if parent.Err() != nil {
		return Granted{}, context.Cause(parent)
	}
	return failed(0, "", "%s", unreached(err))
}

// read reads an answer of any status.
func (c *Client) read(by Credentials, resp *http.Response, body []byte) (Granted, error) {
	e := &Error{Host: by.host(), Status: resp.StatusCode}
	if len(body) > maxAnswer {
		e.Text = fmt.Sprintf("sent more than %d MiB", maxAnswer>>20)
		return Granted{}, e
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		e.Code = code(body)
		e.Text = fmt.Sprintf("answered with status %d", resp.StatusCode)
		if e.Code != "" {
			e.Text += ": " + e.Code
		}
		if e.Code == "invalid_grant" && by.Refresh != "" {
			e.Text += "; the refresh token is used up, revoked or of another client: configure a new one"
		}
		return Granted{}, e
	}
	got, err := Read(body, time.Now())
	switch {
	case errors.Is(err, ErrNoToken):
		e.Text = "answered without an access_token"
		return Granted{}, e
	case err != nil && strings.Contains(resp.Header.Get("Content-Type"), "html"):
		e.Text = "answered with a web page; is the address right?"
		return Granted{}, e
	case err != nil:
		e.Text = "answered with something that is not JSON"
		return Granted{}, e
	}
	return got, nil
}

// unreached explains why there is no answer, without the address.
func unreached(err error) string {
	var refused *outbound.Refused
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &refused) && refused.Blocked():
		return "may not be called: " + refused.Reason
	case refused != nil:
		return "can't be used: " + refused.Reason
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("has not answered within %s", spendTime)
	}
	return "can't be reached: " + outbound.Explain(err)
}

// codes are the error codes of token endpoints (RFC 6749, sections 4.1.2.1 and 5.2), the only words of theirs that are repeated.
var codes = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "access_denied",
	"server_error", "temporarily_unavailable", "invalid_target",
}

// code returns the error code of a refusal, "" for none that is known.
func code(body []byte) string {
	word := errorMember(body)
	if slices.Contains(codes, word) {
		return word
	}
	return ""
}
