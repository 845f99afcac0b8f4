package archive

import (
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
// none can expand.
type XML struct {
	d     *xml.Decoder
	depth int
}

// NewXML returns a reader of data, in the encoding that a byte order mark of UTF-16 or the XML declaration determines.
func NewXML(data []byte) *XML {
	marked := bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF"))
	var r io.Reader = bytes.NewReader(data)
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

// Next returns the next start element, end element or text, or nil at the end of the part. A text is valid only until the
// next call. Errors wrap outline.ErrUnparsable.
func (x *XML) Next() (xml.Token, error) {
	for {
		t, err := x.d.Token()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, bad("%w", err)
		}
		switch t.(type) {
		case xml.StartElement:
			if x.depth++; x.depth > maxDepth {
				return nil, bad("elements are nested more than %d deep", maxDepth)
			}
			return t, nil
		case xml.EndElement:
			x.depth--
			return t, nil
		case xml.CharData:
			return t, nil
		}
	}
}

// Each calls visit for the elements inside the one that was started last. visit may read an element to its end; if it
// does not, the elements inside it are visited, too.
func (x *XML) Each(visit func(xml.StartElement) error) error {
	return x.Walk(visit, nil)
}

// Walk is Each that also calls text, unless it is nil, with the texts between the elements.
func (x *XML) Walk(visit func(xml.StartElement) error, text func([]byte)) error {
	for floor := x.depth; ; {
		t, err := x.Next()
		if t == nil || err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			if x.depth < floor {
				return nil
			}
		case xml.CharData:
			if text != nil {
				text(t)
			}
		case xml.StartElement:
			if err := visit(t); err != nil {
				return err
			}
		}
	}
}

// Skip skips the rest of the element that was started last.
func (x *XML) Skip() error {
	return x.Each(func(xml.StartElement) error { return nil })
}

// Text returns all text inside the element that was started last.
func (x *XML) Text() (string, error) {
	var b strings.Builder
	err := x.Walk(func(xml.StartElement) error { return nil }, func(t []byte) { b.Write(t) })
	return b.String(), err
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
