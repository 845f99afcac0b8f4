package xml

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/extract/outline"
)

// readOther reads a vocabulary that is not known, by what most of them have in common:
//
//   - An element with text of its own is a paragraph with all that is in it, tags left out.
//   - Short elements beside each other, such as the fields of a record, are the lines of one paragraph; that of another element is another
//     paragraph.
//   - A title or head that comes first in an element is the heading of what is in it (DocBook, TEI, DITA, feeds).
//   - Rows and cells in the model of XHTML or CALS are a table.
//   - Attributes and comments are no text.
func readOther(root *node) *outline.Document {
	o := other{}
	o.element(root, 0)
	metadata := map[string]any{}
	if lang := root.attr("lang"); lang != "" {
		metadata["Content-Language"] = lang
	}
	return o.out.Document(metadata)
}

type other struct{ out outline.Builder }

// longestField is how many characters the line of a field has at most; longer texts are paragraphs.
const longestField = 120

// element adds an element that is below so many headings.
func (o *other) element(n *node, level int) {
	switch {
	case preformatted[n.name]:
		o.out.Code(strings.Trim(n.content(), "\r\n"))
		return
	case n.mixed():
		o.text(inline(n))
		return
	}
	if t, ok := table(n, inline); ok {
		if title := first(n, "title", "caption"); title != nil {
			t.Title = inline(title)
		}
		o.out.Table(t)
		return
	}
	o.out.Break()
	begun := false // something was added already
	n.each(func(c *node) {
		if title := o.title(c, begun); title != "" {
			level++
			o.out.Heading(level, title)
		} else {
			o.element(c, level)
		}
		begun = begun || !bare(c)
	})
	o.out.Break()
}

// title returns the heading that an element is of the one around it, "" if it is none.
func (o *other) title(n *node, begun bool) string {
	if begun || !heading[n.name] {
		return ""
	}
	if text := inline(n); utf8.RuneCountInString(text) <= 2*longestField {
		return text
	}
	return ""
}

// text adds a text: as a line if it is short and doesn't end as a sentence.
func (o *other) text(text string) {
	if utf8.RuneCountInString(text) > longestField || strings.HasSuffix(text, ".") {
		o.out.Paragraph(text)
		return
	}
	o.out.Line(text)
}

// first returns the first element below n with one of these names, or nil.
func first(n *node, names ...string) *node {
	for _, name := range names {
		if c := n.child(name); c != nil {
			return c
		}
	}
	return nil
}

// bare reports whether there is no text in an element.
func bare(n *node) bool {
	for c := n.first; c != nil; c = c.next {
		if strings.TrimSpace(c.text) != "" || !bare(c) {
			return false
		}
	}
	return true
}

// heading are the elements that title the one around them, and preformatted those whose line breaks are kept.
var (
	heading      = map[string]bool{"title": true, "head": true, "heading": true}
	preformatted = map[string]bool{"programlisting": true, "screen": true, "literallayout": true, "pre": true, "codeblock": true, "code-block": true, "eg": true}
)

// inline returns the text of an element on one line.
func inline(n *node) string {
	var b strings.Builder
	join(&b, n, func(*strings.Builder, *node) bool { return false })
	return outline.OneLine(b.String())
}

// join writes the text of an element. Elements that have no text between them, such as the parts of a name, are set apart. special may
// write an element in another way, which it reports.
func join(b *strings.Builder, n *node, special func(*strings.Builder, *node) bool) {
	apart := !n.mixed()
	for c := n.first; c != nil; c = c.next {
		if apart && c != n.first {
			b.WriteByte(' ')
		}
		b.WriteString(c.text)
		if c.name != "" && !special(b, c) {
			join(b, c, special)
		}
	}
}
