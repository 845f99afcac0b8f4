package archive

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
)

// maxDepth bounds the nesting of elements, along which readers recurse.
const maxDepth = 400

// XML reads the elements of a part in document order. Entities other than the five predefined ones are an error, so that
// none can expand. After an error the part is at its end, for every method; Err returns the error.
type XML struct {
	d       *xml.Decoder
	depth   int
	stopped bool // nothing more is wanted
	err     error
}

// NewXML returns a reader of data, in the encoding that a byte order mark of UTF-16 or the XML declaration determines.
func NewXML(data []byte) *XML { return newXML(bufio.NewReaderSize(bytes.NewReader(data), 16)) }

// newXML is NewXML for a stream.
func newXML(in *bufio.Reader) *XML {
	head, _ := in.Peek(2) // an error comes again when it is read
	marked := bytes.Equal(head, []byte("\xFF\xFE")) || bytes.Equal(head, []byte("\xFE\xFF"))
	var r io.Reader = in
	if marked {
		r = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r)
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if marked && strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return in, nil // already decoded
		}
		return charset.NewReaderLabel(label, in)
	}
	return &XML{d: d}
}

// Err returns the error at which reading ended, which wraps outline.ErrUnparsable, or nil.
func (x *XML) Err() error { return x.err }

// next returns the next start element, end element or text, or nil at the end of the part. A text is valid only until the
// next call.
func (x *XML) next() xml.Token {
	for x.err == nil && !x.stopped {
		t, err := x.d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			x.err = bad("%w", err)
			break
		}
		switch t.(type) {
		case xml.StartElement:
			if x.depth++; x.depth > maxDepth {
				x.err = bad("elements are nested more than %d deep", maxDepth)
				return nil
			}
			return t
		case xml.EndElement:
			x.depth--
			return t
		case xml.CharData:
			return t
		}
	}
	return nil
}

// Each calls visit for the elements inside the one that was started last. visit may read an element to its end; if it
// does not, the elements inside it are visited, too.
func (x *XML) Each(visit func(xml.StartElement)) {
	x.walk(visit, func([]byte) {})
}

// walk is Each that also calls text with the texts between the elements.
func (x *XML) walk(visit func(xml.StartElement), text func([]byte)) {
	for floor := x.depth; ; {
		switch t := x.next().(type) {
		case nil:
			return
		case xml.EndElement:
			if x.depth < floor {
				return
			}
		case xml.CharData:
			text(t)
		case xml.StartElement:
			visit(t)
		}
	}
}

// Texts is Each that also calls text with the texts between the elements, which are valid only during the call.
func (x *XML) Texts(visit func(xml.StartElement), text func([]byte)) { x.walk(visit, text) }

// Stop ends the part: nothing more is read of it.
func (x *XML) Stop() { x.stopped = true }

// Skip skips the rest of the element that was started last.
func (x *XML) Skip() { x.Each(func(xml.StartElement) {}) }

// Text returns all text inside the element that was started last.
func (x *XML) Text() string {
	var b strings.Builder
	x.walk(func(xml.StartElement) {}, func(t []byte) { b.Write(t) })
	return b.String()
}

// Attr returns the value of the attribute with this local name, or "" if there is none.
func Attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
