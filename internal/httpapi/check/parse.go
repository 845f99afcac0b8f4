package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/fault"
)

// maxDepth is the deepest nesting of JSON; the contract's own shapes need less than 20.
const maxDepth = 200

// maxValues is how many values one JSON text may hold. A parsed value takes some fifty bytes however short it is, so a body
// of small numbers would take thirty times its size.
const maxValues = 1 << 20

// Parse parses a JSON text, with numbers as json.Number. Its fault names the place, from path on.
func Parse(raw []byte, path string) (any, error) {
	if at := invalidUTF8(raw); at >= 0 {
		return nil, fault.InvalidField(path, "is not valid UTF-8 at byte %d", at)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	p := &parser{Decoder: d, place: place{root: path}}
	v, err := p.value()
	if err == nil {
		if _, more := d.Token(); more == io.EOF {
			return v, nil
		}
		err = fault.InvalidField(path, "has more data after the JSON value, at byte %d", d.InputOffset())
	}
	if _, ok := fault.As(err); ok {
		return nil, err
	}
	return nil, fault.InvalidField(path, "is not valid JSON: %s", syntaxText(err, d.InputOffset()))
}

func invalidUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func syntaxText(err error, offset int64) string {
	var s *json.SyntaxError
	switch {
	case errors.As(err, &s):
		return fmt.Sprintf("%s at byte %d", s.Error(), s.Offset)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("it ends too early, at byte %d", offset)
	}
	return err.Error()
}

// parser parses a JSON value token by token, so that it sees what decoding into a map hides.
type parser struct {
	*json.Decoder
	place
	values int
}

func (d *parser) fault(format string, args ...any) error {
	return fault.InvalidField(d.String(), format, args...)
}

func (d *parser) value() (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if d.values++; d.values > maxValues {
		return nil, fault.InvalidField(d.root, "holds more than %d values", maxValues)
	}
	switch t := t.(type) {
	case json.Delim:
		if len(d.steps) == maxDepth {
			return nil, d.fault("is nested deeper than %d levels", maxDepth)
		}
		if t == '{' {
			return d.object()
		}
		return d.array()
	case string:
		if strings.ContainsRune(t, 0) {
			return nil, d.fault("must not hold the character NUL")
		}
	case json.Number:
		if !representable(t.String()) {
			return nil, d.fault("is a number outside the range that can be kept")
		}
	}
	return t, nil
}

// representable reports whether a number fits a float64. Schemas compare numbers exactly, which takes as many digits as
// the exponent.
func representable(text string) bool {
	if len(text) > 1000 {
		return false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(text[i+1:]); err != nil || exp > 400 || exp < -400 {
			return false
		}
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func (d *parser) object() (any, error) {
	out := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, d.fault("is not valid JSON: a member name at byte %d is not a string", d.InputOffset())
		}
		if strings.ContainsRune(name, 0) {
			return nil, d.fault("has a member whose name holds the character NUL")
		}
		d.member(name)
		if _, twice := out[name]; twice {
			return nil, d.fault("is given twice")
		}
		if out[name], err = d.value(); err != nil {
			return nil, err
		}
		d.back()
	}
	_, err := d.Token() // the closing brace
	return out, err
}

func (d *parser) array() (any, error) {
	out := []any{}
	for d.More() {
		d.item(len(out))
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		d.back()
		out = append(out, v)
	}
	_, err := d.Token() // the closing bracket
	return out, err
}

// shorten returns the first 100 bytes of a member name, so that a long one does not fill an error body.
func shorten(name string) string {
	if len(name) <= 100 {
		return name
	}
	return strings.ToValidUTF8(name[:100], "") + "…"
}
