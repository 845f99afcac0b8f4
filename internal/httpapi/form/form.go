// Package form reads forms (multipart/form-data) part by part as they arrive: files are handed on while they are read, the
// other parts are kept.
package form

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
)

// Limits of every form.
const (
	MaxMember = 1 << 20  // bytes of a part that is no file
	MaxRest   = 8 << 20  // bytes of all parts that are no files
	MaxHeader = 16 << 10 // bytes of what stands before the content of a part: its headers, or a preamble
)

// Spec is what a form may have.
type Spec struct {
	File  string // the name of the parts that are files
	Parts int    // most parts of any kind
	// Take reads a file. What it leaves is skipped; its error ends the reading and is returned as it is.
	Take func(*File) error
}

// File is a file while it is read.
type File struct {
	N    int    // how many files came before
	Name string // decoded; "" when the part has none
	Type string // as the part declares it, "" when it does not
	io.Reader
}

// Members are the parts that are no files, by their names.
type Members map[string][]byte

// Read reads the body of a form: the request's media type (415), then its parts in any order. The contents of the parts are not
// checked. Errors are faults, but for those of Take, with which the members come that were read before.
func Read(r *http.Request, s Spec) (Members, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, fault.MediaType("an upload is sent as multipart/form-data, not %q", r.Header.Get("Content-Type"))
	}
	if params["boundary"] == "" {
		return nil, fault.InvalidField("body", "the Content-Type multipart/form-data names no boundary")
	}
	f := &reading{Spec: s, members: Members{}}
	end := &watcher{r: r.Body, mark: []byte("--" + params["boundary"] + "--")}
	parts := multipart.NewReader(end, params["boundary"])
	for n := 0; ; n++ {
		end.bound = MaxHeader + readAhead
		p, err := parts.NextPart()
		end.bound = 0
		if err == io.EOF && end.seen {
			return f.members, nil
		}
		if err != nil {
			return nil, malformed(err)
		}
		if n == s.Parts {
			return nil, fault.InvalidField("body", "has more than %d parts", s.Parts)
		}
		if err := f.take(p); err != nil {
			return f.members, err
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

var errLongHeader = fault.InvalidField("body", "has a part whose headers exceed %d bytes, or as much before its first part", MaxHeader)

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

// reading is a form while it is read.
type reading struct {
	Spec
	files   int
	rest    int // bytes of members
	members Members
}

func (f *reading) take(p *multipart.Part) error {
	disposition, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil || disposition != "form-data" {
		return fault.InvalidField("body", "a part has no Content-Disposition that can be read: %q", p.Header.Get("Content-Disposition"))
	}
	name := params["name"]
	if name == f.File {
		return f.takeFile(p, params["filename"])
	}
	raw, err := io.ReadAll(io.LimitReader(p, MaxMember+1))
	if err != nil {
		return malformed(err)
	}
	if len(raw) > MaxMember {
		return fault.TooLarge("the part %q exceeds %d bytes", name, MaxMember)
	}
	if f.rest += len(raw); f.rest > MaxRest {
		return fault.TooLarge("the parts beside the file exceed %d bytes together", MaxRest)
	}
	if _, twice := f.members[name]; twice {
		return fault.InvalidField("body."+name, "was sent twice")
	}
	f.members[name] = raw
	return nil
}

func (f *reading) takeFile(p *multipart.Part, name string) error {
	if !strings.Contains(p.Header.Get("Content-Disposition"), "filename*") {
		name = DecodeName(name)
	}
	file := &File{N: f.files, Name: name, Type: p.Header.Get("Content-Type"), Reader: partReader{p}}
	f.files++
	return f.Take(file)
}

// partReader reads the content of a part with the errors of a form.
type partReader struct{ part *multipart.Part }

func (r partReader) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err != nil && err != io.EOF {
		err = malformed(err)
	}
	return n, err
}

// DecodeName decodes a percent-encoded name, as names outside ASCII arrive, and returns any other name unchanged.
func DecodeName(name string) string {
	if d, err := url.PathUnescape(name); err == nil && utf8.ValidString(d) {
		return d
	}
	return name
}
