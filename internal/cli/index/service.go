package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"quarry/internal/cli/command"
	"quarry/internal/fault"
	"quarry/internal/folder"
	"quarry/internal/folder/source"
)

// service is a corpus behind the REST interface, as package folder needs it.
type service struct {
	client *command.Client
	corpus string      // key
	chars  int         // characters of a passage, 0 for sentences
	tables *extraction // nil leaves tables to their formats
}

// patience is how long a document may take: the service gives up one whose client has gone, and a file of 10 MB takes more
// than an hour to encode on a processor without AVX2.
const patience = 4 * time.Hour

func (s *service) path() string { return "/v2/corpora/" + command.Segment(s.corpus) }

// page is how many ids are asked for at a time: the most that the contract allows.
const page = "1000"

func (s *service) Documents(ctx context.Context, fn func(id string)) error {
	query := url.Values{"limit": {page}}
	for {
		var answer struct {
			Documents []struct {
				ID string `json:"id"`
			} `json:"documents"`
			Metadata struct {
				PageKey string `json:"page_key"`
			} `json:"metadata"`
		}
		if _, err := s.client.Call(ctx, http.MethodGet, s.path()+"/documents?"+query.Encode(), nil, &answer); err != nil {
			return outcome(err)
		}
		for _, d := range answer.Documents {
			fn(d.ID)
		}
		if answer.Metadata.PageKey == "" || len(answer.Documents) == 0 {
			return nil
		}
		query.Set("page_key", answer.Metadata.PageKey)
	}
}

func (s *service) Delete(ctx context.Context, id string) error {
	_, err := s.client.Call(ctx, http.MethodDelete, s.path()+"/documents/"+command.Segment(id), nil, nil)
	if command.Status(err) == http.StatusNotFound {
		return nil
	}
	return outcome(err)
}

func (s *service) Put(ctx context.Context, d folder.Document, replace bool) (folder.Stored, error) {
	operation, media, parts := "/documents", "application/json", [][]byte{d.Data}
	if d.Form == source.AsFile {
		operation = "/upload_file"
		var err error
		if media, parts, err = s.form(d); err != nil {
			return folder.Stored{}, err
		}
	}
	if replace {
		operation += "?on_conflict=replace"
	}
	return s.post(ctx, operation, media, parts)
}

// post sends a body in pieces.
func (s *service) post(ctx context.Context, operation, media string, parts [][]byte) (folder.Stored, error) {
	body := func() io.Reader {
		var all []io.Reader
		for _, p := range parts {
			all = append(all, bytes.NewReader(p))
		}
		return io.MultiReader(all...)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.client.Base+s.path()+operation, body())
	if err != nil {
		return folder.Stored{}, err
	}
	for _, p := range parts {
		req.ContentLength += int64(len(p))
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(body()), nil }
	req.Header.Set("Content-Type", media)
	res, err := s.client.Within(patience).Do(req)
	if r, ok := command.AsRefused(err); ok && r.Status == http.StatusConflict && strings.Contains(strings.Join(r.Messages, " "), "same content") {
		return folder.Stored{Same: true}, nil
	}
	if err != nil {
		return folder.Stored{}, outcome(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body) // the connection can then be used again; the status has said all
	passages, _ := strconv.Atoi(res.Header.Get("x-quarry-passages"))
	encoded, _ := strconv.Atoi(res.Header.Get("x-quarry-passages-encoded"))
	return folder.Stored{Passages: passages, Encoded: encoded}, nil
}

// form returns the multipart form of a file in pieces, so that its content is not copied.
func (s *service) form(d folder.Document) (media string, parts [][]byte, err error) {
	var head bytes.Buffer
	form := multipart.NewWriter(&head)
	// The service decodes percent signs in names, so that a name can be sent in any script.
	err = form.WriteField("filename", strings.ReplaceAll(d.ID, "%", "%25"))
	if err == nil && s.chars > 0 {
		err = jsonField(form, "chunking_strategy", map[string]any{"type": "max_chars_chunking_strategy", "max_chars_per_chunk": s.chars})
	}
	if err == nil && s.tables != nil {
		err = jsonField(form, "table_extraction_config", s.tables)
	}
	if err != nil {
		return "", nil, err
	}
	if _, err = form.CreateFormFile("file", path.Base(d.ID)); err != nil {
		return "", nil, err
	}
	n := head.Len()
	if err := form.Close(); err != nil {
		return "", nil, err
	}
	return form.FormDataContentType(), [][]byte{head.Bytes()[:n], d.Data, head.Bytes()[n:]}, nil
}

func jsonField(form *multipart.Writer, name string, v any) error {
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"`, name))
	header.Set("Content-Type", "application/json")
	w, err := form.CreatePart(header)
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(v)
}

// kinds are the kinds of the faults that statuses stand for. A gateway that finds no service behind it is a service that is
// busy.
var kinds = map[int]fault.Kind{
	http.StatusUnauthorized: fault.KindUnauthenticated, http.StatusForbidden: fault.KindForbidden, http.StatusNotFound: fault.KindNotFound,
	http.StatusConflict: fault.KindConflict, http.StatusRequestEntityTooLarge: fault.KindTooLarge,
	http.StatusUnsupportedMediaType: fault.KindMediaType, http.StatusUnprocessableEntity: fault.KindUnprocessable,
	http.StatusTooManyRequests: fault.KindLimited, http.StatusBadGateway: fault.KindUnavailable,
	http.StatusServiceUnavailable: fault.KindUnavailable, http.StatusGatewayTimeout: fault.KindTimeout,
	http.StatusInternalServerError: fault.KindInternal,
}

// outcome returns an error of the client as package folder expects it.
func outcome(err error) error {
	if err == nil {
		return nil
	}
	if r, ok := command.AsRefused(err); ok {
		if why := misused(r); why != "" {
			return command.Failed(command.ExitUsage, "%s", why)
		}
		kind, known := kinds[r.Status]
		switch {
		case !known:
			kind = fault.KindInvalid
		case r.Status == http.StatusBadGateway && r.Code != "": // the service says so, of a language model: waiting mends nothing
			kind = fault.KindUpstream
		}
		return &fault.Fault{Kind: kind, Text: reason(r), RetryAfter: r.After}
	}
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		return fault.Timeout("the service did not answer in time")
	}
	var f *command.Failure
	if errors.As(err, &f) && f.Code == command.ExitUnreachable && f.Cause != nil && !hopeless(f.Cause) {
		return away{f}
	}
	return err
}

// away is the error of a service that does not answer at this moment.
type away struct{ *command.Failure }

func (a away) Is(target error) bool { return target == folder.ErrUnreachable }
func (a away) Unwrap() error        { return a.Failure }

// hopeless reports whether waiting mends nothing: the address is wrong.
func hopeless(err error) bool {
	var unknown *net.DNSError
	return errors.As(err, &unknown) && unknown.IsNotFound || strings.Contains(err.Error(), "unsupported protocol")
}

// flags are those that set a member of a request.
var flags = map[string]string{
	"chunking_strategy.max_chars_per_chunk":       "--chars",
	"table_extraction_config.generation.llm_name": "--tables-llm:", "table_extraction_config.generation.prompt_template": "--tables-template:",
}

// misused returns why a flag is refused, which concerns every file, or "".
func misused(r *command.Refused) string {
	for at, why := range r.Fields {
		if flag, ok := flags[strings.TrimPrefix(at, "body.")]; ok {
			return flag + " " + command.Advice(why)
		}
	}
	return ""
}

// nouns are what people call the members of a request that a file can be refused for.
var nouns = map[string]string{
	"file": "the file", "filename": "the name of the file", "id": "the id", "metadata": "the metadata", "body": "the document",
}

// reason returns why a file was refused, in words of the command line. The field names of the interface mean nothing
// to its users, but those of a document that they wrote themselves do.
func reason(r *command.Refused) string {
	var said []string
	for _, m := range r.Messages {
		for at, why := range r.Fields {
			if strings.Contains(m, at) && strings.Contains(m, why) {
				m = ""
			}
		}
		if _, rest, found := strings.Cut(m, ": "); found && strings.ToUpper(m[:len(m)-len(rest)-2]) == m[:len(m)-len(rest)-2] {
			m = rest // the word before it repeats the status
		}
		if m != "" {
			said = append(said, m)
		}
	}
	for at, why := range r.Fields {
		at = strings.TrimPrefix(at, "body.")
		noun, known := nouns[at]
		if !known {
			noun = strings.TrimPrefix(at, "file.") + ":"
		}
		if whole := noun + " " + why; !strings.Contains(strings.Join(said, " "), why) {
			said = append(said, whole)
		}
	}
	if len(said) == 0 {
		return fmt.Sprintf("the service answers %d %s", r.Status, http.StatusText(r.Status))
	}
	return strings.Join(said, "; ")
}
