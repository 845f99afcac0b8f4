// Package html reads HTML into a document tree.
//
// It keeps what a reader would see: headings, paragraphs, lists, tables, preformatted text and alternative texts of
// images. It drops scripts, styles, navigation, templates, form controls and hidden elements. It fetches and runs
// nothing. All functions are safe for concurrent use.
package html

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"quarry/internal/extract/outline"
)

// Read parses a page in UTF-8.
func Read(page string, o outline.Options) (*outline.Document, error) { return ReadWith(page, o, nil) }

// ReadWith is Read for a page that lies beside its pictures: file returns the one at an address, nil for none.
func ReadWith(page string, o outline.Options, file func(source string) []byte) (*outline.Document, error) {
	b := outline.Builder{Options: o, File: file}
	root, err := parse(page)
	if err != nil {
		// The text of a page that the parser refuses can still be extracted.
		if err := flat(&b, page); err != nil {
			return nil, err
		}
		return &outline.Document{Metadata: map[string]any{}, Sections: b.Sections()}, nil
	}
	w := walker{out: &b}
	w.children(root)
	w.flush()
	return b.Document(metadata(root)), nil
}

// Append parses a fragment in UTF-8 and adds its content to b.
func Append(b *outline.Builder, fragment string) error {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(fragment), body)
	if err != nil {
		return flat(b, fragment)
	}
	w := walker{out: b}
	for _, n := range nodes {
		w.node(n)
	}
	w.flush()
	return nil
}

// AppendPage parses a page in UTF-8 and adds its content to b, but for what stands in its head. Pictures are those that b.File has.
func AppendPage(b *outline.Builder, page string) error {
	root, err := parse(page)
	if err != nil {
		return flat(b, page)
	}
	w := walker{out: b}
	w.children(root)
	w.flush()
	return nil
}

// parse returns the syntax tree of a page. It refuses pages that are nested deeper than 512 elements (a limit of package
// html) and those that would take too long.
func parse(page string) (*html.Node, error) {
	if xhtml(page) {
		page = expand(page)
	}
	if len(page) > maxPlainSize {
		var ok bool
		if page, ok = separateTexts(page); !ok {
			return nil, outline.ErrUnparsable
		}
	}
	return html.Parse(strings.NewReader(page))
}

// flat adds the text of a page without structure, each text token as a paragraph.
func flat(b *outline.Builder, page string) error {
	z := html.NewTokenizer(strings.NewReader(page))
	skip := atom.Atom(0)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return fmt.Errorf("%w: %w", outline.ErrUnparsable, err)
			}
			return nil
		case html.StartTagToken:
			name, _ := z.TagName()
			if a := atom.Lookup(name); skip == 0 && (a == atom.Script || a == atom.Style || a == atom.Template) {
				skip = a
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if atom.Lookup(name) == skip {
				skip = 0
			}
		case html.TextToken:
			if skip == 0 {
				b.Paragraph(strings.Join(strings.Fields(string(z.Text())), " "))
			}
		}
	}
}

// metadata returns the title, the language and the values of meta elements.
func metadata(root *html.Node) map[string]any {
	m := map[string]any{}
	put := func(key, value string) {
		value = strings.Join(strings.Fields(value), " ")
		if _, taken := m[key]; !taken && value != "" {
			m[key] = value
		}
	}
	var alternative string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			put("Content-Language", attr(n, "lang"))
		case atom.Title:
			put("title", content(n))
		case atom.Meta:
			name := strings.ToLower(attr(n, "name") + attr(n, "property") + attr(n, "http-equiv"))
			switch value := attr(n, "content"); name {
			case "author", "article:author":
				put("Author", value)
			case "description", "keywords", "date":
				put(name, value)
			case "article:published_time":
				put("date", value)
			case "content-language", "language":
				put("Content-Language", value)
			case "og:title":
				alternative = value
			}
		}
	}
	put("title", alternative)
	return m
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// content returns the raw text below n.
func content(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
