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

// maxDepth bounds elements inside elements; readers recurse along them.
const maxDepth = 400

// XML reads the elements of a part in order. Entities other than XML's own five are an error, so nothing expands.
type XML struct {
	d     *xml.Decoder
	depth int
}

// NewXML gives a reader of data, which may be in any encoding that the XML declares.
func NewXML(data []byte) *XML {
	marked := bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF"))
	var r io.Reader = bytes.NewReader(data)
	if marked {
		r = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(r)
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if marked && strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return in, nil // decoded already
		}
		return charset.NewReaderLabel(label, in)
	}
	return &XML{d: d}
}

// Next gives the next start, end or text; nil at the end of the part. A text is valid until the next call. Its errors
// wrap outline.ErrUnparsable.
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

// Each calls visit with the elements inside the one that was started last, until its end. visit may read an element
// to its end; when it does not, the elements inside it are visited as well.
func (x *XML) Each(visit func(xml.StartElement) error) error {
	return x.Walk(visit, nil)
}

// Walk is Each with the texts between the elements.
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

// Skip passes over the rest of the element that was started last.
func (x *XML) Skip() error {
	return x.Each(func(xml.StartElement) error { return nil })
}

// Text gives all text inside the element that was started last.
func (x *XML) Text() (string, error) {
	var b strings.Builder
	err := x.Walk(func(xml.StartElement) error { return nil }, func(t []byte) { b.Write(t) })
	return b.String(), err
}

// Attr gives an attribute by its local name, "" when there is none.
func Attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
