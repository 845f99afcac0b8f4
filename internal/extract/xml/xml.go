// Package xml reads XML into a document tree.
//
// An article in JATS (ANSI/NISO Z39.96), as journals and PubMed Central publish them, becomes its title, abstract, sections, tables,
// captions and references. XHTML is read by package extract/html. Of any other vocabulary the text is kept and the tags are not: see
// other.go.
//
// Nothing outside of the file is ever looked at: a document type (DOCTYPE) is passed over with all that it declares. Entities that are not those of
// XML or HTML stay as they are written ("&name;"). All functions are safe for concurrent use.
package xml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strings"

	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
)

// Read parses a document in UTF-8, whatever encoding it declares. Its errors wrap outline.ErrUnparsable.
func Read(text string) (*outline.Document, error) {
	if page(text) {
		return readPage(text)
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if articles := findArticles(root); len(articles) > 0 {
		return readArticles(articles), nil
	}
	return readOther(root), nil
}

// page reports whether a text begins as HTML, which need not be well-formed.
func page(text string) bool {
	head := strings.ToLower(text[:min(len(text), 1024)])
	head = strings.TrimSpace(declaration.ReplaceAllString(strings.TrimPrefix(head, "\uFEFF"), ""))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}

// declaration matches what may stand in front of the root element, a document type excepted.
var declaration = regexp.MustCompile(`^(?:\s|<\?[^>]*\?>|<!--(?s:.*?)-->)+`)

func readPage(text string) (*outline.Document, error) {
	doc, err := html.Read(text, outline.Options{})
	if err == nil {
		doc.Metadata["Content-Type"] = "text/html"
	}
	return doc, err
}

// Is reports whether data begins like XML that says so.
func Is(data []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 512)], []byte("\xEF\xBB\xBF")), " \t\r\n")
	return bytes.HasPrefix(start, []byte("<?xml")) && bytes.IndexByte(data, 0) < 0
}

// Bounds of a document.
const (
	maxDepth = 400       // elements around an element, along which readers recurse
	maxNodes = 1_000_000 // elements and texts; an upload has at most 10 MB
)

// node is an element, or a text if it has no name.
type node struct {
	name        string // without its prefix
	text        string
	attrs       []xml.Attr
	first, next *node
}

// tree builds nodes.
type tree struct {
	open  []*node // elements that are open, outermost first
	last  []*node // their last children
	names map[string]string
	nodes int
}

// parse returns the root element.
func parse(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	d.Entity = entities(text)
	t := tree{open: []*node{{}}, last: []*node{nil}, names: map[string]string{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, bad("%w", err)
		}
		if err := t.add(token); err != nil {
			return nil, err
		}
	}
	for n := t.open[0].first; n != nil; n = n.next {
		if n.name != "" {
			return n, nil
		}
	}
	return nil, bad("there is no element")
}

// add adds a token. Comments, instructions and document types are none.
func (t *tree) add(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		if len(t.open) > maxDepth {
			return bad("elements are nested more than %d deep", maxDepth)
		}
		n := &node{name: t.name(token.Name.Local), attrs: token.Attr}
		if err := t.append(n); err != nil {
			return err
		}
		t.open, t.last = append(t.open, n), append(t.last, nil)
	case xml.EndElement:
		t.open, t.last = t.open[:len(t.open)-1], t.last[:len(t.last)-1]
	case xml.CharData:
		if len(t.open) > 1 {
			return t.append(&node{text: string(token)})
		}
	}
	return nil
}

// name returns the one copy of a name.
func (t *tree) name(name string) string {
	if known, ok := t.names[name]; ok {
		return known
	}
	t.names[name] = name
	return name
}

func (t *tree) append(n *node) error {
	if t.nodes++; t.nodes > maxNodes {
		return bad("there are more than %d elements and texts", maxNodes)
	}
	top := len(t.open) - 1
	if t.last[top] == nil {
		t.open[top].first = n
	} else {
		t.last[top].next = n
	}
	t.last[top] = n
	return nil
}

// reference matches a reference to an entity with a name.
var reference = regexp.MustCompile(`&([\pL_][\pL\d_.:-]*);`)

// entities returns what entities stand for: those of HTML their characters, others the references to them, so that none expands to more
// than is written.
func entities(text string) map[string]string {
	if strings.IndexByte(text, '&') < 0 {
		return nil
	}
	all := maps.Clone(xml.HTMLEntity)
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		if _, known := all[m[1]]; !known {
			all[m[1]] = m[0]
		}
	}
	return all
}

// attr returns the value of an attribute, "" if there is none.
func (n *node) attr(name string) string {
	for _, a := range n.attrs {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// child returns the first element below n that has this name, or nil.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	for c := n.first; c != nil; c = c.next {
		if c.name == name {
			return c
		}
	}
	return nil
}

// at returns the first element at a path of names, or nil.
func (n *node) at(names ...string) *node {
	for _, name := range names {
		n = n.child(name)
	}
	return n
}

// each calls visit for the elements right below n.
func (n *node) each(visit func(*node)) {
	if n == nil {
		return
	}
	for c := n.first; c != nil; c = c.next {
		if c.name != "" {
			visit(c)
		}
	}
}

// within calls visit for the elements of this name anywhere below n, but not for those below one.
func (n *node) within(name string, visit func(*node)) {
	n.each(func(c *node) {
		if c.name == name {
			visit(c)
		} else {
			c.within(name, visit)
		}
	})
}

// mixed reports whether n has text of its own.
func (n *node) mixed() bool {
	for c := n.first; c != nil; c = c.next {
		if c.name == "" && strings.TrimSpace(c.text) != "" {
			return true
		}
	}
	return false
}

// content returns all text below n as it is written.
func (n *node) content() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n == nil {
		return
	}
	b.WriteString(n.text)
	for c := n.first; c != nil; c = c.next {
		c.write(b)
	}
}

// bad returns an error that wraps outline.ErrUnparsable.
func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
}
