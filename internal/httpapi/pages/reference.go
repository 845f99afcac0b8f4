package pages

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
)

// reference is the contract as the page shows it.
type reference struct {
	Style, Title string
	Intro        template.HTML
	Groups       []*group
	Schemas      []schema
	Built, All   int
}

// group is the operations of one tag.
type group struct {
	Name, ID   string
	Intro      template.HTML
	Operations []operation
}

// operation is one method of one path.
type operation struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Planned, Public           bool
	OpenTo                    string // who needs no role, in words
	Roles                     []roles
	Params                    []member
	Bodies                    []content
	Answers                   []answer
}

// roles is those of one kind, of which a caller needs one.
type roles struct{ Kind, Names string }

// member is a parameter, or a member of an object.
type member struct {
	Name     string
	In       string // of a parameter: path, query, header
	Required bool
	Type     []piece
	Facts    []string // what values may be
	Text     template.HTML
	Old      bool     // deprecated
	Inner    []member // of an object in the body of an operation
}

// piece is a part of a type in words; Schema is the schema that it names, "" for plain words.
type piece struct{ Text, Schema string }

// content is a body in one media type.
type content struct {
	Media    string
	Type     []piece
	Members  []member
	Choice   choice
	Examples []example
}

// choice is the forms of a union, by the value of the member that decides.
type choice struct {
	By    string
	Forms []form
}

type form struct{ Value, Schema string }

// answer is one status.
type answer struct {
	Status   string
	Text     template.HTML
	Contents []content
}

type example struct{ Title, Text string }

// schema is a named schema that others refer to.
type schema struct {
	Name    string
	Text    template.HTML
	Type    []piece // of one that is no object
	Facts   []string
	Members []member
	Choice  choice
}

// writeReference returns the page.
func writeReference(contract []byte) ([]byte, error) {
	root, err := parse(contract)
	if err != nil {
		return nil, err
	}
	r := &reader{root: root, wanted: map[string]bool{}}
	view := r.read()
	if r.err != nil {
		return nil, r.err
	}
	var b bytes.Buffer
	err = referenceTemplate.Execute(&b, struct {
		reference
		Style template.CSS
	}{view, template.CSS(style + referenceStyle)})
	if err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	return b.Bytes(), nil
}

// reader reads the contract into what the page shows.
type reader struct {
	root   node
	wanted map[string]bool // schemas that something on the page refers to
	queue  []string        // those not yet read
	err    error           // the first
}

// roleKinds are the kinds of roles in words.
var roleKinds = map[string]string{"ApiRole": "API roles", "CorpusRole": "corpus roles", "AgentRole": "agent roles"}

// openTo is who needs no role, in words.
var openTo = map[string]string{
	"callers": "every caller may ask",
	"people":  "every user may ask, by a personal key or an access token",
}

// methods are what a path may have beside its parameters.
var methods = map[string]bool{"get": true, "put": true, "post": true, "patch": true, "delete": true}

func (r *reader) read() reference {
	out := reference{Title: r.root.at("info", "title").text(), Intro: r.markdown(r.root.at("info", "description"))}
	groups := map[string]*group{}
	for _, tag := range r.root.at("tags").items {
		g := &group{Name: tag.at("name").text(), Intro: r.markdown(tag.at("description"))}
		g.ID = "tag-" + strings.ReplaceAll(strings.ToLower(g.Name), " ", "-")
		groups[g.Name] = g
		out.Groups = append(out.Groups, g)
	}
	for path, item := range r.root.at("paths").members {
		for method, n := range item.members {
			g := groups[strings.Join(n.at("tags").texts(), "")]
			if !methods[method] || g == nil {
				continue
			}
			op := r.operation(strings.ToUpper(method), path, n)
			g.Operations = append(g.Operations, op)
			out.All++
			if !op.Planned {
				out.Built++
			}
		}
	}
	for len(r.queue) > 0 {
		name := r.queue[0]
		r.queue = r.queue[1:]
		out.Schemas = append(out.Schemas, r.schema(name))
	}
	return out
}

func (r *reader) operation(method, path string, n node) operation {
	op := operation{
		ID: n.at("operationId").text(), Method: method, Path: path, Summary: n.at("summary").text(),
		Text: r.markdown(n.at("description")), Planned: n.at("x-status").text() == "planned",
	}
	op.Public = n.at("security").there() && len(n.at("security").Content) == 0
	op.OpenTo = openTo[n.at("x-open-to").text()]
	for _, of := range n.at("x-required-roles").items {
		op.Roles = append(op.Roles, roles{roleKinds[of.at("type").text()], strings.Join(of.at("roles").texts(), ", ")})
	}
	for _, p := range n.at("parameters").items {
		p = r.follow(p, "parameters")
		m := r.member(p.at("name").text(), p.at("schema"))
		m.In, m.Required = p.at("in").text(), p.at("required").is()
		if text := p.at("description"); text.there() {
			m.Text = r.phrase(text)
		}
		for _, e := range r.examples(p) {
			m.Facts = append(m.Facts, "such as "+e.Text)
		}
		op.Params = append(op.Params, m)
	}
	op.Bodies = r.contents(n.at("requestBody", "content"), true)
	for status, a := range n.at("responses").members {
		a = r.follow(a, "responses")
		if status == "default" {
			status = "other"
		}
		op.Answers = append(op.Answers, answer{status, r.phrase(a.at("description")), r.contents(a.at("content"), false)})
	}
	return op
}

// follow returns what n refers to in a section of the components, n itself if it is no reference.
func (r *reader) follow(n node, section string) node {
	for n.name() != "" {
		n = r.root.at("components", section, n.name())
	}
	return n
}

// contents returns bodies by media type, with their members if they are to be shown in place.
func (r *reader) contents(n node, members bool) []content {
	var out []content
	for media, c := range n.members {
		one := content{Media: media, Examples: r.examples(c)}
		if s := c.at("schema"); members {
			one.Members, one.Choice = r.inside(s)
			for i, m := range one.Members {
				if len(m.Type) > 0 && m.Type[0].Schema != "" {
					one.Members[i].Inner, _ = r.inside(r.root.at("components", "schemas", m.Type[0].Schema))
				}
			}
		} else {
			one.Type = r.typeOf(s)
		}
		out = append(out, one)
	}
	return out
}

// examples returns the example or examples of a parameter or body.
func (r *reader) examples(n node) []example {
	var out []example
	if e := n.at("example"); e.there() {
		out = append(out, example{"", e.pretty()})
	}
	for name, e := range n.at("examples").members {
		title := e.at("summary").text()
		if title == "" {
			title = name
		}
		if v := e.at("value"); v.there() {
			out = append(out, example{title, v.pretty()})
		}
	}
	return out
}

// markdown returns a description as HTML.
func (r *reader) markdown(n node) template.HTML {
	var b bytes.Buffer
	if err := goldmark.Convert([]byte(n.text()), &b); err != nil && r.err == nil {
		r.err = fmt.Errorf("description in line %d: %w", n.Line, err)
	}
	return template.HTML(strings.TrimSpace(b.String())) // goldmark leaves out HTML in its input
}

// phrase is markdown without the paragraph around a single one.
func (r *reader) phrase(n node) template.HTML {
	text := string(r.markdown(n))
	if inner, ok := strings.CutPrefix(text, "<p>"); ok && strings.Count(text, "<p>") == 1 && strings.HasSuffix(inner, "</p>") {
		text = strings.TrimSuffix(inner, "</p>")
	}
	return template.HTML(text)
}
