package html

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	level  int             // of the last heading
	bold   int             // level of the open section below a paragraph in bold, 0 for none
	around int             // the same outside of the open lists
	ended  bool            // that section, of an item, has ended: what comes next is of the one around it

	pictures []outline.Picture // of the open block
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
		if !w.picture(n) && !Badge(attr(n, "src")) {
			w.words(" " + attr(n, "alt") + " ")
		}
	case atom.Figcaption:
		w.flush()
		if !w.out.Caption(strings.Join(strings.Fields(content(n)), " ")) {
			w.children(n)
			w.flush()
		}
	case atom.Sup:
		if r, _ := utf8.DecodeLastRuneInString(w.text.String()); w.last == 'x' && unicode.IsDigit(r) && power(content(n)) {
			w.words("^") // 2^31 is not 231
		}
		w.children(n)
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Pre, atom.Listing, atom.Xmp:
		w.flush()
		w.code(strings.Trim(content(n), "\r\n"))
	case atom.Table:
		w.table(n)
	default:
		if n.DataAtom == atom.P && w.titled(n) {
			return
		}
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
		w.level, w.bold, w.around, w.ended = int(n.Data[1]-'0'), 0, 0, false
		w.out.Heading(w.level, title)
	}
}

// Bounds of a paragraph in bold that is a heading, in bytes.
const (
	longestBold     = 160
	longestNumbered = 400
)

// numbered matches the number of a heading.
var numbered = regexp.MustCompile(`^\(?\d{1,3}[.)]`)

// titled adds a paragraph that is a heading in all but its tag, and reports whether it is: it is all in bold, doesn't end as a
// statement unless it has a number, and another paragraph follows.
func (w *walker) titled(n *html.Node) bool {
	title := strings.Join(strings.Fields(content(n)), " ")
	number := numbered.MatchString(title)
	if title == "" || len(title) > longestBold && !number || len(title) > longestNumbered || strings.HasSuffix(title, ".") && !number || strings.ContainsAny(title[len(title)-1:], ",;:") || !emboldened(n) {
		return false
	}
	next := n.NextSibling
	for next != nil && (next.Type != html.ElementNode || strings.TrimSpace(content(next)) == "") {
		if next.Type == html.TextNode && strings.TrimSpace(next.Data) != "" {
			break
		}
		next = next.NextSibling
	}
	if next == nil || next.Type == html.ElementNode && (next.DataAtom == atom.P && emboldened(next) || len(next.Data) == 2 && next.Data[0] == 'h') {
		return false
	}
	w.flush()
	w.mark = ""
	w.bold, w.ended = min(max(w.level, w.around)+1, 6), false
	w.out.Heading(w.bold, title)
	return true
}

// emboldened reports whether all text of a paragraph is in bold.
func emboldened(n *html.Node) bool {
	some := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.ElementNode && (c.DataAtom == atom.B || c.DataAtom == atom.Strong):
			some = true
		case c.Type == html.ElementNode && strings.TrimSpace(content(c)) != "", c.Type == html.TextNode && strings.TrimSpace(c.Data) != "":
			return false
		}
	}
	return some
}

// longestMenu is how many nodes a menu or a table of contents has at most.
const longestMenu = 5_000

// contents reports whether a list is the table of contents of its page: three items or more, all of them links to places in it.
func contents(n *html.Node) bool {
	items, nodes := 0, 0
	for d := range n.Descendants() {
		if nodes++; nodes > longestMenu {
			return false
		}
		switch {
		case d.Type == html.TextNode && strings.TrimSpace(d.Data) != "":
			a := d.Parent
			for a != n && a.DataAtom != atom.A {
				a = a.Parent
			}
			if !strings.HasPrefix(attr(a, "href"), "#") {
				return false
			}
		case d.DataAtom == atom.Li:
			items++
		}
	}
	return items >= 3
}

// menu reports whether an element is a menu by its name, and by having nothing but links.
func menu(n *html.Node) bool {
	name := strings.ToLower(attr(n, "class") + " " + attr(n, "id"))
	if !navigation.MatchString(name) {
		return false
	}
	links, linked, all, nodes := 0, 0, 0, 0
	for d := range n.Descendants() {
		if nodes++; nodes > longestMenu {
			return false
		}
		if d.Type != html.TextNode {
			continue
		}
		size := len(strings.TrimSpace(d.Data))
		all += size
		for a := d.Parent; a != n; a = a.Parent {
			if a.DataAtom == atom.A {
				linked += size
				links++
				break
			}
		}
	}
	return links >= 3 && 10*linked >= 9*all
}

var navigation = regexp.MustCompile(`(?:^|[\s_-])(?:\w*menu|nav\w*|\w*sidebar\w*|breadcrumbs?|toc\w*|related)(?:$|[\s_-])`)

// power reports whether a text is a number, as of an exponent.
func power(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Badge reports whether an image is a picture of the state of a project, which says nothing to readers of its text.
func Badge(source string) bool {
	source = strings.ToLower(source)
	return strings.Contains(source, "badge") || strings.Contains(source, "shields.io")
}

func (w *walker) list(n *html.Node) {
	w.flush()
	if contents(n) {
		return
	}
	if w.lists == 0 {
		w.out.Break()
		w.around = w.bold
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
		w.ended = w.lists == 1 && w.bold != w.around
	}
	w.lists--
	if w.lists == 0 {
		w.out.Break()
		w.around = 0
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
	for _, p := range w.pictures {
		if !w.out.Picture(p) {
			w.block(p.Words())
		}
	}
	w.pictures = nil
}

// resume goes on in the section around a paragraph in bold of a list item that has ended.
func (w *walker) resume() {
	if !w.ended {
		return
	}
	w.out.Heading(w.bold, "")
	w.bold, w.ended = w.bold-1, false
	if w.bold <= w.level {
		w.bold = 0
	}
}

// code adds preformatted text.
func (w *walker) code(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if w.lists > 0 && w.mark != "" {
		w.block(text)
		return
	}
	w.resume()
	w.out.Code(text)
}

func (w *walker) block(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	w.resume()
	switch {
	case w.lists > 0 && w.mark == "": // another paragraph of the item
		w.out.Break()
		w.out.Line(text)
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
	if n.DataAtom == atom.A && strings.HasPrefix(attr(n, "href"), "#") && strings.Trim(content(n), "¶#§🔗 ") == "" {
		return true // the link of a heading to itself
	}
	if has(n, "hidden") || strings.EqualFold(attr(n, "aria-hidden"), "true") || strings.EqualFold(attr(n, "role"), "navigation") {
		return true
	}
	if n.DataAtom == atom.Div || n.DataAtom == atom.Ul || n.DataAtom == atom.Aside {
		if menu(n) {
			return true
		}
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
	atom.Dt: true, atom.Dd: true, atom.Figure: true, atom.Address: true, atom.Form: true,
	atom.Fieldset: true, atom.Legend: true, atom.Details: true, atom.Summary: true, atom.Hr: true, atom.Center: true,
	atom.Tr: true, atom.Td: true, atom.Th: true, atom.Tbody: true, atom.Thead: true, atom.Tfoot: true, atom.Caption: true,
	atom.Li: true, atom.Dir: true, atom.Frameset: true, atom.Hgroup: true, atom.Search: true, atom.Option: true,
}
