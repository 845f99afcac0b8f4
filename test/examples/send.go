package examples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
)

// service is one service in process and what it was told so far.
type service struct {
	handler  http.Handler
	key      string
	before   Before
	standIns standIns
	sent     map[string]bool
}

// run sends an example after those that it builds on, and describes how the answer differs from what it shows.
func (s *service) run(all map[string]*Example, name string) error {
	if s.sent[name] {
		return nil
	}
	s.sent[name] = true
	e := all[name]
	if e == nil {
		return fmt.Errorf("there is no example %s", name)
	}
	for _, earlier := range s.before.Examples[name] {
		if err := s.run(all, earlier); err != nil {
			return err
		}
	}
	if err := s.send(e); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *service) send(e *Example) error {
	req, err := e.request(s.standIns)
	if err != nil {
		return err
	}
	switch token := s.before.Tokens[e.String()]; {
	case token != "":
		req.Header.Set("Authorization", "Bearer "+s.standIns.text(token))
	case !e.Operation.Public:
		req.Header.Set("x-api-key", s.key)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, req)
	raw := w.Body.Bytes()
	if w.Code != e.Status {
		return fmt.Errorf("%s %s answers %d, want %d: %.600s", req.Method, req.URL, w.Code, e.Status, raw)
	}
	c := comparison{free: s.before.Free, standIns: s.standIns}
	switch want := e.Answer.(type) {
	case nil:
		if e.Events != nil {
			return c.stream(e.Events, string(raw))
		}
		if len(raw) > 0 {
			return fmt.Errorf("the answer has content: %.600s", raw)
		}
		return nil
	case string:
		return c.lines(want, string(raw))
	}
	var got any
	if err := json.Unmarshal(raw, &got); err != nil {
		return fmt.Errorf("read the answer %.600s: %w", raw, err)
	}
	if d := c.differ("answer", e.Answer, got); d != "" {
		return fmt.Errorf("%s\nthe whole answer: %s", d, raw)
	}
	return nil
}

// lines compares a text: the lines of want stand in got, in this order.
func (c comparison) lines(want, got string) error {
	rest := got
	for line := range strings.Lines(want) {
		_, after, found := strings.Cut(rest, strings.TrimSpace(line))
		if !found {
			return fmt.Errorf("the answer lacks the line %q: %.600s", line, got)
		}
		rest = after
	}
	return nil
}

// stream compares events: each that is shown comes, and of each type that comes one is shown.
func (c comparison) stream(want map[string]any, got string) error {
	matched := map[string]string{}
	for block := range strings.SplitSeq(strings.TrimSpace(got), "\n\n") {
		_, data, found := strings.Cut(block, "\ndata:")
		if !found {
			continue // a comment
		}
		var event map[string]any
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return fmt.Errorf("read the event %s: %w", block, err)
		}
		kind := fmt.Sprint(event["type"])
		if want[kind] == nil {
			return fmt.Errorf("the stream has an event that the example does not show: %s", block)
		}
		if d, seen := matched[kind]; !seen || d != "" {
			matched[kind] = c.differ(kind, want[kind], event)
		}
	}
	for kind := range want {
		if d, seen := matched[kind]; !seen || d != "" {
			return fmt.Errorf("no event %s is as shown: %s\n%s", kind, d, got)
		}
	}
	return nil
}

// request returns the request of an example, with stand-ins where it names what the service named otherwise.
func (e *Example) request(s standIns) (*http.Request, error) {
	path, query := e.Operation.Path, url.Values{}
	for _, p := range e.Operation.Params {
		value, shown := e.Params[p.Name]
		switch {
		case !shown:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(s.text(value)))
		case p.In == "query":
			query.Set(p.Name, s.text(value))
		default:
			return nil, fmt.Errorf("an example of the parameter %s in %s is not sent", p.Name, p.In)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	body, media, err := e.payload(s)
	if err != nil {
		return nil, err
	}
	req := httptest.NewRequest(e.Operation.Method, path, body)
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	return req, nil
}

func (e *Example) payload(s standIns) (io.Reader, string, error) {
	body := s.put(e.Body)
	switch e.Media {
	case "":
		return http.NoBody, "", nil
	case "application/json":
		raw, err := json.Marshal(body)
		return bytes.NewReader(raw), e.Media, err
	}
	members, ok := body.(map[string]any)
	if !ok {
		return nil, "", fmt.Errorf("the example of %s is not an object", e.Media)
	}
	if e.Media == "multipart/form-data" {
		return multipartBody(members)
	}
	form := url.Values{}
	for name, v := range members {
		form.Set(name, fmt.Sprint(v))
	}
	return strings.NewReader(form.Encode()), e.Media, nil
}

// multipartBody writes the member file as a file, the members of files as files file-1.txt and so on, other texts as they are
// and all else as JSON.
func multipartBody(members map[string]any) (io.Reader, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, v := range members {
		if several, ok := v.([]any); ok && name == "files" {
			for i, content := range several {
				part, err := w.CreateFormFile(name, fmt.Sprintf("file-%d.txt", i+1))
				if err == nil {
					_, err = io.WriteString(part, fmt.Sprint(content))
				}
				if err != nil {
					return nil, "", err
				}
			}
			continue
		}
		head := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", name)}}
		text, isText := v.(string)
		switch {
		case name == "file":
			head.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", name, members["filename"]))
		case !isText:
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, "", err
			}
			head.Set("Content-Type", "application/json")
			text = string(raw)
		}
		part, err := w.CreatePart(head)
		if err == nil {
			_, err = io.WriteString(part, text)
		}
		if err != nil {
			return nil, "", err
		}
	}
	err := w.Close()
	return &b, w.FormDataContentType(), err
}
