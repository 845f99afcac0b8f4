package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/check"
)

// timeout returns the time limit of a request from its two headers, the smaller one, or 0 for none.
func timeout(h http.Header, bad *fault.Fault) time.Duration {
	var least time.Duration
	for _, header := range []struct {
		name string
		unit time.Duration
	}{{"Request-Timeout", time.Second}, {"Request-Timeout-Millis", time.Millisecond}} {
		given := h.Values(header.name)
		if len(given) == 0 {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(given[0]), 10, 64)
		if err != nil || n < 1 {
			bad.Field("header."+header.name, "must be an integer of at least 1, not %s", check.Show(given[0]))
			continue
		}
		n = min(n, int64(7*24*time.Hour/header.unit)) // the longest that the contract speaks of (Bulk); more would overflow
		if d := time.Duration(n) * header.unit; least == 0 || d < least {
			least = d
		}
	}
	return least
}

// checkQuery checks the query parameters that the operation knows and ignores others.
func (s *Server) checkQuery(c *Call, raw string, bad *fault.Fault) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		bad.Field("query", "is not a valid query string: %s", err)
	}
	c.Query = query
	for i := range c.Op.Params {
		p := &c.Op.Params[i]
		if p.In != "query" || p.Type == "object" { // an object's members are parameters of their own: name[member]
			continue
		}
		path, given := "query."+p.Name, query[p.Name]
		switch {
		case len(given) == 0:
			if p.Required {
				bad.Field(path, "is required")
			}
		case len(given) > 1 && !p.Array && !p.List:
			bad.Field(path, "is given %d times and takes one value", len(given))
		default:
			if err := s.checkParam(p, given, bad); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkParam checks the values of one parameter and spells booleans true and false.
func (s *Server) checkParam(p *api.Param, given []string, bad *fault.Fault) error {
	path := "query." + p.Name
	typed := make([]any, len(given))
	for i, text := range given {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			bad.Field(path, "must be valid UTF-8 without the character NUL")
			return nil
		}
		v, want := typedParam(p.Type, text)
		if want != "" {
			bad.Field(path, "must be %s, not %s", want, check.Show(text))
			return nil
		}
		if b, ok := v.(bool); ok {
			given[i] = strconv.FormatBool(b)
		}
		typed[i] = v
	}
	if !p.Array {
		_, err := s.schemas.Check(p.Schema, typed[0], path, bad)
		return err
	}
	inside := fault.Invalid()
	_, err := s.schemas.Check(p.Schema, typed, path, inside)
	for _, at := range inside.Paths() { // all under the name of the parameter: the reason shows the value
		bad.Field(path, "%s", inside.Fields[at])
	}
	return err
}

var (
	integerText = regexp.MustCompile(`^-?[0-9]{1,30}$`)
	numberText  = regexp.MustCompile(`^-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?$`)
)

// typedParam returns the text as a JSON value of the type, or what it should have been.
func typedParam(kind, text string) (v any, want string) {
	switch kind {
	case "integer":
		if !integerText.MatchString(text) {
			return nil, "an integer"
		}
		return json.Number(text), ""
	case "number":
		if !numberText.MatchString(text) {
			return nil, "a number"
		}
		return json.Number(text), ""
	case "boolean":
		switch strings.ToLower(text) {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
		return nil, "true or false"
	}
	return text, ""
}
