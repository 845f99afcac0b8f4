package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/schema"
	"quarry/internal/clip"
)

// Get is the name of the tool that makes HTTP requests, and of the type of its configurations.
const Get = "web_get"

// Bounds of a request.
const (
	MaxBody      = 32 << 20 // bytes of an answer, unpacked; one that is larger is refused
	maxRedirects = 10

	defaultTime, maxTime       = 30 * time.Second, 300 * time.Second
	defaultContent, maxContent = 1 << 20, 10 << 20
)

// Getter is what HTTP requests go out through.
type Getter interface {
	// Get returns the answer to a request, whatever its status. Errors are *tool.Failure, or that of ctx.
	Get(ctx context.Context, r Request) (Response, error)
}

// Request is an HTTP request.
type Request struct {
	Method, URL string
	Headers     map[string]string // by their exact names; another origin that a redirect leads to doesn't get them
	Body        string
	Held        bool  // no redirect leads the body to another origin
	Redirects   int   // how many are followed; with 0 a redirect is the answer
	Insecure    bool  // certificates are not checked
	Most        int64 // bytes of content that are wanted
}

// Response is the answer to a request.
type Response struct {
	Status   int
	URL      string // as it was asked for, or where redirects have led
	Type     string // the media type, as it was declared or else found; "" if there is no content
	Filename string // as it was declared; "" for none
	Content  []byte
	More     bool // of the content than was wanted
}

const getDescription = "Makes an HTTP request, GET unless another method is given, and returns the status and the content of the answer. " +
	"Every status is a result, also 404 or 500. Texts such as HTML and JSON are returned as they are; anything else becomes a file of this session, " +
	"whose id is the content. Use it to read a page or to call an API."

// getSchema is of the arguments of web_get.
const getSchema = `{
	"type": "object",
	"properties": {
		"url": {"type": "string", "minLength": 1, "maxLength": 8192, "description": "The address, which begins with http:// or https://."},
		"method": {"type": "string", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], "description": "The method, GET if it is left out."},
		"headers": {"type": "object", "maxProperties": 100, "additionalProperties": {"type": "string", "maxLength": 16384}, "description": "Headers of the request by their names."},
		"body": {"type": "string", "description": "The body of the request. A Content-Type header says what it is."},
		"follow_redirects": {"type": "boolean", "description": "Whether redirects are followed, at most 10 of them; true if it is left out."},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 300, "description": "How long the request may take, 30 seconds if it is left out."},
		"head_lines": {"type": "integer", "minimum": 0, "description": "Keeps only so many lines of the beginning of a text."},
		"tail_lines": {"type": "integer", "minimum": 0, "description": "Keeps only so many lines of the end of a text, beside those of head_lines."},
		"ssl_verify": {"type": "boolean", "description": "Whether certificates are checked. Only whoever configures the tool can turn that off."},
		"max_content_bytes": {"type": "integer", "minimum": 1, "maximum": 10485760, "description": "How much of the content is read, 1 MiB if it is left out."},
		"auth": {
			"type": "object",
			"description": "How the request is authorized; left out, it is not.",
			"properties": {
				"type": {"type": "string", "enum": ["none", "bearer", "header", "oauth_client_credentials", "oauth_refresh_token"]},
				"token": {"type": "string", "description": "Of bearer: the token."},
				"header": {"type": "string", "description": "Of header: the name of the header."},
				"value": {"type": "string", "description": "Of header: its value."},
				"client_id": {"type": "string", "description": "Of OAuth: the client."},
				"client_secret": {"type": "string", "description": "Of OAuth: its secret."},
				"refresh_token": {"type": "string", "description": "Of oauth_refresh_token: the refresh token."},
				"token_endpoint": {"type": "string", "description": "Of OAuth: where tokens are fetched."},
				"scopes": {"type": "array", "items": {"type": "string"}, "maxItems": 100, "description": "Of oauth_client_credentials: what the token is asked for."}
			},
			"required": ["type"],
			"additionalProperties": false
		}
	},
	"required": ["url"],
	"additionalProperties": false
}`

const getOutput = `{
	"type": "object",
	"properties": {
		"status_code": {"type": "integer", "description": "The status of the answer."},
		"url": {"type": "string", "description": "The address that has answered, behind all redirects."},
		"content": {"type": "string", "description": "The text, or the artifact_id of the file that holds any other content."},
		"truncated": {"type": "boolean", "description": "Whether anything of the text is left out."},
		"artifact": {
			"type": "object",
			"description": "The file that holds the content, where that is no text.",
			"properties": {"artifact_id": {"type": "string"}, "filename": {"type": "string"}, "mime_type": {"type": "string"}, "size_bytes": {"type": "integer"}},
			"required": ["artifact_id", "filename", "mime_type", "size_bytes"]
		}
	},
	"required": ["status_code", "url", "content", "truncated"]
}`

// NewGet returns the type web_get.
func NewGet(getter Getter, tokens Tokens) (tool.Type, error) {
	arguments, err := schema.New(json.RawMessage(getSchema))
	if err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", Get, err)
	}
	output, err := schema.New(json.RawMessage(getOutput))
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", Get, err)
	}
	return func(configuration json.RawMessage) (*tool.Tool, error) {
		g := &get{getter: getter, tokens: tokens}
		secrets, err := g.read(configuration)
		if err != nil {
			return nil, err
		}
		return &tool.Tool{
			Name: Get, Description: getDescription, Schema: arguments, Output: output, Repeat: tool.Repeatable, Timeout: maxTime, Fixed: true,
			Secrets: secrets, Run: g.run,
		}, nil
	}, nil
}

// get is one configuration of web_get.
type get struct {
	getter   Getter
	tokens   Tokens
	insecure bool                     // the configuration says whether certificates are checked
	held     bool                     // the body may hold what is secret
	limited  bool                     // the configuration says how long a call may take
	host     func(header string) bool // whether the configuration has set a header that names the host
}

// request are the arguments of a call.
type request struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Follow  *bool             `json:"follow_redirects"`
	Seconds int64             `json:"timeout_seconds"`
	Head    int               `json:"head_lines"`
	Tail    int               `json:"tail_lines"`
	Verify  *bool             `json:"ssl_verify"`
	Most    int64             `json:"max_content_bytes"`
	Auth    *auth             `json:"auth"`
}

// answer is the output of a call.
type answer struct {
	Status    int    `json:"status_code"`
	URL       string `json:"url"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Artifact  *made  `json:"artifact,omitempty"`
}

// made is a file that holds the content of an answer.
type made struct {
	ID       string `json:"artifact_id"`
	Filename string `json:"filename"`
	MIME     string `json:"mime_type"`
	Size     int64  `json:"size_bytes"`
}

// run is Tool.Run.
func (g *get) run(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args request
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, invalid("the arguments can't be read: %s", err)
	}
	args.Method = cmp.Or(args.Method, "GET")
	if c.Again && args.Method != "GET" && args.Method != "HEAD" {
		return nil, &tool.Failure{Class: tool.ExecutionError, Text: "interrupted by restart: the " + args.Method + " may have been made, so it is not made again"}
	}
	if err := args.check(); err != nil {
		return nil, err
	}
	for name := range args.Headers {
		if strings.EqualFold(name, "Host") && !g.host(name) { // it leads to another site behind an address that may be called
			return nil, invalid("headers.%s: only the configuration of the tool can set it; the url names the host", name)
		}
	}
	wanted := time.Duration(args.Seconds) * time.Second
	limit := cmp.Or(wanted, defaultTime)
	if g.limited { // package tool ends the call at the time that the configuration names
		limit = tool.MaxSeconds * time.Second
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, used, err := g.exchange(within, &args)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, &tool.Failure{Class: tool.Timeout, Text: fmt.Sprintf("the request took longer than %s; timeout_seconds can be at most 300", limit)}
	case err != nil:
		return nil, err
	}
	out, err := got.answer(ctx, &c, &args, used)
	if err != nil {
		return nil, err
	}
	return used.JSON(encode(out)), nil
}

// check returns what is wrong with the arguments of a request beside what the schema says.
func (r *request) check() error {
	if err := checkURL(r.URL); err != nil {
		return invalid("url: %s", err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if err := checkHeader(name, r.Headers[name]); err != nil {
			return invalid("headers.%s: %s", name, err)
		}
	}
	return r.Auth.check()
}

// exchange returns the answer to a request, which is made a second time where an access token is refused. The mask knows the tokens
// that were used.
func (g *get) exchange(ctx context.Context, args *request) (got Response, used *mask.Mask, err error) {
	r := Request{
		Method: args.Method, URL: args.URL, Body: args.Body, Held: g.held, Most: cmp.Or(args.Most, defaultContent), Redirects: maxRedirects,
		Insecure: g.insecure && args.Verify != nil && !*args.Verify,
	}
	if args.Follow != nil && !*args.Follow {
		r.Redirects = 0
	}
	var tokens []string
	refused := ""
	for {
		name, value, token, err := g.credential(ctx, args, refused)
		if err != nil {
			return Response{}, nil, err
		}
		r.Headers = maps.Clone(args.Headers)
		if r.Headers == nil {
			r.Headers = map[string]string{}
		}
		if _, given := r.Headers[name]; !given && name != "" {
			r.Headers[name] = value
		}
		if tokens = append(tokens, token); token == "" {
			tokens = nil
		}
		got, err = g.getter.Get(ctx, r)
		if err != nil || got.Status != statusUnauthorized || token == "" || refused != "" {
			return got, mask.New(tokens...), err
		}
		refused = token
	}
}

// statusUnauthorized is the status by which a server refuses an access token.
const statusUnauthorized = 401

// answer returns the output of a call, in which secrets are masked before anything is cut.
func (r *Response) answer(ctx context.Context, c *tool.Call, args *request, used *mask.Mask) (*answer, error) {
	out := &answer{Status: r.Status, URL: r.URL}
	if len(r.Content) == 0 {
		return out, nil
	}
	if isText(r.Type) {
		if text, ok := decode(r.Content, r.Type, r.More); ok {
			if text = used.Text(c.Mask.Text(text)); r.More {
				text = used.Trim(c.Mask.Trim(text))
			}
			kept := clip.Head(text, int(cmp.Or(args.Most, defaultContent)))
			out.Content = lines(kept, args.Head, args.Tail)
			out.Truncated = r.More || len(out.Content) < len(text)
			return out, nil
		}
	}
	if r.More {
		return nil, &tool.Failure{Class: tool.ExecutionError, Text: fmt.Sprintf(
			"the answer (%d, %s) is no text and has more than %d bytes, so it can't become a file; max_content_bytes can be up to %d", r.Status, r.Type, len(r.Content), maxContent)}
	}
	return out, r.keep(ctx, c, used, out)
}

// keep writes the content to a file.
func (r *Response) keep(ctx context.Context, c *tool.Call, used *mask.Mask, out *answer) error {
	if c.Files == nil {
		return &tool.Failure{Class: tool.ExecutionError, Text: "the answer is no text, and a session can't have files while it is made"}
	}
	hide := func(s string) string { return used.Text(c.Mask.Text(s)) }
	a, err := c.Files.Create(ctx, artifact.New{
		Filename: hide(r.filename()), MIME: hide(r.Type), Description: hide("The content of " + clip.Head(r.URL, 500)),
	}, bytes.NewReader([]byte(hide(string(r.Content)))))
	if err != nil {
		return err
	}
	out.Content, out.Artifact = a.ID, &made{a.ID, a.Filename, a.MIME, a.Size}
	return nil
}

// filename returns the name of a file with the content: as it was declared, else the end of the address.
func (r *Response) filename() string {
	if r.Filename != "" {
		return r.Filename
	}
	name := "content"
	if u, err := url.Parse(r.URL); err == nil && strings.Trim(u.Path, "/") != "" {
		name = path.Base(u.Path)
	}
	if path.Ext(name) == "" {
		if kind, _, err := mime.ParseMediaType(r.Type); err == nil {
			name += endings[kind]
		}
	}
	return name
}

// endings are of files whose address has none.
var endings = map[string]string{
	"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/zip": ".zip",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx", "audio/mpeg": ".mp3", "video/mp4": ".mp4",
}

// invalid returns the failure of arguments.
func invalid(format string, args ...any) error {
	return &tool.Failure{Class: tool.InvalidInput, Text: fmt.Sprintf(format, args...)}
}

// encode writes an output.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts, numbers and truths always encode
	return b.Bytes()
}

// checkURL returns what is wrong with an address.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("is no address")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("must be an address that begins with http:// or https://")
	case u.User != nil:
		return errors.New("must not hold a user name or password; they belong into auth or headers")
	}
	return nil
}

// framing are the headers that a request can't be given, since they follow from it.
var framing = map[string]bool{
	"connection": true, "content-length": true, "expect": true, "keep-alive": true, "te": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
	"proxy-connection": true, "proxy-authorization": true,
}

// checkHeader returns what is wrong with a header.
func checkHeader(name, value string) error {
	bad := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }
	switch {
	case name == "" || strings.ContainsFunc(name, bad):
		return errors.New("is no name of a header")
	case framing[strings.ToLower(name)]:
		return errors.New("is a header that the request itself sets")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return errors.New("must be one line of text")
	}
	return nil
}
