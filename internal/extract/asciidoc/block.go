package asciidoc

import (
	"regexp"
	"strings"

	"quarry/internal/extract/outline"
)

// delimited reads a block between two equal lines, and returns the number of its lines, 0 if the second line is missing.
func (r *reader) delimited(lines []string, nested int) int {
	last := lines[0]
	if strings.HasPrefix(last, "```") {
		last = "```"
	}
	end := 1
	for end < len(lines) && lines[end] != last {
		end++
	}
	if end == len(lines) {
		return 0
	}
	inner := lines[1:end]
	b := r.take()
	switch kind := last[0]; {
	case kind == '/':
	case len(last) > 2 && last[1:4] == "===" && kind != '=':
		r.table(b, kind, inner, nested)
	case kind == '-' && last != "--", kind == '.', kind == '`', kind == '+', coded[b.style]:
		r.caption(b)
		r.code(strings.Join(inner, "\n"))
	default:
		r.container(b, inner, nested)
	}
	return end + 1
}

// container reads a block that holds others: an example, an admonition, a quotation, a sidebar.
func (r *reader) container(b block, lines []string, nested int) {
	r.caption(b)
	if admonition[b.style] {
		joined := r.joined
		r.text(label(b.style) + ":")
		r.joined = joined
	}
	lists, joined := r.lists, r.joined
	if !joined {
		r.out.Break()
	}
	r.lists = nil
	r.blocks(lines, nested+1)
	r.lists, r.joined = nil, false
	if joined {
		r.lists = lists
	}
	r.out.Break()
}

var (
	item      = regexp.MustCompile(`^\s*(\*{1,6}|-|\.{1,6}|\d{1,4}\.|[a-zA-Z]\.)\s+(\S.*)$`)
	described = regexp.MustCompile(`^\s*(\S.*?)(:{2,4}|;;)(?:\s+(.*))?$`)
	callout   = regexp.MustCompile(`^\s*<(\d+|\.)>\s+(\S.*)$`)
	checked   = regexp.MustCompile(`^\[([ xX*])\]\s+`)
)

// item reads an item of a list, and returns the number of its lines. Its text goes on until a line that is blank or begins something.
func (r *reader) item(lines []string) int {
	b := r.take()
	if b.title != "" {
		r.end()
		r.out.Paragraph(r.inline(b.title))
	}
	r.joined = false
	n := 1
	for n < len(lines) && r.continues(lines[n]) {
		n++
	}
	mark, text := "- ", ""
	switch line := lines[0]; {
	case callout.MatchString(line):
		m := callout.FindStringSubmatch(line)
		r.open("<>")
		mark, text = m[1]+". ", m[2]
	case item.MatchString(line):
		m := item.FindStringSubmatch(line)
		depth := r.open(marker(line, m[1]))
		if number := strings.TrimSuffix(m[1], "."); number != "" && number[0] >= '0' && number[0] <= '9' {
			mark = m[1] + " "
		}
		mark, text = strings.Repeat("  ", depth)+mark, m[2]
		if c := checked.FindStringSubmatch(text); c != nil {
			text = map[bool]string{true: "[ ] ", false: "[x] "}[c[1] == " "] + text[len(c[0]):]
		}
	default:
		m := described.FindStringSubmatch(line)
		depth := r.open(m[2])
		mark, text = strings.Repeat("  ", depth)+"- "+r.inline(m[1])+": ", m[3]
		if text == "" && n == 1 {
			for n < len(lines) && lines[n] == "" { // the text of a term may stand below a blank line
				n++
			}
			for n < len(lines) && r.continues(lines[n]) {
				text += strings.TrimSpace(lines[n]) + " "
				n++
			}
			r.line(mark + r.inline(text))
			return n
		}
	}
	r.line(mark + r.flow(append([]string{text}, lines[1:n]...)))
	return n
}

// line adds an item.
func (r *reader) line(text string) { r.out.Line(strings.TrimRight(text, " :")) }

// continues reports whether a line goes on with the text of an item.
func (r *reader) continues(line string) bool {
	return line != "" && line != "+" && !item.MatchString(line) && !described.MatchString(line) && !callout.MatchString(line) &&
		!delimiter.MatchString(line) && !listed.MatchString(line) && !titled.MatchString(line) && !heading.MatchString(line) &&
		!directive.MatchString(line) && !picture.MatchString(line)
}

// marker returns what tells lists of different levels apart: their marks, and the indentation of numbered and dashed ones.
func marker(line, mark string) string {
	if mark[0] == '*' && len(mark) > 1 || mark[0] == '.' {
		return mark
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if mark[0] == '*' || mark[0] == '-' {
		return indent + mark
	}
	return indent + "1."
}

// open sets the list with a marker as the innermost one, and returns its depth.
func (r *reader) open(marker string) int {
	for i, m := range r.lists {
		if m == marker {
			r.lists = r.lists[:i+1]
			return i
		}
	}
	if len(r.lists) == 0 {
		r.out.Break()
	}
	if len(r.lists) < maxNested {
		r.lists = append(r.lists, marker)
	}
	return len(r.lists) - 1
}

// barred returns the table that lines are which have bars at both ends, as people write them who know Markdown.
func (r *reader) barred(lines []string) (t outline.Table, ok bool) {
	if len(lines) < 2 {
		return t, false
	}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if len(line) < 3 || line[0] != '|' || line[len(line)-1] != '|' {
			return t, false
		}
		if strings.Trim(line, "|-: ") == "" {
			continue
		}
		var row []string
		for cell := range strings.SplitSeq(line[1:len(line)-1], "|") {
			row = append(row, outline.OneLine(r.inline(cell)))
		}
		if t.Headers == nil {
			t.Headers = [][]string{row}
		} else {
			t.Rows = append(t.Rows, row)
		}
	}
	return t, len(t.Rows) > 0
}
