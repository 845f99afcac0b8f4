package vtl

// output is the result of rendering. If the template produces JSON, output tracks from the template's own text whether it is
// inside a string literal. Values cannot change that, whatever they contain, and so cannot inject JSON.
type output struct {
	printer
	asJSON bool
	inside bool // a string literal
	escape bool // after a backslash in a string literal
	colon  bool // the last significant byte of the template's text, outside of string literals, is a colon
}

// template writes text of the template.
func (o *output) template(s string) {
	o.write(s)
	if !o.asJSON {
		return
	}
	for i := range len(s) {
		b := s[i]
		switch {
		case o.escape:
			o.escape = false
		case o.inside:
			o.escape = b == '\\'
			o.inside = b != '"'
		case b == '"':
			o.inside, o.colon = true, false
		case b != ' ' && b != '\n' && b != '\t' && b != '\r':
			o.colon = b == ':'
		}
	}
}

// value writes a value: as text or, if the template produces JSON, as part of a string literal or as a complete JSON value.
// Outside of string literals and not after a colon, blank text or a comma is written as it is, so that templates can
// separate values; nothing else can change the structure of the JSON.
func (o *output) value(v Value) {
	if !o.asJSON {
		o.plain(v)
		return
	}
	if o.inside {
		if s, ok := v.(string); ok {
			o.escaped(s)
			return
		}
		inner := printer{most: o.most}
		inner.plain(v)
		o.full = o.full || inner.full
		o.escaped(inner.out.String())
		return
	}
	if s, ok := v.(string); ok && !o.colon && separates(s) {
		o.write(s)
		return
	}
	if v == nil {
		if !o.colon {
			return
		}
		v = ""
	}
	o.json(v)
	o.colon = false
}

// separates reports whether a text is white space with at most one comma.
func separates(s string) bool {
	commas := 0
	for i := range len(s) {
		switch s[i] {
		case ' ', '\n', '\t', '\r':
		case ',':
			commas++
		default:
			return false
		}
	}
	return commas <= 1
}
