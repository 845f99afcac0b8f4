package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quarry/internal/secret/redact"
)

// KeyFile is where the first start leaves the key of the owner, in the data folder.
const KeyFile = "owner.key"

// addressFile is where a running service leaves its URL, beside it.
const addressFile = "address"

// Client calls one service with one key or token.
type Client struct {
	Base       string
	key, token string // at most one of them
	http       *http.Client
	log        io.Writer // nil unless calls are to be printed
}

// Connect resolves address and key: flags and environment first, then the local data folder.
func (r Connection) Connect() (*Client, error) {
	cl, err := r.Reach()
	if err != nil || r.Token != "" {
		return cl, err
	}
	key := r.Key
	if key == "" {
		raw, err := os.ReadFile(filepath.Join(r.Data, KeyFile))
		if err != nil && r.URL == "" {
			return nil, Failed(ExitUsage, "no key is known: %s has no %s; give one with --key or QUARRY_API_KEY", r.Data, KeyFile)
		}
		key = strings.TrimSpace(string(raw))
	}
	cl.key = key
	return cl, nil
}

// Reach resolves the address alone, for calls that need no key.
func (r Connection) Reach() (*Client, error) {
	base := r.URL
	if base == "" {
		raw, err := os.ReadFile(filepath.Join(r.Data, addressFile))
		if err != nil {
			return nil, Failed(ExitUnreachable, "no service is known: %s has no running server; start one with quarry serve, or name one with --url", r.Data)
		}
		base = strings.TrimSpace(string(raw))
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	at, err := url.Parse(base)
	if err != nil || at.Hostname() == "" {
		return nil, Failed(ExitUsage, "%q is no address of a service; write one such as http://127.0.0.1:8080", base)
	}
	carry, err := r.transport(at)
	if err != nil {
		return nil, err
	}
	return &Client{Base: strings.TrimRight(base, "/"), token: r.Token, http: &http.Client{Timeout: 10 * time.Minute, Transport: carry}, log: r.log}, nil
}

// Call sends one request, whose body is JSON or a *Form, and decodes a 2xx answer into out (nil: ignored). It returns the raw answer too.
func (c *Client) Call(ctx context.Context, method, path string, body, out any) ([]byte, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return c.Send(req, out)
}

// Send sends a request with the credential and decodes a 2xx answer as Call does.
func (c *Client) Send(req *http.Request, out any) ([]byte, error) {
	res, err := c.do(req)
	var r *refusal
	if errors.As(err, &r) {
		return r.raw, err
	}
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, &Failure{ExitUnreachable, fmt.Sprintf("the answer of %s broke off: %v", c.Base, err), err}
	}
	if out != nil && len(raw) > 0 {
		if err := json.Unmarshal(raw, out); err != nil {
			return raw, fmt.Errorf("read the answer of %s: %w", req.URL.Path, err)
		}
	}
	return raw, nil
}

// do sends a request with the credential and returns a 2xx answer, whose body the caller closes.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	res, err := c.sent(req)
	if err != nil || res.StatusCode/100 == 2 {
		return res, err
	}
	defer res.Body.Close()
	r := &refusal{Status: res.StatusCode, header: res.Header, from: c}
	if r.raw, err = io.ReadAll(res.Body); err != nil {
		return nil, &Failure{ExitUnreachable, fmt.Sprintf("the answer of %s broke off: %v", c.Base, err), err}
	}
	_ = json.Unmarshal(r.raw, r) // a body that is not ours leaves the status alone to speak
	return nil, r
}

// Relay sends a request whose URL is a path, with the credential, and returns whatever comes, whose body the caller closes. It may take
// as long as it likes.
func (c *Client) Relay(req *http.Request) (*http.Response, error) {
	at, err := url.Parse(c.Base + req.URL.RequestURI())
	if err != nil {
		return nil, Failed(ExitUsage, "%v", err)
	}
	req.URL, req.Host = at, at.Host
	return c.unhurried().sent(req)
}

// Within returns a client whose calls take at most d, 0 for as long as they like.
func (c *Client) Within(d time.Duration) *Client {
	other := *c
	other.http = &http.Client{Timeout: d, Transport: c.http.Transport}
	return &other
}

// unhurried returns a client for answers that may go on for as long as they like.
func (c *Client) unhurried() *Client {
	return c.Within(0)
}

// sent sends a request with the credential and returns its answer, whose body the caller closes.
func (c *Client) sent(req *http.Request) (*http.Response, error) {
	if c.key != "" {
		req.Header.Set("x-api-key", c.key)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	start := time.Now()
	res, err := c.http.Do(req)
	c.note(req, res, time.Since(start))
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, context.Canceled
		}
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if text := certificateTrouble(c.Base, err); text != "" {
			return nil, Failed(ExitUnreachable, "%s", text)
		}
		return nil, &Failure{ExitUnreachable, fmt.Sprintf("the service at %s is not reached: %v", c.Base, err), err}
	}
	return res, nil
}

// note prints a call and what the service did not know in it, if that is wanted. Headers and bodies may hold secrets and are
// not printed.
func (c *Client) note(req *http.Request, res *http.Response, took time.Duration) {
	if c.log == nil {
		return
	}
	line, ms := req.Method+" "+req.URL.RequestURI(), float64(took.Microseconds())/1000
	if res == nil {
		fmt.Fprintf(c.log, "%s: no answer after %.1f ms\n", redact.Text(line), ms)
		return
	}
	fmt.Fprintf(c.log, "%s: %d after %.1f ms, request %s\n", redact.Text(line), res.StatusCode, ms, harmless(res.Header.Get("x-request-id")))
	if unknown := res.Header.Get("x-quarry-unknown"); unknown != "" {
		fmt.Fprintf(c.log, "the service does not know: %s\n", harmless(strings.ReplaceAll(unknown, ";near=", ", perhaps meant as ")))
	}
}

// pageSize is how many items a page of a list has at most.
const pageSize = 100

// errEnough ends a walk over pages.
var errEnough = errors.New("enough")

// List walks the pages of a list operation and returns its items: at most limit of them, 0 = all. more reports whether there
// are others.
func (c *Client) List(ctx context.Context, path, member string, query url.Values, limit int) (items []json.RawMessage, more bool, err error) {
	items = []json.RawMessage{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(min(limit+1, pageSize))) // one more shows whether there are others
	}
	err = c.Pages(ctx, path, member, query, func(page []json.RawMessage) error {
		items = append(items, page...)
		if more = limit > 0 && len(items) > limit; more {
			items = items[:limit]
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return items, more, err
}

// Pages calls fn with each page of a list operation as it comes; an error of fn ends the walk and is returned.
func (c *Client) Pages(ctx context.Context, path, member string, query url.Values, fn func([]json.RawMessage) error) error {
	if query.Get("limit") == "" {
		query.Set("limit", strconv.Itoa(pageSize))
	}
	for {
		var answer map[string]json.RawMessage
		if _, err := c.Call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &answer); err != nil {
			return err
		}
		var items []json.RawMessage
		var metadata struct {
			PageKey string `json:"page_key"`
		}
		if err := errors.Join(json.Unmarshal(answer[member], &items), json.Unmarshal(answer["metadata"], &metadata)); err != nil {
			return fmt.Errorf("read the answer of %s: %w", path, err)
		}
		if err := fn(items); err != nil {
			return err
		}
		if metadata.PageKey == "" || len(items) == 0 {
			return nil
		}
		query.Set("page_key", metadata.PageKey)
	}
}

// CorpusPath returns the path of a corpus.
func CorpusPath(key string) string { return "/v2/corpora/" + Segment(key) }

// DocumentPath returns the path of a document.
func DocumentPath(corpus, id string) string { return CorpusPath(corpus) + "/documents/" + Segment(id) }

// Segment encodes an identifier for one path segment.
func Segment(s string) string { return url.PathEscape(s) }
