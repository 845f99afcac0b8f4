package xml

import (
	"cmp"
	"strconv"
	"strings"

	"quarry/internal/extract/outline"
)

// list adds the items of a list as lines.
func (j *jats) list(n *node, level int) {
	if j.lists == 0 {
		j.out.Break()
	}
	j.lists++
	indent := strings.Repeat("  ", min(j.lists-1, 16))
	count := 0
	n.each(func(item *node) {
		if item.name != "list-item" {
			return
		}
		count++
		mark := "-"
		if kind := n.attr("list-type"); kind == "order" || kind == "number" {
			mark = strconv.Itoa(count) + "."
		}
		if label := inlineOf(item.child("label")); label != "" && mark == "-" && strings.ContainsAny(label, digits) {
			mark = label
		}
		j.item(item, indent+mark+" ", level)
	})
	if j.lists--; j.lists == 0 {
		j.out.Break()
	}
}

// item adds an item: its first paragraph behind the mark, and what follows below it.
func (j *jats) item(n *node, mark string, level int) {
	n.each(func(c *node) {
		switch {
		case skipped[c.name]:
		case c.name == "list":
			j.list(c, level)
		case c.name == "p" && !sets(c):
			text := j.inline(c)
			if text == "" {
				return
			}
			if mark == "" {
				j.out.Break()
			}
			j.out.Line(mark + text)
			mark = ""
		default:
			j.block(c, level)
		}
	})
}

// sets reports whether something is set into a paragraph.
func sets(n *node) (found bool) {
	n.each(func(c *node) { found = found || set[c.name] })
	return found
}

// table adds a table with its caption, and the notes to it.
func (j *jats) table(n *node, level int) {
	caption := j.caption(n)
	t := n.child("table")
	if t == nil {
		t = n.at("alternatives", "table")
	}
	if t == nil {
		t = n.child("tgroup")
	}
	if t == nil {
		j.out.Paragraph(caption)
	} else {
		j.grid(t, caption, level)
	}
	if foot := n.child("table-wrap-foot"); foot != nil {
		foot.each(func(c *node) { j.block(c, level) })
		j.out.Break()
	}
}

// grid adds a table; one that lays out text is that text.
func (j *jats) grid(n *node, title string, level int) {
	if t, ok := table(n, j.cell); ok {
		t.Title = title
		j.out.Table(t)
		return
	}
	j.out.Paragraph(title)
	n.within("tr", func(row *node) {
		row.each(func(c *node) { j.paragraph(c, level) })
	})
}

// cell returns the text of a cell.
func (j *jats) cell(n *node) string {
	text := j.inline(n)
	if len(j.notes) > 0 {
		text += " (" + strings.Join(j.notes, "; ") + ")"
		j.notes = nil
	}
	return text
}

// caption returns the label of a figure or table, its title and its text.
func (j *jats) caption(n *node) string {
	parts := []string{inlineOf(n.child("label"))}
	n.child("caption").each(func(c *node) { parts = append(parts, j.inline(c)) })
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if text := b.String(); text != "" && strings.ContainsAny(text[len(text)-1:], digits) {
			b.WriteByte('.')
		}
		b.WriteString(" " + p)
	}
	return strings.TrimSpace(b.String())
}

// figure adds the texts of a figure or another file beside the article.
func (j *jats) figure(n *node, level int) {
	j.out.Paragraph(j.caption(n))
	n.each(func(c *node) {
		switch c.name {
		case "alt-text":
			j.out.Paragraph(inline(c))
		case "caption", "label", "graphic":
			j.out.Paragraph(inlineOf(c.child("alt-text")))
		default:
			j.block(c, level)
		}
	})
}

// reference returns an entry of the list of references.
func (j *jats) reference(n *node) string {
	parts := []string{inlineOf(n.child("label"))}
	if alternatives := n.child("citation-alternatives"); alternatives != nil {
		n = alternatives
	}
	n.each(func(c *node) {
		switch c.name {
		case "element-citation", "mixed-citation", "citation", "nlm-citation":
			if c.mixed() {
				parts = append(parts, j.inline(c))
			} else {
				parts = append(parts, j.citation(c))
			}
		case "note":
			parts = append(parts, j.inline(c))
		}
	})
	return strings.TrimSpace(strings.Join(parts, " "))
}

// citation returns a reference that is made of fields.
func (j *jats) citation(n *node) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	n.each(func(c *node) {
		switch c.name {
		case "person-group":
			var names []string
			c.each(func(p *node) { names = append(names, person(p)) })
			add(strings.Join(names, ", "))
		case "name", "string-name", "collab":
			add(person(c))
		case "lpage":
			if last := len(parts) - 1; last >= 0 {
				parts[last] += "–" + inline(c)
			}
		case "pub-id":
			add(strings.ToUpper(c.attr("pub-id-type")) + " " + inline(c))
		default:
			add(j.inline(c))
		}
	})
	return strings.Join(parts, ". ")
}

// formula returns a formula as TeX if the file has that, else its MathML or characters on a line.
func formula(n *node) string {
	if n.name == "alternatives" || n.child("alternatives") != nil {
		from := cmp.Or(n.child("alternatives"), n)
		if c := first(from, "tex-math", "math", "textual-form"); c != nil {
			return formula(c)
		}
	}
	if n.name != "tex-math" && n.name != "math" {
		if c := first(n, "tex-math", "math"); c != nil {
			return formula(c)
		}
		var b strings.Builder
		join(&b, n, func(_ *strings.Builder, c *node) bool { return c.name == "label" })
		return outline.OneLine(b.String())
	}
	if n.name == "math" {
		return outline.OneLine(mathematics(n))
	}
	text := n.content()
	if _, body, ok := strings.Cut(text, `\begin{document}`); ok {
		text, _, _ = strings.Cut(body, `\end{document}`)
	}
	return outline.OneLine(strings.Trim(strings.TrimSpace(text), "$"))
}

// mathematics returns MathML on a line.
func mathematics(n *node) string {
	var all []string
	n.each(func(c *node) {
		if c.name != "annotation" && c.name != "annotation-xml" {
			all = append(all, mathematics(c))
		}
	})
	at := func(i int) string {
		if i >= len(all) {
			return ""
		}
		if len(all[i]) > 1 && strings.ContainsAny(all[i], " +-−*/=") {
			return "(" + all[i] + ")"
		}
		return all[i]
	}
	switch n.name {
	case "mi", "mn", "mo", "mtext", "ms":
		return outline.OneLine(n.content())
	case "mfrac":
		return at(0) + "/" + at(1)
	case "msup", "mover":
		return at(0) + "^" + at(1)
	case "msub", "munder":
		return at(0) + "_" + at(1)
	case "msubsup", "munderover":
		return at(0) + "_" + at(1) + "^" + at(2)
	case "msqrt":
		return "√(" + strings.Join(all, " ") + ")"
	}
	return strings.Join(all, " ")
}
