// Package asciidoc reads AsciiDoc into a document tree: its title and attributes, headings, lists, tables, and blocks. Code keeps its line breaks.
//
// It keeps the text and drops marks, targets and comments. Includes are not followed, conditions are not evaluated: the text in them is
// read. All functions are safe for concurrent use.
package asciidoc

import (
	"regexp"
	"strings"
	"time"
	"unicode"

	"quarry/internal/extract/outline"
)

// Read parses a document in UTF-8.
func Read(text string) (*outline.Document, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	r := reader{attributes: map[string]string{}, metadata: map[string]any{}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	r.blocks(lines, 0)
	for key, name := range map[string]string{"author": "Author", "description": "description", "keywords": "keywords", "lang": "Content-Language", "doctitle": "title"} {
		if value := r.attributes[key]; value != "" && r.metadata[name] == nil {
			r.metadata[name] = value
		}
	}
	if date := r.attributes["revdate"]; date != "" {
		if _, err := time.Parse(time.DateOnly, date); err == nil {
			r.metadata["date"] = date
		}
	}
	return r.out.Document(r.metadata), nil
}

// reader reads blocks in order.
type reader struct {
	out        outline.Builder
	attributes map[string]string
	expanded   int // bytes of values that stand in the place of references
	metadata   map[string]any
	began      bool     // something was added
	lists      []string // the markers of the lists that are open, outermost first
	joined     bool     // the next block belongs to the last item of a list
	around     block    // what the lines above the next block say of it
}

// block is what the lines above a block say of it.
type block struct {
	title   string
	style   string            // the first word in brackets: source, NOTE, quote …
	named   map[string]string // attributes
	options string
}

// maxNested bounds blocks within blocks.
const maxNested = 16

var (
	heading   = regexp.MustCompile(`^(={1,6}|#{1,6})\s+(\S.*?)(?:\s+[=#]+)?$`)
	attribute = regexp.MustCompile(`^:(!?[\w][\w-]*!?):(?:\s+(.*))?$`)
	listed    = regexp.MustCompile(`^\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]$`)
	anchor    = regexp.MustCompile(`^\[\[[^\[\]]*\]\]$`)
	titled    = regexp.MustCompile(`^\.([^\s.].*)$`)
	directive = regexp.MustCompile(`^(?:include|ifdef|ifndef|ifeval|endif|toc)::\S*\[.*\]$`)
	picture   = regexp.MustCompile(`^(?:image|video|audio)::\S+?\[(.*)\]$`)
	delimiter = regexp.MustCompile("^(?:-{4,}|\\.{4,}|={4,}|\\*{4,}|_{4,}|/{4,}|\\+{4,}|--|[|,:!]={3,}|`{3,}[\\w+-]*)$")
	rule      = regexp.MustCompile(`^(?:'{3,}|<{3,}|\* ?\* ?\*|- ?- ?-)$`)
	authored  = regexp.MustCompile(`^[\pL][\pL.'’ -]*(?: <[^<>]+>)?(?:; *[\pL][\pL.'’ -]*(?: <[^<>]+>)?)*$`)
	address   = regexp.MustCompile(` *<[^<>]*>`)
)

// blocks reads the lines of a block, or of the document, which is nested in others so many times.
func (r *reader) blocks(lines []string, nested int) {
	for i := 0; i < len(lines); {
		i += r.block(lines[i:], nested)
	}
}

// block reads what begins at the first line, and returns the number of its lines.
func (r *reader) block(lines []string, nested int) int {
	line := lines[0]
	switch {
	case line == "":
		r.joined = false
		return 1
	case strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///"), directive.MatchString(line), anchor.MatchString(line), rule.MatchString(line):
		return 1
	case line == "+":
		r.joined = len(r.lists) > 0
		return 1
	case listed.MatchString(line):
		r.describe(listed.FindStringSubmatch(line)[1])
		return 1
	case titled.MatchString(line) && !item.MatchString(line):
		r.around.title = titled.FindStringSubmatch(line)[1]
		return 1
	}
	if m := attribute.FindStringSubmatch(line); m != nil {
		return r.set(m[1], m[2], lines)
	}
	if delimiter.MatchString(line) && nested < maxNested {
		if n := r.delimited(lines, nested); n > 0 {
			return n
		}
	}
	if n := r.section(lines, nested); n > 0 {
		return n
	}
	if m := picture.FindStringSubmatch(line); m != nil {
		r.picture(m[1])
		return 1
	}
	if item.MatchString(line) || described.MatchString(line) || callout.MatchString(line) {
		return r.item(lines)
	}
	return r.paragraph(lines)
}

// describe records the attributes of the next block: [source,go], [%header,cols="1,2"], [NOTE].
func (r *reader) describe(list string) {
	if r.around.named == nil {
		r.around.named = map[string]string{}
	}
	for i, one := range split(list) {
		key, value, ok := strings.Cut(one, "=")
		switch key, value = strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`); {
		case ok && (key == "options" || key == "opts"):
			r.around.options += "," + value
		case ok:
			r.around.named[key] = value
		default:
			style, options, _ := strings.Cut(key, "%")
			r.around.options += "," + strings.ReplaceAll(options, "%", ",")
			if style, _, _ = strings.Cut(style, "#"); i == 0 && style != "" {
				r.around.style, _, _ = strings.Cut(style, ".")
			}
		}
	}
}

// split splits at commas that are not quoted.
func split(list string) (out []string) {
	quoted, from := false, 0
	for i := range len(list) {
		switch {
		case list[i] == '"':
			quoted = !quoted
		case list[i] == ',' && !quoted:
			out, from = append(out, list[from:i]), i+1
		}
	}
	return append(out, list[from:])
}

// Bounds of attributes: the bytes of a value, how many there are, and the bytes of all values that stand in the place of references.
const (
	longestValue   = 2000
	mostAttributes = 1000
	mostExpanded   = 1 << 20
)

// set reads an attribute of the document, whose value may go on in the next line.
func (r *reader) set(name, value string, lines []string) int {
	n := 1
	for strings.HasSuffix(value, " \\") && n < len(lines) {
		value = strings.TrimSuffix(value, "\\") + strings.TrimSpace(lines[n])
		n++
	}
	if strings.Contains(name, "!") {
		delete(r.attributes, strings.Trim(name, "!"))
	} else if value = r.inline(value); len(value) <= longestValue && len(r.attributes) < mostAttributes {
		r.attributes[strings.ToLower(name)] = value
	}
	return n
}

// section begins a section if there is a heading, and returns the number of its lines, 0 for none.
func (r *reader) section(lines []string, nested int) int {
	level, title, n := 0, "", 1
	if m := heading.FindStringSubmatch(lines[0]); m != nil {
		level, title = len(m[1]), m[2]
	} else if len(lines) > 1 && underlined(lines[0], lines[1]) {
		level, title, n = 1+strings.IndexByte("=-~^+", lines[1][0]), lines[0], 2
	}
	if level == 0 || nested > 0 {
		return 0
	}
	first := !r.began
	r.end()
	r.around, r.began = block{}, true
	title = outline.OneLine(r.inline(title))
	r.out.Heading(level, title)
	if level == 1 && first {
		r.metadata["title"] = title
		n += r.header(lines[n:])
	}
	return n
}

// underlined reports whether a line is the heading above a line of signs.
func underlined(title, line string) bool {
	if len(line) < 3 || title == "" || strings.Trim(line, line[:1]) != "" || !strings.Contains("=-~^+", line[:1]) || delimiter.MatchString(title) {
		return false
	}
	d := len([]rune(title)) - len(line)
	return d >= -1 && d <= 1 && strings.ContainsFunc(title, unicode.IsLetter) && !strings.HasPrefix(title, ".")
}

// header reads the lines of authors and of the revision below the title, and returns their number.
func (r *reader) header(lines []string) (n int) {
	if len(lines) > 0 && authored.MatchString(lines[0]) && len(lines[0]) < 200 && (strings.Contains(lines[0], "<") || len(strings.Fields(lines[0])) <= 4) {
		names := strings.Split(address.ReplaceAllString(lines[0], ""), ";")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		r.metadata["Author"] = strings.Join(names, ", ")
		n++
		if len(lines) > 1 {
			if m := revision.FindStringSubmatch(lines[1]); m != nil {
				r.attributes["revdate"] = m[1]
				n++
			}
		}
	}
	return n
}

// revision matches the line of a revision with its date: "v1.0, 2026-05-31: first".
var revision = regexp.MustCompile(`^v?[\d.]+,\s*([\d-]+)(?::.*)?$`)

// end ends the lists that are open.
func (r *reader) end() {
	r.lists, r.joined = nil, false
	r.out.Break()
}

// take returns what the lines above the block that begins now say of it.
func (r *reader) take() block {
	b := r.around
	r.around, r.began = block{}, true
	return b
}

// text adds a paragraph, to an item if it is joined to it.
func (r *reader) text(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if r.joined {
		r.out.Break()
		r.out.Line(text)
		r.joined = false
		return
	}
	r.end()
	r.out.Paragraph(text)
}

// caption adds the title of a block that is no table.
func (r *reader) caption(b block) {
	if b.title != "" {
		joined := r.joined
		r.text(r.inline(b.title))
		r.joined = joined
	}
}

// picture adds the alternative text of a picture.
func (r *reader) picture(list string) {
	b := r.take()
	r.caption(b)
	alt := ""
	for i, one := range split(list) {
		key, value, ok := strings.Cut(one, "=")
		if i == 0 && !ok || strings.TrimSpace(key) == "alt" {
			alt = strings.Trim(strings.TrimSpace(strings.TrimPrefix(one, "alt=")), `"`)
		} else if strings.TrimSpace(key) == "title" {
			r.text(r.inline(strings.Trim(value, `" `)))
		}
	}
	r.text(r.inline(alt))
}

// paragraph reads a paragraph, and returns the number of its lines. One that is indented is code.
func (r *reader) paragraph(lines []string) int {
	n := 1
	for n < len(lines) && lines[n] != "" && lines[n] != "+" && !delimiter.MatchString(lines[n]) && !listed.MatchString(lines[n]) && !directive.MatchString(lines[n]) {
		n++
	}
	lines = lines[:n]
	b := r.take()
	if t, ok := r.barred(lines); ok {
		t.Title = r.inline(b.title)
		r.out.Table(t)
		return n
	}
	r.caption(b)
	switch code := strings.Join(lines, "\n"); {
	case coded[b.style] || strings.HasPrefix(lines[0], " ") && len(r.lists) == 0:
		r.code(code)
	case admonition[b.style]:
		r.text(label(b.style) + ": " + r.flow(lines))
	default:
		r.text(r.flow(lines))
	}
	return n
}

// flow returns the text of lines that are one paragraph; " +" at the end of a line breaks it.
func (r *reader) flow(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///") {
			continue
		}
		line = strings.TrimSpace(line)
		rest, broken := strings.CutSuffix(line, " +")
		b.WriteString(rest)
		switch {
		case i+1 == len(lines):
		case broken:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
	}
	return r.inline(strings.TrimSpace(b.String()))
}

// code adds code as it is written.
func (r *reader) code(text string) {
	if joined := r.joined; !joined {
		r.end()
	}
	r.joined = false
	r.out.Code(strings.Trim(text, "\n"))
}

// label returns the name of an admonition as readers see it.
func label(style string) string { return style[:1] + strings.ToLower(style[1:]) }

var (
	coded      = map[string]bool{"source": true, "listing": true, "literal": true, "verse": true, "stem": true, "latexmath": true, "asciimath": true}
	admonition = map[string]bool{"NOTE": true, "TIP": true, "IMPORTANT": true, "WARNING": true, "CAUTION": true}
)
