package scenario

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"quarry/internal/api"
	"quarry/test/ledger"
)

// Target is a running service.
type Target struct {
	URL    string
	Keys   map[string]string // by the name that steps use: owner, powerless
	Values map[string]string // that steps may use as if they had been saved
	Client *http.Client
}

// Contract checks responses against the project's OpenAPI file.
type Contract struct{ doc *openapi3.T }

// NewContract reads the OpenAPI file.
func NewContract(raw []byte) (*Contract, error) {
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	return &Contract{doc}, nil
}

// Run runs a scenario and returns what it saw; the error names the step that failed.
func (c *Contract) Run(ctx context.Context, t Target, name string, s *Scenario) ([]ledger.Evidence, error) {
	saved := map[string]any{}
	for k, v := range t.Values {
		saved[k] = v
	}
	var seen []ledger.Evidence
	for i := range s.Steps {
		step := &s.Steps[i]
		if step.Race != nil {
			met, err := c.race(ctx, t, step.Race, saved)
			if err != nil {
				return seen, fmt.Errorf("step %d (race): %w", i+1, err)
			}
			met.Scenario = name
			seen = append(seen, met)
			continue
		}
		status, err := c.wait(ctx, t, step, saved)
		if err != nil {
			return seen, fmt.Errorf("step %d (%s): %w", i+1, step.Call, err)
		}
		seen = append(seen, ledger.Evidence{Operation: step.Call, Scenario: name, Status: status})
	}
	return seen, nil
}

// How long a step waits, and how often it asks.
const (
	patience = 30 * time.Second
	askEvery = 20 * time.Millisecond
)

// wait takes a step, again and again if it waits.
func (c *Contract) wait(ctx context.Context, t Target, s *Step, saved map[string]any) (status int, err error) {
	for end := time.Now().Add(patience); ; {
		status, err = c.step(ctx, t, s, saved)
		if err == nil || !s.Waits || time.Now().After(end) {
			return status, err
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return status, err
		}
	}
}

func (c *Contract) step(ctx context.Context, t Target, s *Step, saved map[string]any) (int, error) {
	op := api.OperationByID(s.Call)
	if op == nil {
		return 0, fmt.Errorf("no operation %q in the contract", s.Call)
	}
	req, err := request(ctx, t, op, s, saved)
	if err != nil {
		return 0, err
	}
	res, err := t.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if err := s.Expect.check(res, raw, saved); err != nil {
		return 0, fmt.Errorf("%s %s: %w", req.Method, req.URL.RequestURI(), err)
	}
	if err := c.conforms(ctx, op, req, res, raw); err != nil {
		return 0, fmt.Errorf("%s %s answered outside the contract: %w\n%s", req.Method, req.URL.RequestURI(), err, raw)
	}
	return res.StatusCode, save(s.Save, raw, saved)
}

func save(names map[string]string, raw []byte, saved map[string]any) error {
	if len(names) == 0 {
		return nil
	}
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		return err
	}
	for name, path := range names {
		v, ok := at(body, path)
		if !ok {
			return fmt.Errorf("nothing at %s to save as %s", path, name)
		}
		saved[name] = v
	}
	return nil
}

// check compares a response with what is expected.
func (e *Expect) check(res *http.Response, raw []byte, saved map[string]any) error {
	if res.StatusCode != e.Status && !slices.Contains(e.OneOf, res.StatusCode) {
		return fmt.Errorf("got status %d, want %d: %.600s", res.StatusCode, e.Status, raw)
	}
	for _, h := range []string{"Cache-Control", "CDN-Cache-Control"} {
		if res.Header.Get(h) != "no-store" {
			return fmt.Errorf("header %s is %q, want no-store", h, res.Header.Get(h))
		}
	}
	if err := refusal(res, raw); err != nil {
		return fmt.Errorf("%w in the refusal %d %.600s", err, res.StatusCode, raw)
	}
	for h, want := range e.Headers {
		if got := res.Header.Get(h); got != want && (want != "*" || got == "") {
			return fmt.Errorf("header %s is %q, want %q", h, got, want)
		}
	}
	for _, text := range e.Contains {
		if want := fmt.Sprint(fillText(text, saved)); !strings.Contains(string(raw), want) {
			return fmt.Errorf("%q is not in %.600s", want, raw)
		}
	}
	for _, text := range e.Lacks {
		unwanted := fmt.Sprint(fillText(text, saved))
		if strings.Contains(unwanted, "${") || strings.Contains(string(raw), unwanted) {
			return fmt.Errorf("%q is in %.600s, or was never saved", unwanted, raw)
		}
	}
	if e.Events != nil {
		return e.checkEvents(res, raw, saved)
	}
	if len(raw) == 0 {
		if e.Body != nil || len(e.Lengths) > 0 {
			return fmt.Errorf("the body is empty")
		}
		return nil
	}
	return e.checkBody(raw, saved)
}

func (e *Expect) checkBody(raw []byte, saved map[string]any) error {
	var body any
	if err := json.Unmarshal(raw, &body); err != nil {
		if e.Body == nil && len(e.Lengths) == 0 {
			return nil
		}
		return fmt.Errorf("the body is not JSON: %.200s", raw)
	}
	if d := differ("body", fill(e.Body, saved), body); e.Body != nil && d != "" {
		return fmt.Errorf("%s", d)
	}
	for _, path := range e.Absent {
		if v, ok := at(body, path); ok {
			return fmt.Errorf("%s is there: %s", path, show(v))
		}
	}
	for path, want := range e.Lengths {
		v, _ := at(body, path)
		list, ok := v.([]any)
		if !ok || len(list) != want {
			return fmt.Errorf("%s has %d elements, want %d: %s", path, len(list), want, show(v))
		}
	}
	return nil
}

// conforms checks status, content type and body of a response against the contract; its default
// error stands for statuses that are not listed.
func (c *Contract) conforms(ctx context.Context, op *api.Operation, req *http.Request, res *http.Response, raw []byte) error {
	item := c.doc.Paths.Value(op.Path)
	if item == nil {
		return fmt.Errorf("path %s is not in the contract", op.Path)
	}
	route := &routers.Route{Spec: c.doc, Path: op.Path, PathItem: item, Method: op.Method, Operation: item.GetOperation(op.Method)}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route},
		Status:                 res.StatusCode, Header: res.Header,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			ExcludeResponseBody:   !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json"),
		},
	}
	in.SetBodyBytes(raw)
	if err := openapi3filter.ValidateResponse(ctx, in); err != nil {
		return err
	}
	return streamConforms(route.Operation, res, raw)
}

func request(ctx context.Context, t Target, op *api.Operation, s *Step, saved map[string]any) (*http.Request, error) {
	body, contentType, err := s.payload(saved)
	if err != nil {
		return nil, err
	}
	path := op.Path
	for name, value := range s.Path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(fillText(value, saved))))
	}
	if s.RawPath != "" {
		path = fmt.Sprint(fillText(s.RawPath, saved))
	}
	query := url.Values{}
	for name, value := range s.Query {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			query.Add(name, fmt.Sprint(fill(v, saved)))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, op.Method, t.URL+path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if err := authenticate(req, t, s, saved); err != nil {
		return nil, err
	}
	for k, v := range s.Headers {
		req.Header.Set(k, fmt.Sprint(fillText(v, saved)))
	}
	return req, nil
}

// authenticate sets the credential that a step names.
func authenticate(req *http.Request, t Target, s *Step, saved map[string]any) error {
	switch {
	case s.Bearer != "":
		token, err := secret(s.Bearer, saved)
		req.Header.Set("Authorization", "Bearer "+token)
		return err
	case s.Basic != "":
		pair, err := secret(s.Basic, saved)
		req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
		return err
	case s.Key == "none":
		return nil
	case s.Key == "bad":
		req.Header.Set("x-api-key", "zut_not-a-key-of-this-installation")
		return nil
	case strings.HasPrefix(s.Key, "${"):
		key, err := secret(s.Key, saved)
		req.Header.Set("x-api-key", key)
		return err
	}
	key, known := t.Keys[cmp.Or(s.Key, "owner")]
	if !known {
		return fmt.Errorf("no key is named %q", s.Key)
	}
	req.Header.Set("x-api-key", key)
	return nil
}

// secret fills in what an earlier step saved. A name that nothing saved must not pass for a wrong credential.
func secret(text string, saved map[string]any) (string, error) {
	filled := fmt.Sprint(fillText(text, saved))
	if strings.Contains(filled, "${") {
		return "", fmt.Errorf("nothing is saved for %s", text)
	}
	return filled, nil
}

func (r *Repeat) text() string { return r.Before + strings.Repeat(r.Text, r.Times) + r.After }

func (s *Step) payload(saved map[string]any) (io.Reader, string, error) {
	switch {
	case s.Form != nil:
		return formBody(s.Form, saved)
	case s.Encoded != nil:
		form := url.Values{}
		for name, text := range s.Encoded {
			form.Set(name, fmt.Sprint(fillText(text, saved)))
		}
		return strings.NewReader(form.Encode()), "application/x-www-form-urlencoded", nil
	case s.Raw != nil:
		return strings.NewReader(*s.Raw), "application/json", nil
	case s.Repeat != nil:
		return strings.NewReader(s.Repeat.text()), "application/json", nil
	case s.Body != nil:
		raw, err := json.Marshal(fill(s.Body, saved))
		return bytes.NewReader(raw), "application/json", err
	}
	return nil, "", nil
}

func formBody(parts []FormPart, saved map[string]any) (io.Reader, string, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf(`form-data; name=%q`, p.Name)
		if p.Filename != "" {
			disposition += fmt.Sprintf(`; filename="%s"`, p.Filename)
		}
		h.Set("Content-Disposition", disposition)
		if p.Type != "" {
			h.Set("Content-Type", p.Type)
		}
		data := []byte(fmt.Sprint(fillText(p.Text, saved)))
		switch {
		case p.JSON != nil:
			raw, err := json.Marshal(fill(p.JSON, saved))
			if err != nil {
				return nil, "", err
			}
			data = raw
		case p.Repeat != nil:
			data = []byte(p.Repeat.text())
		case p.Binary != "":
			data = []byte(p.Binary)
		}
		w, err := form.CreatePart(h)
		if err != nil {
			return nil, "", err
		}
		if _, err := w.Write(data); err != nil {
			return nil, "", err
		}
	}
	return &b, form.FormDataContentType(), form.Close()
}
