package httpapi

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi/check"
)

// malformed are the path parameters whose form the contract tells apart from their existence (Errors: malformed
// agent_key, session_key or event_id is 400). The contract's patterns are not anchored; the whole value is held to
// them. Any other value that nothing can be named names nothing, which is 404: what a client that asks whether
// something exists understands.
var malformed = map[string]struct {
	whole *regexp.Regexp
	want  string
}{
	"agent_key":   {regexp.MustCompile(`^[0-9a-zA-Z_-]{1,50}$`), "1 to 50 letters, digits, _ and -"},
	"session_key": {regexp.MustCompile(`^[0-9a-zA-Z_-]{1,50}$`), "1 to 50 letters, digits, _ and -"},
	"event_id":    {regexp.MustCompile(`^[0-9a-zA-Z_-]+$`), "letters, digits, _ and -"},
}

// checkPath refuses path parameters that can name nothing, so that none of them reaches a database that refuses the
// character NUL or half a character.
func checkPath(c *Call) error {
	for i := range c.Op.Params {
		p := &c.Op.Params[i]
		if p.In != "path" {
			continue
		}
		value := c.Path[p.Name]
		if form, ok := malformed[p.Name]; ok && !form.whole.MatchString(value) {
			return fault.InvalidField("path."+p.Name, "must be %s, not %s", form.want, check.Show(value))
		}
		if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
			thing := named(p)
			value = strings.ToValidUTF8(value, "\uFFFD")
			return fault.NotFound(thing+"_not_found", value, "%s %s does not exist", strings.ReplaceAll(thing, "_", " "), check.Show(value))
		}
	}
	return nil
}

// named gives what a path parameter names, as codes spell it: corpus for corpus_key.
func named(p *api.Param) string {
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
