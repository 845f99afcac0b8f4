// Package webget makes the HTTP requests of the tool web_get: bounded in time and size, through clients of package outbound,
// which judge every address that is called and each redirect.
package webget

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/web"
	"quarry/internal/outbound"
)

// Client is the door of web_get to the web. It is safe for concurrent use.
type Client struct{ checked, unchecked *http.Client }

// New returns a client. Both are of package outbound; unchecked doesn't look at certificates.
func New(checked, unchecked *http.Client) *Client { return &Client{checked, unchecked} }

// userAgent is what requests say of whoever makes them, unless they have a header for it.
const userAgent = "Mozilla/5.0 (compatible; Quarry)"

// Get returns the answer to a request.
func (c *Client) Get(ctx context.Context, r web.Request) (web.Response, error) {
	hops := outbound.Redirects{Most: r.Redirects, Held: r.Held, Lost: slices.Collect(maps.Keys(r.Headers))}
	hops.Lost = slices.DeleteFunc(hops.Lost, func(name string) bool { return strings.EqualFold(name, "Content-Type") })
	request, err := http.NewRequestWithContext(hops.With(ctx), r.Method, r.URL, strings.NewReader(r.Body))
	if err != nil {
		return web.Response{}, failed(err)
	}
	if r.Body == "" {
		request.Body, request.GetBody, request.ContentLength = nil, nil, 0
	}
	setHeaders(request, r.Headers)
	client := c.checked
	if r.Insecure {
		client = c.unchecked
	}
	resp, err := client.Do(request)
	if err != nil {
		return web.Response{}, failed(err)
	}
	defer resp.Body.Close()
	out := web.Response{Status: resp.StatusCode, URL: r.URL, Type: resp.Header.Get("Content-Type"), Filename: filename(resp.Header)}
	if resp.Request != request { // a redirect was followed
		out.URL = resp.Request.URL.String()
	}
	if r.Method == http.MethodHead {
		return out, nil
	}
	if resp.ContentLength > web.MaxBody {
		return web.Response{}, tooLarge()
	}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") { // gzip is undone by now
		return web.Response{}, &tool.Failure{Class: tool.ExecutionError, Text: fmt.Sprintf("the answer is packed as %q, which was not asked for and can't be read", packed)}
	}
	if out.Content, out.More, err = read(resp.Body, r.Most); err != nil {
		return web.Response{}, err
	}
	if out.Type == "" && len(out.Content) > 0 {
		out.Type = http.DetectContentType(out.Content)
	}
	return out, nil
}

// setHeaders sets headers under the names as they are: two that differ in case are two.
func setHeaders(request *http.Request, headers map[string]string) {
	request.Header.Set("Accept", "*/*")
	request.Header.Set("User-Agent", userAgent)
	for name, value := range headers {
		switch canonical := http.CanonicalHeaderKey(name); canonical {
		case "Host":
			request.Host = value
		case "Accept-Encoding": // the transport asks for what it can undo
		case "Accept", "User-Agent":
			request.Header[canonical] = []string{value}
		default:
			request.Header[name] = []string{value}
		}
	}
}

// read returns the first most bytes of a body, and whether there are more. It reads on to find out how large the body is, since
// one beyond web.MaxBody is refused.
func read(body io.Reader, most int64) (content []byte, more bool, err error) {
	if content, err = io.ReadAll(io.LimitReader(body, most)); err != nil {
		return nil, false, failed(err)
	}
	if int64(len(content)) < most {
		return content, false, nil
	}
	rest, err := io.Copy(io.Discard, io.LimitReader(body, web.MaxBody-most+1))
	if rest > web.MaxBody-most {
		return nil, false, tooLarge()
	}
	return content, rest > 0 || err != nil, nil // what is wanted is there, however the rest ends
}

func tooLarge() error {
	return &tool.Failure{Class: tool.ExecutionError, Text: fmt.Sprintf("the answer has more than %d MiB, which is more than is read of any", web.MaxBody>>20)}
}

func failed(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return &tool.Failure{Class: tool.ExecutionError, Text: "the request has failed: " + outbound.Explain(err)}
}

// filename returns the name that an answer has for a file, "" for none.
func filename(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}
