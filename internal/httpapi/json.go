package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/api"
	"quarry/internal/fault"
)

// maxDepth bounds the nesting of JSON; the contract's own shapes need less than 20.
const maxDepth = 200

// readsJSON reports whether the chain reads the body. Handlers read those that may be forms.
func readsJSON(op *api.Operation) bool { return op.Body.JSON != "" && op.Body.Form == "" }

// checkMediaType refuses a body that a JSON endpoint can't read. A content type without a body says nothing, and a
// body without one is taken for JSON.
func checkMediaType(op *api.Operation, r *http.Request) error {
	if !readsJSON(op) || r.ContentLength == 0 {
		return nil
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return fault.MediaType("the content encoding %q is not supported; send the body as it is", e)
	}
	given := r.Header.Get("Content-Type")
	if given == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(given)
	isJSON := kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	if err != nil || !isJSON {
		return fault.MediaType("the content type %q is not supported here; send application/json", given)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.MediaType("the character set %q is not supported; send UTF-8", charset)
	}
	return nil
}

// readBody reads the body of a JSON endpoint through the door and checks it against the operation's schema. Fields
// at fault go to bad; only a body that is too large or can't be read is an error. Where the contract names no JSON
// body, whatever was sent is left alone.
func (s *Server) readBody(r *http.Request, c *Call, bad *fault.Fault) error {
	if !readsJSON(c.Op) {
		return nil
	}
	raw, err := s.readAll(r, c)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		if c.Op.Body.Required {
			bad.Field("body", "is required: send a JSON object")
		}
		return nil
	}
	v, err := parseJSON(raw, "body")
	if err != nil {
		merge(bad, err)
		return nil
	}
	if _, ok := v.(map[string]any); !ok {
		bad.Field("body", "must be a JSON object, not %s", typeName(v))
		return nil
	}
	c.Body = raw
	dropped, err := s.schemas.check(c.Op.Body.JSON, v, "body", bad)
	if dropped && err == nil {
		c.Body, err = json.Marshal(v)
	}
	return err
}

func (s *Server) readAll(r *http.Request, c *Call) ([]byte, error) {
	tooLarge := fault.TooLarge("the body is larger than %d bytes, the setting max_json of this service", s.cfg.MaxJSON)
	if r.ContentLength > s.cfg.MaxJSON {
		return nil, tooLarge
	}
	var b bytes.Buffer
	size := r.ContentLength
	if size < 0 { // chunked: only reading tells how much
		if err := readInto(&b, r.Body, min(freeBody, s.cfg.MaxJSON)+1); err != nil {
			return nil, err
		}
		size = int64(b.Len())
		if size > freeBody {
			size = s.cfg.MaxJSON
		}
	}
	if err := s.room(r.Context(), c, size, parsedJSON); err != nil {
		return nil, err
	}
	b.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	if err := readInto(&b, r.Body, s.cfg.MaxJSON+1-int64(b.Len())); err != nil {
		return nil, err
	}
	if int64(b.Len()) > s.cfg.MaxJSON {
		return nil, tooLarge
	}
	return b.Bytes(), nil
}

// readInto reads a body, n bytes at the most.
func readInto(b *bytes.Buffer, body io.Reader, n int64) error {
	_, err := b.ReadFrom(io.LimitReader(body, n))
	if _, expected := fault.As(err); err == nil || expected {
		return err
	}
	return fault.InvalidField("body", "could not be read to its end").Because(err)
}

func merge(bad *fault.Fault, err error) {
	if f, ok := fault.As(err); ok {
		for path, reason := range f.Fields {
			bad.Field(path, "%s", reason)
		}
	}
}

// CheckJSON applies the rules of the JSON door to a JSON text that came another way, such as a part of a multipart
// form: UTF-8, no NUL, no member twice, bounded nesting, one value. Its fault names places under path.
func CheckJSON(raw []byte, path string) error {
	_, err := parseJSON(raw, path)
	return err
}

// parseJSON gives the value of a JSON text with numbers as json.Number, or a fault that names the place.
func parseJSON(raw []byte, path string) (any, error) {
	if at := invalidUTF8(raw); at >= 0 {
		return nil, fault.InvalidField(path, "is not valid UTF-8 at byte %d", at)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	p := &door{Decoder: d, place: place{root: path}}
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

// door reads a JSON value by token, so that it sees what decoding into a map hides.
type door struct {
	*json.Decoder
	place
}

func (d *door) fault(format string, args ...any) error {
	return fault.InvalidField(d.String(), format, args...)
}

func (d *door) value() (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
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

// representable reports whether a number fits a float64. Comparing others exactly, as the schemas do, would cost as
// many digits as their exponent says.
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

func (d *door) object() (any, error) {
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

func (d *door) array() (any, error) {
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

// shorten keeps a member name of any length from filling an error body.
func shorten(name string) string {
	if len(name) <= 100 {
		return name
	}
	return strings.ToValidUTF8(name[:100], "") + "…"
}

// Decode reads a checked body into v. What the schema lets through and Go's types don't hold, such as 10.0 for an
// integer, is a fault of its field.
func Decode(body json.RawMessage, v any) error {
	if len(body) == 0 {
		return nil
	}
	err := json.Unmarshal(body, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "" && strings.HasPrefix(wrong.Value, "number"):
		return fault.InvalidField("body."+wrong.Field, "must be an integer written without fraction or exponent, not %s", wrong.Value)
	case errors.As(err, &wrong) && wrong.Field != "":
		return fault.InvalidField("body."+wrong.Field, "must be written as %s, not as %s", wrong.Type, wrong.Value)
	}
	return fault.InvalidField("body", "can't be read: %s", err)
}
