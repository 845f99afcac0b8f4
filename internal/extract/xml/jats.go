package xml

import (
	"cmp"
	"fmt"
	"strings"

	"quarry/internal/extract/outline"
)

// findArticles returns the articles of JATS in a document: the root element, or those in a collection.
func findArticles(root *node) (all []*node) {
	if root.name == "article" {
		if root.child("front") != nil {
			all = append(all, root)
		}
		return all
	}
	root.within("article", func(n *node) {
		if n.child("front") != nil {
			all = append(all, n)
		}
	})
	return all
}

// readArticles reads articles; the metadata is that of the first one.
func readArticles(articles []*node) *outline.Document {
	j := jats{}
	for _, a := range articles {
		j.article(a, a.child("front"), 1)
	}
	return j.out.Document(metadata(articles[0]))
}

// jats adds the articles of a document to a tree.
type jats struct {
	out   outline.Builder
	notes []string // of the open paragraph
	lists int      // that are open
}

// article adds an article whose title is at a level.
func (j *jats) article(n, front *node, level int) {
	meta := cmp.Or(front.child("article-meta"), front)
	titles := meta.child("title-group")
	title := articleTitle(titles.child("article-title"))
	if sub := j.inline(titles.child("subtitle")); sub != "" {
		title += ": " + sub
	}
	if j.notes = nil; title != "" {
		j.out.Heading(level, title)
	}
	j.out.Paragraph(strings.Join(authors(meta), ", "))
	var places []string
	meta.within("aff", func(aff *node) { places = append(places, j.inline(aff)) })
	j.out.Paragraph(strings.Join(places, "; "))
	meta.each(func(c *node) {
		switch c.name {
		case "abstract", "trans-abstract", "author-notes":
			j.block(c, level+1)
		}
	})
	if words := keywords(meta); words != "" {
		j.out.Paragraph("Keywords: " + words)
	}
	n.child("body").each(func(c *node) { j.block(c, level+1) })
	if f := meta.child("funding-group"); f != nil {
		j.funding(f, level+1)
	}
	n.child("back").each(func(c *node) { j.block(c, level+1) })
	n.each(func(c *node) {
		if c.name == "sub-article" || c.name == "response" {
			j.article(c, cmp.Or(c.child("front-stub"), c.child("front")), level+1)
		}
	})
}

// articleTitle returns the title of an article without its references to notes.
func articleTitle(n *node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	join(&b, n, func(b *strings.Builder, c *node) bool {
		return c.name == "xref" || c.name == "fn" || new(jats).special(b, c)
	})
	return outline.OneLine(b.String())
}

// authors returns the names of those who wrote an article.
func authors(meta *node) (names []string) {
	meta.within("contrib", func(c *node) {
		if kind := c.attr("contrib-type"); kind != "" && kind != "author" {
			return
		}
		if n := first(c, "name", "string-name", "collab"); n != nil {
			names = append(names, person(n))
		} else if n := c.at("name-alternatives"); n != nil && n.first != nil {
			names = append(names, person(cmp.Or(first(n, "name", "string-name"), n)))
		}
	})
	return names
}

// person returns a name as it is spoken.
func person(n *node) string {
	if n.name != "name" || n.mixed() {
		return inline(n)
	}
	var parts []string
	for _, part := range []string{"prefix", "given-names", "surname", "suffix"} {
		if c := n.child(part); c != nil {
			parts = append(parts, inline(c))
		}
	}
	return strings.Join(parts, " ")
}

func keywords(meta *node) string {
	var words []string
	meta.within("kwd", func(n *node) { words = append(words, inline(n)) })
	return strings.Join(words, ", ")
}

// metadata returns what an article says of itself.
func metadata(article *node) map[string]any {
	front := article.child("front")
	meta := front.child("article-meta")
	m := map[string]any{}
	set := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	if title := meta.at("title-group", "article-title"); title != nil {
		set("title", articleTitle(title))
	}
	set("Author", strings.Join(authors(meta), ", "))
	set("Content-Language", article.attr("lang"))
	set("keywords", keywords(meta))
	meta.each(func(c *node) {
		if c.name == "article-id" && c.attr("pub-id-type") == "doi" {
			set("doi", inline(c))
		}
	})
	front.within("journal-title", func(n *node) { set("journal", inline(n)) })
	set("date", published(meta))
	return m
}

// published returns the earliest date of publication, as far as it is known.
func published(meta *node) (date string) {
	meta.each(func(c *node) {
		year := number4(c.child("year"))
		if c.name != "pub-date" || year == 0 {
			return
		}
		found := fmt.Sprintf("%04d", year)
		if month := number4(c.child("month")); month >= 1 && month <= 12 {
			found += fmt.Sprintf("-%02d", month)
			if day := number4(c.child("day")); day >= 1 && day <= 31 {
				found += fmt.Sprintf("-%02d", day)
			}
		}
		if date == "" || len(found) > len(date) || len(found) == len(date) && found < date {
			date = found
		}
	})
	return date
}

// number4 returns the number in an element, 0 for none of up to four digits.
func number4(n *node) (value int) {
	if n == nil {
		return 0
	}
	text := strings.TrimSpace(n.content())
	if len(text) > 4 || text == "" || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	for _, r := range text {
		value = 10*value + int(r-'0')
	}
	return value
}

// funding adds who paid for an article.
func (j *jats) funding(n *node, level int) {
	j.out.Heading(level, "Funding")
	n.each(func(c *node) {
		switch c.name {
		case "award-group":
			j.out.Line("- " + j.inline(c))
		case "funding-statement":
			j.paragraph(c, level+1)
		}
	})
}

// sections are the elements that are sections, with their headings where they have no title.
var sections = map[string]string{
	"sec": "", "app": "", "app-group": "", "boxed-text": "", "statement": "", "notes": "", "bio": "", "fn-group": "", "author-notes": "",
	"abstract": "Abstract", "trans-abstract": "Abstract", "ack": "Acknowledgements", "ref-list": "References", "glossary": "Glossary",
}

// skipped are elements that say nothing to readers, or are read elsewhere.
var skipped = map[string]bool{
	"label": true, "title": true, "sec-meta": true, "object-id": true, "permissions": true, "counts": true, "custom-meta-group": true,
	"processing-meta": true, "alt-text": true, "long-desc": true, "abstract-id": true, "related-article": true, "front-stub": true,
}

// block adds an element that stands by itself; its section, if it is one, has a level.
func (j *jats) block(n *node, level int) {
	if fallback, ok := sections[n.name]; ok {
		j.section(n, level, fallback)
		return
	}
	switch n.name {
	case "list":
		j.list(n, level)
	case "def-item":
		j.out.Line("- " + j.inline(n.child("term")) + ": " + j.inline(n.child("def")))
	case "ref":
		j.out.Line("- " + j.reference(n))
	case "fn":
		j.out.Line(strings.TrimSpace(inlineOf(n.child("label")) + " " + j.within(n)))
	case "table-wrap":
		j.table(n, level)
	case "table":
		j.grid(n, "", level)
	case "disp-formula":
		j.out.Code(strings.TrimSpace(formula(n) + " " + inlineOf(n.child("label"))))
	case "preformat", "code":
		j.out.Code(strings.Trim(n.content(), "\r\n"))
	case "fig", "supplementary-material", "media", "chem-struct-wrap", "graphic":
		j.figure(n, level)
	case "title", "label":
	default:
		switch {
		case skipped[n.name]:
		case n.name == "p" || n.mixed():
			j.paragraph(n, level)
		default:
			n.each(func(c *node) { j.block(c, level) })
		}
	}
}

// inlineOf is inline for an element that may be missing.
func inlineOf(n *node) string {
	if n == nil {
		return ""
	}
	return inline(n)
}

// section adds a section with its heading.
func (j *jats) section(n *node, level int, fallback string) {
	title := strings.TrimSpace(inlineOf(n.child("label")) + " " + j.inline(n.child("title")))
	if title = cmp.Or(title, fallback); title != "" {
		j.out.Heading(level, title)
		level++
	}
	n.each(func(c *node) { j.block(c, level) })
	j.out.Break()
}

// set are the elements that end the line that they stand in.
var set = map[string]bool{
	"list": true, "def-list": true, "disp-formula": true, "disp-formula-group": true, "disp-quote": true, "table-wrap": true, "table-wrap-group": true,
	"fig": true, "fig-group": true, "boxed-text": true, "preformat": true, "code": true, "statement": true, "verse-group": true,
	"supplementary-material": true, "media": true, "p": true, "speech": true, "chem-struct-wrap": true,
}

// paragraph adds a paragraph, and what is set into it, in order.
func (j *jats) paragraph(n *node, level int) {
	var b strings.Builder
	flush := func() {
		text := outline.OneLine(b.String())
		b.Reset()
		j.out.Paragraph(text)
		for _, note := range j.notes {
			j.out.Paragraph(note)
		}
		j.notes = nil
	}
	for c := n.first; c != nil; c = c.next {
		switch {
		case set[c.name]:
			flush()
			j.block(c, level)
		case c.name == "":
			b.WriteString(c.text)
		case !j.special(&b, c):
			join(&b, c, j.special)
		}
	}
	flush()
}

// inline returns the text of an element on one line, "" for none.
func (j *jats) inline(n *node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	join(&b, n, j.special)
	return outline.OneLine(b.String())
}

// within returns the text of an element without its label, and the labels and titles in it.
func (j *jats) within(n *node) string {
	var parts []string
	n.each(func(c *node) {
		if !skipped[c.name] {
			parts = append(parts, j.inline(c))
		}
	})
	return strings.Join(parts, " ")
}

// special writes the elements in a line that are more than their text.
func (j *jats) special(b *strings.Builder, n *node) bool {
	switch n.name {
	case "inline-formula", "disp-formula", "tex-math", "math", "alternatives":
		b.WriteString(formula(n))
	case "sup":
		if power(b.String(), n) {
			b.WriteByte('^')
		}
		return false
	case "break":
		b.WriteByte(' ')
	case "name":
		b.WriteString(person(n))
	case "fn":
		j.notes = append(j.notes, strings.TrimSpace(inlineOf(n.child("label"))+" "+j.within(n)))
	case "graphic", "inline-graphic", "media":
		b.WriteString(inlineOf(n.child("alt-text")))
	case "label", "object-id", "institution-id", "contrib-id":
		// numbers of notes and places, and addresses
	default:
		return false
	}
	return true
}

// power reports whether a superscript is an exponent: digits behind a digit.
func power(before string, n *node) bool {
	text := strings.TrimSpace(n.content())
	return before != "" && strings.Contains(digits, before[len(before)-1:]) && text != "" && strings.Trim(text, digits+"-−+") == ""
}

const digits = "0123456789"
