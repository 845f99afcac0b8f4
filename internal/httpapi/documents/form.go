package documents

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
)

// Limits of one upload.
const (
	maxMember  = 1 << 20  // bytes of a part that is not the file
	maxRest    = 8 << 20  // bytes of all parts that are not the file, as the chain of httpapi counts on
	maxMembers = 64       // parts of a form
	maxHeader  = 16 << 10 // bytes of what stands before the content of a part: its headers, or a preamble
)

// form is an upload: one file and the other parts.
type form struct {
	file        []byte
	hasFile     bool
	tooLarge    bool   // the file exceeds its limit; file holds nothing
	contentType string // as the file part declares it, "" when it does not
	fileName    string // the file part's filename, decoded; "" when it has none
	members     map[string][]byte
	rest        int // bytes of members

	call *httpapi.Call
}

// readForm reads the body of an upload: the request's media type (415), then its parts in any order, holding at most
// limit bytes of the file. The contents of the other parts are not checked.
func readForm(r *http.Request, limit int64) (*form, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, fault.MediaType("an upload is sent as multipart/form-data, not %q", r.Header.Get("Content-Type"))
	}
	if params["boundary"] == "" {
		return nil, fault.InvalidField("body", "the Content-Type multipart/form-data names no boundary")
	}
	f := &form{members: map[string][]byte{}}
	end := &watcher{r: r.Body, mark: []byte("--" + params["boundary"] + "--")}
	parts := multipart.NewReader(end, params["boundary"])
	for n := 0; ; n++ {
		end.bound = maxHeader + readAhead
		p, err := parts.NextPart()
		end.bound = 0
		if err == io.EOF && end.seen {
			return f, nil
		}
		if err != nil {
			return nil, malformed(err)
		}
		if n == maxMembers {
			return nil, fault.InvalidField("body", "has more than %d parts", maxMembers)
		}
		if err := f.take(p, limit); err != nil {
			return nil, err
		}
		if f.tooLarge { // what follows can't change the outcome; the server takes in the rest
			return f, nil
		}
	}
}

// watcher checks for the closing boundary, which multipart.Reader does not require: a body cut off between two parts must
// not be accepted as complete. It also bounds the headers of a part, for which multipart.Reader allows megabytes.
type watcher struct {
	r     io.Reader
	mark  []byte
	tail  []byte // what may be the beginning of mark
	seen  bool
	bound int // bytes that may still be read, where not 0
}

// readAhead is the most that multipart.Reader reads beyond what it returns.
const readAhead = 8 << 10

var errLongHeader = fault.InvalidField("body", "has a part whose headers exceed %d bytes, or as much before its first part", maxHeader)

func (w *watcher) Read(p []byte) (int, error) {
	if w.bound == 1 {
		return 0, errLongHeader
	}
	if w.bound > 1 {
		p = p[:min(len(p), w.bound-1)]
	}
	n, err := w.r.Read(p)
	if w.bound > 1 {
		w.bound -= n
	}
	if !w.seen {
		w.tail = append(w.tail, p[:n]...)
		w.seen = bytes.Contains(w.tail, w.mark)
		w.tail = append(w.tail[:0], w.tail[max(0, len(w.tail)-len(w.mark)+1):]...)
	}
	return n, err
}

// malformed returns the fault of an invalid form; an error of the connection is one already.
func malformed(err error) error {
	if f, ok := fault.As(err); ok {
		return f
	}
	return fault.InvalidField("body", "is not a well-formed multipart/form-data body: %s", err)
}

func (f *form) take(p *multipart.Part, limit int64) error {
	disposition, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil || disposition != "form-data" {
		return fault.InvalidField("body", "a part has no Content-Disposition that can be read: %q", p.Header.Get("Content-Disposition"))
	}
	name := params["name"]
	if name == "file" {
		return f.takeFile(p, params["filename"], limit)
	}
	raw, err := io.ReadAll(io.LimitReader(p, maxMember+1))
	if err != nil {
		return malformed(err)
	}
	if len(raw) > maxMember {
		return fault.TooLarge("the part %q exceeds %d bytes", name, maxMember)
	}
	if f.rest += len(raw); f.rest > maxRest {
		return fault.TooLarge("the parts beside the file exceed %d bytes together", maxRest)
	}
	if _, twice := f.members[name]; twice {
		return fault.InvalidField("body."+name, "was sent twice")
	}
	f.members[name] = raw
	return nil
}

func (f *form) takeFile(p *multipart.Part, name string, limit int64) error {
	if f.hasFile {
		return fault.InvalidField("body.file", "was sent twice; send one file with each request")
	}
	f.hasFile = true
	f.fileName = name
	if !strings.Contains(p.Header.Get("Content-Disposition"), "filename*") {
		f.fileName = decodeName(name)
	}
	f.contentType = p.Header.Get("Content-Type")
	var err error
	f.file, err = io.ReadAll(io.LimitReader(p, limit+1))
	if err != nil {
		return malformed(err)
	}
	if int64(len(f.file)) > limit {
		f.file, f.tooLarge = nil, true
	}
	return nil
}

// id returns the document id: the filename part, else the name of the file (contract: upload_file).
func (f *form) id() (string, error) {
	if raw, ok := f.members["filename"]; ok {
		if id := decodeName(string(raw)); id != "" {
			return id, nil
		}
		return "", fault.InvalidField("body.filename", "must not be empty")
	}
	if f.fileName == "" {
		return "", fault.InvalidField("body.filename", "is required when the file part has no filename")
	}
	return f.fileName, nil
}

// decodeName decodes a percent-encoded name, as names outside ASCII arrive, and returns any other name unchanged.
func decodeName(name string) string {
	if d, err := url.PathUnescape(name); err == nil && utf8.ValidString(d) {
		return d
	}
	return name
}
