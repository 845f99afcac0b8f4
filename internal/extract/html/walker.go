package html

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"quarry/internal/extract/outline"
)

// walker visits a page in document order. The parser bounds its depth.
type walker struct {
	out    *outline.Builder
	text   strings.Builder // of the open block
	last   byte            // the last character of text, if it is white space
	mark   string          // bullet or number that the next block begins with
	lists  int             // number of open lists
	inside int             // number of open list items and cells, in which headings are plain text
}

func (w *walker) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

func (w *walker) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		w.words(n.Data)
	case html.DocumentNode:
		w.children(n)
	case html.ElementNode:
		if !dropped(n) {
			w.element(n)
		}
	}
}

func (w *walker) element(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n)
	case atom.Br:
		w.newline()
	case atom.Img, atom.Area:
		w.words(" " + attr(n, "alt") + " ")
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Pre, atom.Listing, atom.Xmp:
		w.flush()
		w.block(strings.Trim(content(n), "\r\n"))
	case atom.Table:
		w.table(n)
	default:
		if blocks[n.DataAtom] {
			w.flush()
			w.children(n)
			w.flush()
			return
		}
		w.children(n)
	}
}

func (w *walker) heading(n *html.Node) {
	w.flush()
	if w.inside > 0 {
		w.children(n)
		w.flush()
		return
	}
	inner := walker{out: &outline.Builder{}, inside: 1}
	inner.children(n)
	title := strings.Join(strings.Fields(inner.text.String()), " ")
	if title != "" {
		w.out.Heading(int(n.Data[1]-'0'), title)
	}
}

func (w *walker) list(n *html.Node) {
	w.flush()
	if w.lists == 0 {
		w.out.Break()
	}
	w.lists++
	number := 0
	if n.DataAtom == atom.Ol {
		number = 1
		if s, err := strconv.Atoi(attr(n, "start")); err == nil {
			number = s
		}
	}
	indent := strings.Repeat("  ", min(w.lists-1, 16))
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.DataAtom != atom.Li {
			w.node(c)
			continue
		}
		if dropped(c) {
			continue
		}
		w.flush()
		w.mark = indent + "- "
		if n.DataAtom == atom.Ol {
			w.mark = indent + strconv.Itoa(number) + ". "
			number++
		}
		w.inside++
		w.children(c)
		w.flush()
		w.inside--
		w.mark = ""
	}
	w.lists--
	if w.lists == 0 {
		w.out.Break()
	}
}

// words adds text with its white space collapsed.
func (w *walker) words(s string) {
	for _, r := range s {
		if unicode.IsSpace(r) {
			if w.text.Len() > 0 && w.last != ' ' && w.last != '\n' {
				w.text.WriteByte(' ')
				w.last = ' '
			}
			continue
		}
		w.text.WriteRune(r)
		w.last = 'x'
	}
}

func (w *walker) newline() {
	if w.text.Len() > 0 && w.last != '\n' {
		w.text.WriteByte('\n')
		w.last = '\n'
	}
}

// flush ends the open block.
func (w *walker) flush() {
	text := w.text.String()
	w.text.Reset()
	w.last = 0
	w.block(strings.TrimSpace(strings.ReplaceAll(text, " \n", "\n")))
}

func (w *walker) block(text string) {
	switch {
	case strings.TrimSpace(text) == "":
	case w.lists > 0:
		w.out.Line(w.mark + text)
		w.mark = ""
	default:
		w.out.Paragraph(text)
	}
}

// dropped reports whether n is not shown to readers.
func dropped(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Template, atom.Nav, atom.Noscript, atom.Iframe, atom.Object,
		atom.Svg, atom.Canvas, atom.Audio, atom.Video, atom.Select, atom.Datalist, atom.Textarea, atom.Input, atom.Button:
		return true
	}
	if has(n, "hidden") || strings.EqualFold(attr(n, "aria-hidden"), "true") || strings.EqualFold(attr(n, "role"), "navigation") {
		return true
	}
	style := attr(n, "style")
	if style == "" {
		return false
	}
	style = strings.ToLower(strings.ReplaceAll(style, " ", ""))
	return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
}

// blocks are the elements that begin and end a paragraph.
var blocks = map[atom.Atom]bool{
	atom.Html: true, atom.Body: true, atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true,
	atom.Aside: true, atom.Header: true, atom.Footer: true, atom.Main: true, atom.Blockquote: true, atom.Dl: true,
	atom.Dt: true, atom.Dd: true, atom.Figure: true, atom.Figcaption: true, atom.Address: true, atom.Form: true,
	atom.Fieldset: true, atom.Legend: true, atom.Details: true, atom.Summary: true, atom.Hr: true, atom.Center: true,
	atom.Tr: true, atom.Td: true, atom.Th: true, atom.Tbody: true, atom.Thead: true, atom.Tfoot: true, atom.Caption: true,
	atom.Li: true, atom.Dir: true, atom.Frameset: true, atom.Hgroup: true, atom.Search: true, atom.Option: true,
}
