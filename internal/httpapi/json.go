package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"mime"
	"net/http"
	"strings"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/check"
)

// readsJSON reports whether the chain reads the body. Handlers read those that may be forms.
func readsJSON(op *api.Operation, r *http.Request) bool {
	return op.Body.JSON != "" && op.Body.Form == "" && !(op.Body.Multipart != "" && isForm(r))
}

// isForm reports whether a request says that its body is a form with files.
func isForm(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data" && err == nil
}

// checkMediaType refuses a body that a JSON endpoint can't read. A content type without a body is ignored, and a body
// without one is taken for JSON.
func checkMediaType(op *api.Operation, r *http.Request) error {
	if !readsJSON(op, r) || r.ContentLength == 0 {
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
		taken := "application/json"
		if op.Body.Multipart != "" {
			taken += " or multipart/form-data"
		}
		return fault.MediaType("the content type %q is not supported here; send %s", given, taken)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return fault.MediaType("the character set %q is not supported; send UTF-8", charset)
	}
	return nil
}

// readBody parses the body of a JSON endpoint and checks it against the schema of the operation. Fields at fault are added
// to bad; only a body that is too large or can't be read is an error. Where the contract names no JSON body, whatever was
// sent is ignored.
func (s *Server) readBody(r *http.Request, c *Call, bad *fault.Fault) error {
	if !readsJSON(c.Op, r) {
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
	v, err := check.Parse(raw, "body")
	if err != nil {
		merge(bad, err)
		return nil
	}
	if _, ok := v.(map[string]any); !ok {
		bad.Field("body", "must be a JSON object, not %s", check.TypeName(v))
		return nil
	}
	c.Body = raw
	if err := c.nameUnknown(c.Op.Body.JSON, v, ""); err != nil {
		return err
	}
	dropped, err := s.schemas.Check(c.Op.Body.JSON, v, "body", bad)
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
	if size < 0 { // chunked: the size is unknown until it is read
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

// readInto reads at most n bytes of a body.
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

// CheckJSON applies the rules for bodies to JSON that is not one, such as a part of a multipart form: UTF-8, no NUL, no
// duplicate members, bounded nesting, one value. Its fault names places under path.
func CheckJSON(raw []byte, path string) error {
	_, err := check.Parse(raw, path)
	return err
}

// CheckAs is CheckJSON, and then checks against the schema of this name in the contract. It returns the text to decode,
// without the members that are dropped from bodies, too.
func CheckAs(raw []byte, path, schema string) (json.RawMessage, error) {
	return checkAs(raw, path, schema, func(any) error { return nil })
}

// checkAs is CheckAs; look sees the value before the check changes it.
func checkAs(raw []byte, path, schema string, look func(any) error) (json.RawMessage, error) {
	v, err := check.Parse(raw, path)
	if err != nil {
		return nil, err
	}
	if err := look(v); err != nil {
		return nil, err
	}
	all, err := check.Contract()
	if err != nil {
		return nil, err
	}
	bad := fault.Invalid()
	dropped, err := all.Check(schema, v, path, bad)
	switch {
	case err != nil:
		return nil, err
	case len(bad.Fields) > 0:
		return nil, bad
	case dropped:
		return json.Marshal(v)
	}
	return raw, nil
}

// Decode decodes a checked body into v. A value that the schema accepts and Go's type does not, such as 10.0 for an
// integer, is a fault of its field.
func Decode(body json.RawMessage, v any) error {
	if len(body) == 0 {
		return nil
	}
	return fault.Under(Unmarshal(body, v), "body")
}

// Unmarshal is Decode for a JSON text that is no body: faults name fields of v.
func Unmarshal(raw json.RawMessage, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "" && strings.HasPrefix(wrong.Value, "number"):
		return fault.InvalidField(wrong.Field, "must be an integer written without fraction or exponent, not %s", wrong.Value)
	case errors.As(err, &wrong) && wrong.Field != "":
		return fault.InvalidField(wrong.Field, "must be written as %s, not as %s", wrong.Type, wrong.Value)
	}
	return fault.InvalidField("", "can't be read: %s", err)
}

// Integer returns the integer that a number of a checked body is, however it is written: 60, 60.0 and 6e1 are the same.
func Integer(text json.Number) (n int64, ok bool) {
	r, ok := new(big.Rat).SetString(text.String())
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}
