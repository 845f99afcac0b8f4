package testkit

import (
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"strings"
)

// Page is a random document: sections of odd prose, lists, values, tables and code, as people and programs write them.
type Page struct{ Sections []PageSection }

// PageSection is a heading with what stands below it; Blocks may be empty.
type PageSection struct {
	Heading string
	Level   int // 1 to 3
	Blocks  []PageBlock
}

// PageBlock is a paragraph, or the lines of a list, a table or code.
type PageBlock struct {
	Kind  string // "prose", "list", "values", "table" or "code"
	Lines []string
}

var (
	pageNouns = strings.Fields("pump valve filter server cache bridge river engine token budget harbour ticket café Müller résumé")
	pageVerbs = strings.Fields("opens closes holds cleans returns moves limits keeps refuses counts")
	// What odd prose has in it: marks like those of citations, brackets and quotation marks that stay open, abbreviations, signs.
	pageOdd = []string{
		"[1]", "[2, 3]", "(see", "(note 4)", "“quoted", `"`, "3.5 bar", "e.g.", "No. 7", "2024-05-01", "Dr. Who", "a/b", "—", "10 %", "…", "* * *",
		"https://example.org/a?b=c", "Figure 2:", "and/or", "U.S.", "it's", "<b>", "&amp;", "C:\\x", "`--flag`", "[^1]", "€ 40", "No!", "Why?",
	}
)

// NewPage returns a random page. No two headings of it are the same.
func NewPage(r *rand.Rand) Page {
	var p Page
	seen := map[string]bool{}
	for range 2 + r.IntN(5) {
		s := PageSection{Heading: heading(r), Level: 1 + r.IntN(3)}
		if seen[s.Heading] {
			continue
		}
		seen[s.Heading] = true
		for range r.IntN(4) {
			s.Blocks = append(s.Blocks, block(r))
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

func pick(r *rand.Rand, all []string) string { return all[r.IntN(len(all))] }

func heading(r *rand.Rand) string {
	return []string{
		"What the " + pick(r, pageNouns) + " " + pick(r, pageVerbs), "How often is the " + pick(r, pageNouns) + " cleaned?",
		strings.ToUpper(pick(r, pageNouns)[:1]) + "xtra " + pick(r, pageNouns), fmt.Sprintf("%d. The %s", 1+r.IntN(9), pick(r, pageNouns)),
	}[r.IntN(4)]
}

// sentence returns a sentence, one in three with something odd in it, one in ten without an end.
func sentence(r *rand.Rand) string {
	s := fmt.Sprintf("The %s %s the %s", pick(r, pageNouns), pick(r, pageVerbs), pick(r, pageNouns))
	if r.IntN(3) == 0 {
		s += " " + pick(r, pageOdd)
	}
	if r.IntN(2) == 0 {
		s += fmt.Sprintf(" every %d hours", 1+r.IntN(400))
	}
	if r.IntN(4) == 0 {
		s = fmt.Sprintf("It %s %s, and %s", pick(r, pageVerbs), pick(r, pageOdd), strings.ToLower(s))
	}
	return s + pick(r, []string{".", ".", ".", ".", ".", ".", "?", "!", ".[4]", ""})
}

func block(r *rand.Rand) PageBlock {
	b := PageBlock{Kind: pick(r, []string{"prose", "prose", "prose", "list", "values", "table", "code"})}
	for range 1 + r.IntN(6) {
		line := sentence(r)
		switch b.Kind {
		case "values":
			line = fmt.Sprintf("%s: %d %s", pick(r, pageNouns), r.IntN(9000), pick(r, pageOdd))
		case "table":
			line = fmt.Sprintf("%s|%d|%s", pick(r, pageNouns), r.IntN(9000), pick(r, pageVerbs))
		case "code":
			line = fmt.Sprintf("%s.%s(%d);", pick(r, pageNouns), pick(r, pageVerbs), r.IntN(99))
		}
		b.Lines = append(b.Lines, line)
	}
	return b
}

// HTML returns the page as HTML.
func (p Page) HTML() []byte {
	var b strings.Builder
	b.WriteString("<!doctype html><html><body>\n")
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "<h%d>%s</h%d>\n", s.Level, html.EscapeString(s.Heading), s.Level)
		for _, k := range s.Blocks {
			open, line, end := "<p>", "%s\n", "</p>\n"
			switch k.Kind {
			case "list":
				open, line, end = "<ul>", "<li>%s</li>\n", "</ul>\n"
			case "values":
				open, line, end = "<dl>", "<dt>%s</dt>\n", "</dl>\n"
			case "table":
				open, line, end = "<table>", "<tr><td>%s</td></tr>\n", "</table>\n"
			case "code":
				open, line, end = "<pre><code>", "%s\n", "</code></pre>\n"
			}
			b.WriteString(open)
			for _, l := range k.Lines {
				l = html.EscapeString(l)
				switch k.Kind {
				case "values":
					l = strings.Replace(l, ": ", "</dt><dd>", 1) + "</dd><dt>"
				case "table":
					l = strings.ReplaceAll(l, "|", "</td><td>")
				}
				fmt.Fprintf(&b, line, l)
			}
			b.WriteString(end)
		}
	}
	return []byte(b.String() + "</body></html>")
}

// Markdown returns the page as Markdown, in which odd things may mean something.
func (p Page) Markdown() []byte {
	var b strings.Builder
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "%s %s\n\n", strings.Repeat("#", s.Level), s.Heading)
		for _, k := range s.Blocks {
			switch k.Kind {
			case "table":
				b.WriteString("|a|b|c|\n|---|---|---|\n")
			case "code":
				b.WriteString("```\n")
			}
			for _, l := range k.Lines {
				switch k.Kind {
				case "list":
					l = "- " + l
				case "values":
					l = "* **" + strings.Replace(l, ": ", "**: ", 1)
				case "table":
					l = "|" + l + "|"
				}
				b.WriteString(l + "\n")
			}
			if k.Kind == "code" {
				b.WriteString("```\n")
			}
			b.WriteString("\n")
		}
	}
	return []byte(b.String())
}

// PDF returns the page as a PDF file of lines as wide as a column, headings larger and bold, words broken over lines now and then.
func (p Page) PDF() []byte {
	const left, top, bottom = 60, 780, 60
	var pages []string
	var b strings.Builder
	y := top
	line := func(font string, size, x int, text string) {
		if y < bottom {
			pages, y = append(pages, b.String()), top
			b.Reset()
		}
		fmt.Fprintf(&b, "BT /%s %d Tf %d %d Td (%s) Tj ET\n", font, size, x, y, winAnsi(text))
		y -= size + size/4
	}
	for _, s := range p.Sections {
		y -= 12
		line("B", 20-2*s.Level, left, s.Heading)
		y -= 4
		for _, k := range s.Blocks {
			switch k.Kind {
			case "prose":
				for _, l := range wrap(strings.Join(k.Lines, " "), 78) {
					line("F", 10, left, l)
				}
			default:
				for _, l := range k.Lines {
					mark := map[string]string{"list": "• "}[k.Kind]
					line("F", 10, left+12, mark+l)
				}
			}
			y -= 8
		}
	}
	return pdfOf(append(pages, b.String()))
}

// wrap breaks a text into lines of at most about n characters, some within a word.
func wrap(text string, n int) (out []string) {
	line := ""
	for i, w := range strings.Fields(text) {
		if len(line)+len(w) > n {
			if half := len(w) / 2; i%5 == 0 && half > 2 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
				line += " " + w[:half] + "-"
				w = w[half:]
			}
			out, line = append(out, strings.TrimSpace(line)), ""
		}
		line += " " + w
	}
	return append(out, strings.TrimSpace(line))
}

// winAnsi writes a text as the inside of a string in a PDF file.
func winAnsi(text string) string {
	var b strings.Builder
	special := map[rune]byte{'€': 0x80, '…': 0x85, '“': 0x93, '”': 0x94, '•': 0x95, '—': 0x97}
	for _, c := range text {
		if s, ok := special[c]; ok {
			c = rune(s)
		}
		switch {
		case c == '(' || c == ')' || c == '\\':
			b.WriteString("\\" + string(c))
		case c < 0x7f:
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, "\\%03o", c&0xff)
		}
	}
	return b.String()
}

// pdfOf returns a PDF file with these contents of pages.
func pdfOf(pages []string) []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
	}
	kids := ""
	for _, content := range pages {
		objects = append(objects, fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content))
		objects = append(objects, fmt.Sprintf(
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F 3 0 R/B 4 0 R>>>>>>", len(objects)))
		kids += fmt.Sprintf("%d 0 R ", len(objects))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), kids)
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var table strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table.String(), len(objects)+1, at)
	return b.Bytes()
}
