package pages

import (
	"strings"
)

// schema reads a named schema.
func (r *reader) schema(name string) schema {
	n := r.root.at("components", "schemas", name)
	out := schema{Name: name, Text: r.markdown(n.at("description")), Facts: facts(n)}
	out.Members, out.Choice = r.inside(n)
	if len(out.Members) == 0 && len(out.Choice.Forms) == 0 {
		out.Type = r.typeOf(n)
	}
	return out
}

// inside returns the members of an object and the forms of a union, with those of what it refers to or consists of.
func (r *reader) inside(n node) ([]member, choice) {
	n = r.follow(n, "schemas")
	var members []member
	var forms choice
	for _, part := range n.at("allOf").items {
		more, of := r.inside(part)
		members = append(members, more...)
		if len(of.Forms) > 0 {
			forms = of
		}
	}
	required := map[string]bool{}
	for _, name := range n.at("required").texts() {
		required[name] = true
	}
	for name, s := range n.at("properties").members {
		members = append(members, r.nested(name, s)...)
	}
	for i := range members {
		members[i].Required = members[i].Required || required[members[i].Name]
	}
	if d := n.at("discriminator"); d.there() {
		forms = choice{By: d.at("propertyName").text()}
		for value, to := range d.at("mapping").members {
			name := to.text()[strings.LastIndexByte(to.text(), '/')+1:]
			r.want(name)
			forms.Forms = append(forms.Forms, form{value, name})
		}
	}
	return members, forms
}

// nested returns a member, and after it the members of an object that has no name of its own.
func (r *reader) nested(name string, n node) []member {
	out := []member{r.member(name, n)}
	if n.name() == "" && n.at("properties").there() {
		inner, _ := r.inside(n)
		for _, m := range inner {
			m.Name = name + "." + m.Name
			out = append(out, m)
		}
	}
	return out
}

func (r *reader) member(name string, n node) member {
	m := member{Name: name, Type: r.typeOf(n), Facts: facts(n), Text: r.phrase(n.at("description")), Old: n.at("deprecated").is()}
	if named := r.follow(n, "schemas"); scalar(named) { // shown in place
		m.Facts = facts(named)
		if m.Text == "" {
			m.Text = r.phrase(named.at("description"))
		}
	}
	return m
}

// want remembers that a schema has to be on the page.
func (r *reader) want(name string) {
	if !r.wanted[name] {
		r.wanted[name] = true
		r.queue = append(r.queue, name)
	}
}

// typeOf returns a type in words, with the schemas that it names.
func (r *reader) typeOf(n node) []piece {
	out := r.plainType(n)
	if n.at("nullable").is() {
		out = append(out, piece{Text: " or null"})
	}
	return out
}

func (r *reader) plainType(n node) []piece {
	if name := n.name(); name != "" {
		if s := r.root.at("components", "schemas", name); scalar(s) {
			return r.typeOf(s)
		}
		r.want(name)
		return []piece{{name, name}}
	}
	for _, k := range []string{"allOf", "oneOf", "anyOf"} {
		if !n.at(k).there() {
			continue
		}
		var out []piece
		for i, part := range n.at(k).items {
			if i > 0 {
				out = append(out, piece{Text: map[string]string{"allOf": " and "}[k] + map[bool]string{true: " or "}[k != "allOf"]})
			}
			out = append(out, r.typeOf(part)...)
		}
		return out
	}
	switch kind := n.at("type").text(); {
	case kind == "array":
		return append([]piece{{Text: "list of "}}, r.typeOf(n.at("items"))...)
	case kind == "object" && n.at("additionalProperties").there() && !n.at("properties").there():
		if n.at("additionalProperties").text() == "" {
			return append([]piece{{Text: "object with values of "}}, r.typeOf(n.at("additionalProperties"))...)
		}
		return []piece{{Text: "object, any members"}}
	case n.at("format").text() == "binary":
		return []piece{{Text: "file"}}
	case kind == "":
		return []piece{{Text: "any value"}}
	default:
		return []piece{{Text: kind}}
	}
}

// scalar reports whether a schema is for a text, a number or a boolean.
func scalar(n node) bool {
	switch n.at("type").text() {
	case "string", "integer", "number", "boolean":
		return !n.at("allOf").there() && !n.at("oneOf").there()
	}
	return false
}

// facts returns what the values of a schema may be.
func facts(n node) []string {
	var out []string
	add := func(words string, n node) {
		if n.there() {
			out = append(out, words+" "+n.pretty())
		}
	}
	if values := n.at("enum").texts(); len(values) > 0 {
		out = append(out, "one of "+strings.Join(values, ", "))
	}
	if values := n.at("items", "enum").texts(); len(values) > 0 {
		out = append(out, "each one of "+strings.Join(values, ", "))
	}
	if f := n.at("format").text(); f == "date-time" || f == "email" || f == "uri" {
		out = append(out, map[string]string{"date-time": "a time as in RFC 3339", "email": "an e-mail address", "uri": "a URI"}[f])
	}
	for _, f := range []struct{ least, most, unit string }{
		{"minimum", "maximum", ""}, {"minLength", "maxLength", " characters"}, {"minItems", "maxItems", " items"},
	} {
		switch least, most := n.at(f.least), n.at(f.most); {
		case least.there() && most.there():
			out = append(out, least.pretty()+" to "+most.pretty()+f.unit)
		case least.there():
			out = append(out, "at least "+least.pretty()+f.unit)
		case most.there():
			out = append(out, "at most "+most.pretty()+f.unit)
		}
	}
	add("pattern", n.at("pattern"))
	add("default", n.at("default"))
	if n.at("readOnly").is() {
		out = append(out, "only in answers")
	}
	if n.at("writeOnly").is() || n.at("x-secret").is() {
		out = append(out, "secret, never shown again")
	}
	return out
}
