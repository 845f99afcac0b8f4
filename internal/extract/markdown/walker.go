package markdown

import (
	"fmt"
	stdhtml "html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"quarry/internal/extract/html"
	"quarry/internal/extract/outline"
)

// walker visits the syntax tree in document order.
type walker struct {
	out   *outline.Builder
	src   []byte
	mark  string // bullet or number that the next block begins with
	lists int    // number of open lists

	nested int // number of directives around it

	pictures []outline.Picture // of the block
}

// blocks adds the block elements below n.
func (w *walker) blocks(n ast.Node) error {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if err := w.block(c); err != nil {
			return err
		}
		w.flush()
	}
	return nil
}

func (w *walker) block(n ast.Node) error {
	switch n := n.(type) {
	case *ast.Heading:
		title := strings.Join(strings.Fields(w.inline(n)), " ")
		switch {
		case w.lists > 0:
			w.paragraph(title)
		case title != "":
			w.out.Heading(n.Level, title)
		}
	case *ast.Paragraph, *ast.TextBlock:
		w.paragraph(strings.TrimSpace(w.inline(n)))
	case *ast.FencedCodeBlock:
		if ok, err := w.directed(n); ok {
			return err
		}
		w.listing(strings.TrimRight(w.raw(n), "\n"))
	case *ast.CodeBlock:
		w.listing(strings.TrimRight(w.raw(n), "\n"))
	case *ast.HTMLBlock:
		fragment := w.raw(n)
		if n.HasClosure() {
			fragment += string(n.ClosureLine.Value(w.src))
		}
		if err := html.Append(w.out, fragment); err != nil {
			return fmt.Errorf("read HTML block: %w", err)
		}
	case *ast.List:
		return w.list(n)
	case *east.Table:
		w.table(n)
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
	default:
		return w.blocks(n)
	}
	return nil
}

func (w *walker) list(n *ast.List) error {
	if w.lists == 0 {
		w.out.Break()
	}
	w.lists++
	indent := strings.Repeat("  ", min(w.lists-1, 16))
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		w.mark = indent + "- "
		if n.IsOrdered() {
			w.mark = indent + strconv.Itoa(number) + string(n.Marker) + " "
			number++
		}
		if err := w.blocks(item); err != nil {
			return err
		}
		w.mark = ""
	}
	w.lists--
	if w.lists == 0 {
		w.out.Break()
	}
	return nil
}

func (w *walker) paragraph(text string) {
	switch {
	case strings.TrimSpace(text) == "":
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

// listing adds a block of code.
func (w *walker) listing(text string) {
	if w.lists > 0 && w.mark != "" {
		w.paragraph(text)
		return
	}
	w.out.Code(text)
}

func (w *walker) table(n *east.Table) {
	var t outline.Table
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.Join(strings.Fields(w.inline(cell)), " "))
		}
		if row.Kind() == east.KindTableHeader {
			t.Headers = append(t.Headers, cells)
		} else {
			t.Rows = append(t.Rows, cells)
		}
	}
	w.out.Table(t)
}

// raw returns the lines of a block unchanged.
func (w *walker) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(w.src))
	}
	return b.String()
}

// inline returns the text of a block without markup.
func (w *walker) inline(n ast.Node) string {
	var b strings.Builder
	w.inlines(&b, n)
	return plainText(b.String())
}

func (w *walker) inlines(b *strings.Builder, n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(w.src)
			if !c.IsRaw() {
				value = []byte(stdhtml.UnescapeString(string(util.UnescapePunctuations(value))))
			}
			if _, code := c.NextSibling().(*ast.CodeSpan); code {
				value = role.ReplaceAll(value, nil)
			}
			b.Write(value)
			switch {
			case c.HardLineBreak():
				b.WriteByte('\n')
			case c.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.CodeSpan:
			w.code(b, c)
		case *ast.Image:
			if !w.picture(c) && !html.Badge(string(c.Destination)) {
				w.inlines(b, c)
			}
		case *ast.AutoLink:
			b.Write(c.Label(w.src))
		case *ast.RawHTML:
			tag := string(c.Segments.Value(w.src))
			if strings.HasPrefix(strings.ToLower(tag), "<br") {
				b.WriteByte('\n')
			}
		case *east.TaskCheckBox:
			if c.IsChecked {
				b.WriteString("[x] ")
			} else {
				b.WriteString("[ ] ")
			}
		default:
			w.inlines(b, c)
		}
	}
}

// code writes the text of code within a line. Behind a role it may have a text of its own and its target.
func (w *walker) code(b *strings.Builder, n *ast.CodeSpan) {
	var code strings.Builder
	for t := n.FirstChild(); t != nil; t = t.NextSibling() {
		if t, ok := t.(*ast.Text); ok {
			code.WriteString(strings.ReplaceAll(string(t.Segment.Value(w.src)), "\n", " "))
		}
	}
	text := code.String()
	if before, ok := n.PreviousSibling().(*ast.Text); ok && role.Match(before.Segment.Value(w.src)) {
		text = strings.TrimPrefix(aimed.ReplaceAllString(text, "$1"), "~")
	}
	b.WriteString(shield.Replace(text))
}
