package plain

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/extract/outline"
)

// page is a manual page as man prints it.
type page struct {
	title string
	lines []line
	width int // at which text is wrapped
	base  int // indentation of the text of sections
	out   outline.Builder

	tags   []int // indentations of the open terms, outermost first
	tagged bool  // the open section has terms
}

// line is a line without the white space around it.
type line struct {
	text   string
	indent int // characters in front of it; tabs are up to eight
}

// Levels of headings in the tree: a term is below the section and the subsection that it is in.
const (
	sectionLevel = 1
	groupLevel   = 2
	termLevel    = 3
)

// header matches the first line of a page: its name on both sides.
var header = regexp.MustCompile(`^(\S[^()]*\(\d\w*\))\s{2,}(?:.*\S\s{2,})?(\S[^()]*\(\d\w*\))$`)

// gaps matches what stands between the columns of headers and footers.
var gaps = regexp.MustCompile(`\s{3,}`)

// manual returns the page that a text is; ok is false for another text. A page begins with its header, or with the heading NAME;
// what isn't indented are headings, and nearly all else is.
func manual(text string) (p *page, ok bool) {
	if !looksManual(text) {
		return nil, false
	}
	p = &page{}
	all := strings.Split(text, "\n")
	name := ""
	var deep, flat int
	for i, raw := range all {
		l := measure(raw)
		if l.text == "" || l.indent > 0 {
			p.lines = append(p.lines, l)
			if l.text != "" {
				deep++
			}
			continue
		}
		m := header.FindStringSubmatch(l.text)
		switch {
		case m != nil && strings.EqualFold(m[1], m[2]):
			if name == "" && blank(all[:i]) {
				name, p.width = m[1], utf8.RuneCountInString(l.text)
			} else if !strings.EqualFold(m[1], name) {
				return nil, false // several pages, one behind the other
			}
		case gaps.MatchString(l.text) && (name != "" && strings.Contains(l.text, name) || blank(all[i+1:])):
			// a footer
		default:
			p.lines = append(p.lines, l)
			flat++
			if utf8.RuneCountInString(l.text) > longestTitle || strings.HasSuffix(l.text, ".") {
				return nil, false
			}
		}
	}
	if flat == 0 || deep < flat || name == "" && (flat < 2 || p.first() != "NAME") {
		return nil, false
	}
	p.title = name
	p.gauge()
	return p, p.base > 0
}

// longestTitle is how many characters a heading or a term has at most.
const longestTitle = 80

// looksManual reports whether the first line that isn't blank can be that of a page.
func looksManual(text string) bool {
	text = strings.TrimLeft(text, "\n\t ")
	first, _, _ := strings.Cut(text, "\n")
	first = strings.TrimSpace(first)
	return first == "NAME" || header.MatchString(first)
}

func blank(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

func measure(raw string) line {
	indent := 0
	for _, r := range raw {
		if r == '\t' {
			indent += 8 - indent%8
			continue
		}
		if !unicode.IsSpace(r) {
			break
		}
		indent++
	}
	return line{strings.TrimSpace(raw), indent}
}

func (p *page) first() string {
	for _, l := range p.lines {
		if l.text != "" {
			return l.text
		}
	}
	return ""
}

// gauge finds the indentation of the text of sections, which most sections begin with, and the width of a page without a header: that
// of most of its longer lines.
func (p *page) gauge() {
	begins, ends := map[int]int{}, map[int]int{}
	after := false
	for _, l := range p.lines {
		switch {
		case l.text == "":
			continue
		case l.indent == 0:
			after = true
			continue
		case after:
			begins[l.indent]++
			after = false
		}
		if w := l.indent + utf8.RuneCountInString(l.text); w >= shortest {
			ends[w]++
		}
	}
	p.base = most(begins)
	if p.width == 0 {
		p.width = most(ends)
	}
}

// shortest is the width of the narrowest page.
const shortest = 50

// most returns the number that was counted most, the higher one of equals.
func most(count map[int]int) (best int) {
	for k, n := range count {
		if n > count[best] || n == count[best] && k > best {
			best = k
		}
	}
	return best
}

// read returns the document.
func (p *page) read() *outline.Document {
	doc := &outline.Document{Title: p.title, Metadata: map[string]any{}}
	for at := 0; at < len(p.lines); {
		end := at
		for end < len(p.lines) && p.lines[end].text != "" && (end == at || p.lines[end].indent > 0 && p.lines[end-1].indent > 0) {
			end++
		}
		if end == at {
			at++
			continue
		}
		switch l := p.lines[at]; {
		case l.indent == 0:
			p.heading(sectionLevel, l.text)
			end = at + 1
		case l.indent < p.base && end > at+1 && p.lines[at+1].indent < p.base:
			p.paragraph(p.lines[at:end]) // an unusual text, not two headings
		case l.indent < p.base:
			p.heading(groupLevel, l.text)
			end = at + 1
		default:
			p.block(p.lines[at:end], p.next(end))
		}
		at = end
	}
	doc.Sections = p.out.Sections()
	return doc
}

// next returns the first line with text from a place on.
func (p *page) next(at int) line {
	for ; at < len(p.lines); at++ {
		if p.lines[at].text != "" {
			return p.lines[at]
		}
	}
	return line{}
}

func (p *page) heading(level int, title string) {
	p.tags, p.tagged = p.tags[:0], false
	p.out.Heading(level, squeeze(title))
}

// block adds lines without a blank line between them: a paragraph, or a term and its text. next is the line behind.
func (p *page) block(lines []line, next line) {
	n, beside := p.terms(lines, next)
	indent := lines[0].indent
	p.leave(indent, n > 0)
	if n == 0 && !p.columns(lines) {
		p.paragraph(lines)
	}
	if n == 0 {
		return
	}
	var names []string
	for _, l := range lines[:n] {
		names = append(names, squeeze(l.text))
	}
	rest := lines[n:]
	if beside > 0 { // the text begins in the line of the term
		names[0] = squeeze(head(lines[0].text, beside-indent))
		rest = append([]line{{strings.TrimSpace(tail(lines[0].text, beside-indent)), beside}}, rest...)
	}
	if mark := strings.Join(names, " "); numbered.MatchString(mark) {
		if len(rest) > 0 {
			p.out.Line(mark + " " + p.fill(rest))
		}
		return
	}
	p.tags, p.tagged = append(p.tags, indent), true
	p.out.Heading(min(termLevel+len(p.tags)-1, 6), strings.Join(names, ", "))
	if len(rest) > 0 {
		p.paragraph(rest)
	}
}

// numbered matches the sign of an item of a list, which is no term.
var numbered = regexp.MustCompile(`^(?:[-*+•o·]|\(?[0-9a-z]{1,2}[.)])$`)

// leave closes the terms to which a block at an indentation does not belong.
func (p *page) leave(indent int, term bool) {
	n := len(p.tags)
	for n > 0 && p.tags[n-1] >= indent {
		n--
	}
	if n < len(p.tags) {
		p.tags = p.tags[:n]
		if !term {
			p.out.Heading(min(termLevel+n, 6), "") // what follows is of the section again
		}
	}
}

// terms returns how many lines at the start of a block are terms, 0 for a paragraph, and the column at which the text begins in
// the line of the term itself, 0 if it begins below.
func (p *page) terms(lines []line, next line) (n, beside int) {
	indent, deeper := lines[0].indent, lines[len(lines)-1].indent
	for n < len(lines) && lines[n].indent < deeper {
		n++
	}
	for _, l := range lines[n:] {
		if l.indent < deeper {
			return 0, 0 // code
		}
	}
	switch {
	case deeper <= indent: // all of it at one indentation
		if len(lines) == 1 {
			if at := p.beside(lines[0]); at > 0 {
				return 1, at
			}
		}
		if len(lines) > 1 || next.indent != indent+p.base || !p.tagged && p.base < leastText {
			return 0, 0
		}
		n = 1
	case n == 1 && p.columned(lines[0], deeper) && utf8.RuneCountInString(lines[0].text) > longestTitle/2:
		return 1, deeper
	case n > mostTerms || deeper < indent+leastText && !p.reads(lines[n:]):
		return 0, 0
	}
	for _, l := range lines[:n] {
		if l.indent < indent || !named(l.text) || n > 1 && utf8.RuneCountInString(l.text) > longestTitle/2 {
			return 0, 0
		}
	}
	return n, 0
}

// mostTerms is how many lines stand above one text at most, and leastText how much deeper than they a text is at least that doesn't
// read like a paragraph.
const (
	mostTerms = 4
	leastText = 5
)

// columns adds lines of two columns and reports whether they are: a table below its heading and a rule, or terms beside their texts.
func (p *page) columns(lines []line) bool {
	var rows [][]string
	column := 0
	for _, l := range lines {
		at := gaps.FindAllStringIndex(l.text, -1)
		if len(at) != 1 || column > 0 && l.indent+utf8.RuneCountInString(l.text[:at[0][1]]) != column {
			return false
		}
		column = l.indent + utf8.RuneCountInString(l.text[:at[0][1]])
		rows = append(rows, []string{l.text[:at[0][0]], l.text[at[0][1]:]})
	}
	if len(rows) < 2 {
		return false
	}
	if len(rows) > 2 && rule(rows[1][0]) && rule(rows[1][1]) {
		p.out.Table(outline.Table{Headers: rows[:1], Rows: rows[2:]})
		return true
	}
	for _, r := range rows {
		if !named(r[0]) || !strings.ContainsFunc(r[1], unicode.IsLetter) || strings.HasPrefix(r[1], "#") || strings.ContainsAny(r[0], "=|") {
			return false
		}
	}
	for _, r := range rows {
		p.out.Heading(min(termLevel+len(p.tags), 6), r[0])
		p.out.Paragraph(r[1])
	}
	p.tags, p.tagged = append(p.tags, lines[0].indent), true
	return true
}

func rule(text string) bool { return strings.Trim(text, "-=─ ") == "" }

// named reports whether a line can be a term.
func named(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return utf8.RuneCountInString(text) <= longestTitle && (!strings.ContainsRune(".:,;{", last) || strings.HasSuffix(text, "..."))
}

// beside returns the column at which the text of a term begins in a line of both, 0 for another line.
func (p *page) beside(l line) int {
	if at := l.indent + p.base; p.columned(l, at) {
		all := []rune(l.text)
		name := string(all[:p.base-1])
		capital := unicode.IsUpper(all[0]) && strings.ToUpper(name) != name
		if all[p.base-2] == ' ' || p.tagged && !capital && !strings.Contains(name, " ") {
			return at
		}
	}
	if at := gaps.FindAllStringIndex(l.text, -1); len(at) == 1 && strings.HasPrefix(l.text, "-") && named(l.text[:at[0][0]]) {
		return l.indent + utf8.RuneCountInString(l.text[:at[0][1]])
	}
	return 0
}

// reads reports whether lines read like text, not like code: they were wrapped, or are a sentence.
func (p *page) reads(lines []line) bool {
	first, _ := utf8.DecodeRuneInString(lines[0].text)
	return p.wraps(lines) || unicode.IsUpper(first) && strings.HasSuffix(lines[len(lines)-1].text, ".")
}

// columned reports whether text begins at a column of a line, behind a term.
func (p *page) columned(l line, column int) bool {
	all := []rune(l.text)
	at := column - l.indent
	if at < 2 || at >= len(all) || all[at] == ' ' || all[at-1] != ' ' {
		return false
	}
	term := strings.TrimSpace(string(all[:at]))
	return len(strings.Fields(term)) <= 2 && !strings.Contains(term, "  ") && (named(term) || numbered.MatchString(term))
}

// wraps reports whether lines are a paragraph that was wrapped: nearly all but the last are as long as the page admits.
func (p *page) wraps(lines []line) bool {
	full := 0
	for i, l := range lines[:len(lines)-1] {
		if p.full(l, lines[i+1]) {
			full++
		}
	}
	return len(lines) > 1 && 10*full >= 6*(len(lines)-1)
}

// full reports whether the first word of the next line had no room in a line.
func (p *page) full(l, next line) bool {
	word, _, _ := strings.Cut(next.text, " ")
	return l.indent+utf8.RuneCountInString(l.text)+1+utf8.RuneCountInString(word) > p.width
}

// paragraph adds lines that belong together. Of wrapped text, a line that ends early ends a paragraph.
func (p *page) paragraph(lines []line) {
	start, text := 0, p.wrapped(lines)
	for i := 0; text && i+1 < len(lines); i++ {
		if p.breaks(lines[i], lines[i+1]) {
			p.out.Paragraph(p.fill(lines[start : i+1]))
			start = i + 1
		}
	}
	p.out.Paragraph(p.fill(lines[start:]))
}

// wrapped reports whether lines are text, all at one indentation: some are full, or the last one ends a sentence.
func (p *page) wrapped(lines []line) bool {
	last := lines[len(lines)-1].text
	some := strings.HasSuffix(last, ".") && len(strings.Fields(last)) > 4
	for i, l := range lines[:len(lines)-1] {
		some = some || p.full(l, lines[i+1])
		if l.indent != lines[i+1].indent {
			return false
		}
	}
	return some
}

// breaks reports whether a line of a paragraph ends early because what follows is another one.
func (p *page) breaks(l, next line) bool {
	first, _ := utf8.DecodeRuneInString(next.text)
	return !p.full(l, next) && !strings.HasSuffix(l.text, ",") && !unicode.IsLower(first)
}

// fill returns lines as a text: those of a paragraph that was wrapped as one line, others as they are, less their common indentation.
func (p *page) fill(lines []line) string {
	if p.wraps(lines) || len(lines) == 1 && !gaps.MatchString(lines[0].text) {
		return squeeze(join(lines))
	}
	least := lines[0].indent
	for _, l := range lines {
		least = min(least, l.indent)
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.Repeat(" ", l.indent-least)+l.text)
	}
	return strings.Join(out, "\n")
}

// join returns the text of lines. A word that was hyphenated at the end of a line becomes whole, one with a hyphen of its own too.
func join(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		text, between := l.text, " "
		if rest, ok := strings.CutSuffix(text, "\u2010"); ok && wordly(rest) {
			text, between = rest, ""
		} else if rest, ok := strings.CutSuffix(text, "-"); ok && wordly(rest) {
			between = ""
		}
		b.WriteString(text)
		if i < len(lines)-1 {
			b.WriteString(between)
		}
	}
	return b.String()
}

// wordly reports whether a text ends with a letter or a digit.
func wordly(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// squeeze returns a text with single spaces.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// head and tail return the first n characters of a text, and what follows them.
func head(text string, n int) string { return string([]rune(text)[:n]) }
func tail(text string, n int) string { return string([]rune(text)[n:]) }
