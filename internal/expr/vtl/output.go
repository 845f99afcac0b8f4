package vtl

// output is the result as it grows. When the template writes JSON it follows the template's own text to know whether
// it stands inside a string literal; values never change that, whatever they hold.
type output struct {
	printer
	asJSON bool
	inside bool // a string literal
	escape bool // after a backslash in one
	colon  bool // the last significant byte of the template's text, outside of strings, is a colon
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

// value writes a value: as text; as the inside of a string literal; or as a whole JSON value. Outside of strings, a
// blank text or a comma that stands where no value can is written as it is, so that templates can put commas between
// what they write; nothing else can change the structure of the JSON.
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

// separates reports whether a text is blank or one comma.
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
