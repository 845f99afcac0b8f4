package httpapi

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/check"
)

// forms are the path parameters of which the contract refuses malformed values with 400 (Errors: agent_key, session_key,
// event_id). Its patterns are not anchored; the whole value must match. Of other parameters a value that can name nothing
// is answered like one that names nothing, with 404.
var forms = map[string]struct {
	whole *regexp.Regexp
	want  string
}{
	"agent_key":   {regexp.MustCompile(`^[0-9a-zA-Z_-]{1,50}$`), "1 to 50 letters, digits, _ and -"},
	"session_key": {regexp.MustCompile(`^[0-9a-zA-Z_-]{1,50}$`), "1 to 50 letters, digits, _ and -"},
	"event_id":    {regexp.MustCompile(`^[0-9a-zA-Z_-]+$`), "letters, digits, _ and -"},
}

// checkPath refuses path parameters that can name nothing, before they reach a database that does not take NUL or invalid
// UTF-8.
func checkPath(c *Call) error {
	for i := range c.Op.Params {
		p := &c.Op.Params[i]
		if p.In != "path" {
			continue
		}
		value := c.Path[p.Name]
		if form, ok := forms[p.Name]; ok && !form.whole.MatchString(value) {
			return fault.InvalidField("path."+p.Name, "must be %s, not %s", form.want, check.Show(value))
		}
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			thing := resource(p)
			value = strings.ToValidUTF8(value, "\uFFFD")
			return fault.NotFound(thing+"_not_found", value, "%s %s does not exist", strings.ReplaceAll(thing, "_", " "), check.Show(value))
		}
	}
	return nil
}

// resource returns the kind of thing that a path parameter names, as error codes spell it: corpus for corpus_key.
func resource(p *api.Param) string {
	if p.Name == "username" {
		return "user"
	}
	for _, end := range []string{"_key", "_id", "_name"} {
		if thing, ok := strings.CutSuffix(p.Name, end); ok {
			return thing
		}
	}
	return p.Name
}
