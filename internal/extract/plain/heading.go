package plain

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/extract/outline"
)

// paragraph is lines of a text without a blank line between them.
type paragraph struct {
	lines []string
	level int    // of the heading that it begins with, 0 for none
	title string // of that
	rest  int    // the first line behind the heading
	// contents reports whether it is a table of contents.
	contents bool
}

// text returns the lines behind the heading.
func (p *paragraph) text() string { return strings.Join(p.lines[p.rest:], "\n") }

// headed returns the document of a text with headings of one of the kinds that people type: underlined ones, numbered ones, or
// questions that begin with "Q:". ok is false for a text without; a few lines that only look like headings are none.
func headed(text string) (d *outline.Document, ok bool) {
	all := paragraphs(text)
	lines := underlined(all)
	if !lines && !numberedHeadings(all) && !asked(all) {
		return nil, false
	}
	var b outline.Builder
	for i := range all {
		p := &all[i]
		if p.contents || i+1 < len(all) && all[i+1].contents && len(p.lines) == 1 && p.level == 0 {
			continue // with the heading above it
		}
		if p.level > 0 {
			b.Heading(p.level, p.title)
		}
		b.Paragraph(p.text())
	}
	d = &outline.Document{Metadata: map[string]any{}, Sections: b.Sections()}
	if lines {
		d.Title = b.Title()
	}
	return d, true
}

func paragraphs(text string) (out []paragraph) {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRightFunc(line, unicode.IsSpace))
		} else if len(lines) > 0 {
			out, lines = append(out, paragraph{lines: lines}), nil
		}
	}
	if len(lines) > 0 {
		out = append(out, paragraph{lines: lines})
	}
	return out
}

// underline matches the line below a heading.
var underline = regexp.MustCompile(`^(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,})$`)

// underlined marks the headings that are underlined, each as long as its line, and reports whether there are two or more. The sign
// that comes first has the highest level.
func underlined(all []paragraph) bool {
	levels := ""
	n := 0
	for i := range all {
		p := &all[i]
		if len(p.lines) < 2 || !underline.MatchString(p.lines[1]) || !titled(p.lines[0]) {
			continue
		}
		if d := utf8.RuneCountInString(p.lines[0]) - len(p.lines[1]); d < -2 || d > 2 {
			continue
		}
		if !strings.Contains(levels, p.lines[1][:1]) {
			levels += p.lines[1][:1]
		}
		p.level, p.title, p.rest = 1+strings.Index(levels, p.lines[1][:1]), squeeze(p.lines[0]), 2
		n++
	}
	if n < 2 {
		unmark(all)
	}
	return n >= 2
}

// titled reports whether a line can be a heading.
func titled(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return !unicode.IsSpace(rune(text[0])) && utf8.RuneCountInString(text) <= longestTitle && !gaps.MatchString(text) &&
		!strings.ContainsRune(".,;:", last) && strings.ContainsFunc(text, unicode.IsLetter)
}

func unmark(all []paragraph) {
	for i := range all {
		all[i].level, all[i].title, all[i].rest = 0, "", 0
	}
}

// leading matches the number of a heading.
var leading = regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,3})*)\.?\s+\pL`)

// numberedHeadings marks the headings whose numbers follow each other, and reports whether there are four or more, some of them below
// others: items of a list have numbers of one kind.
func numberedHeadings(all []paragraph) bool {
	var last []int
	n, deep := 0, false
	for i := range all {
		p := &all[i]
		m := leading.FindStringSubmatch(p.lines[0])
		if m == nil || len(p.lines) > 2 {
			continue
		}
		title := squeeze(strings.Join(p.lines, " "))
		number := numbers(m[1])
		if !titled(p.lines[len(p.lines)-1]) || len(p.lines) > 1 && len(number) < 2 || !follows(last, number) {
			continue
		}
		p.level, p.title, p.rest = len(number), title, len(p.lines)
		last, deep = number, deep || len(number) > 1
		n++
	}
	if n < 4 || !deep {
		unmark(all)
		return false
	}
	for i := 0; i < min(len(all), early) && all[i].level == 0; i++ {
		all[i].contents = contents(all[i], all)
	}
	return true
}

// early is how many paragraphs stand in front of a table of contents at most.
const early = 20

// contents reports whether a paragraph is a list of the headings of a text: four or more, and nothing else.
func contents(p paragraph, all []paragraph) bool {
	if p.level > 0 || len(p.lines) < 4 {
		return false
	}
	text := squeeze(strings.Join(p.lines, " "))
	found, size := 0, 0
	for i := range all {
		if all[i].level > 0 && strings.Contains(text, all[i].title) {
			found, size = found+1, size+len(all[i].title)
		}
	}
	return found >= 4 && 10*size >= 7*len(text)
}

func numbers(text string) (out []int) {
	for part := range strings.SplitSeq(text, ".") {
		n, _ := strconv.Atoi(part)
		out = append(out, n)
	}
	return out
}

// follows reports whether a heading of this number can stand behind the last one.
func follows(last, next []int) bool {
	if len(last) == 0 {
		return len(next) == 1 && next[0] <= 1
	}
	if len(next) == len(last)+1 {
		return next[len(next)-1] <= 1 && slices.Equal(last, next[:len(last)])
	}
	n := len(next)
	return n <= len(last) && slices.Equal(last[:n-1], next[:n-1]) && next[n-1] == last[n-1]+1
}

// question and reply match the beginnings of questions and answers.
var (
	question = regexp.MustCompile(`^(?:Q|Question)\s*\d{0,3}\s*[:.)]\s+`)
	reply    = regexp.MustCompile(`^(?:A|Answer)\s*\d{0,3}\s*[:.)]\s+`)
)

// asked marks questions that have an answer, and reports whether there are two or more and none without. The answer loses the
// letter in front of it.
func asked(all []paragraph) bool {
	n := 0
	for i := range all {
		p := &all[i]
		m := question.FindString(p.lines[0])
		if m == "" {
			continue
		}
		rest := len(p.lines) // an answer may follow without a blank line
		for k, line := range p.lines {
			if reply.MatchString(line) {
				rest = k
				break
			}
		}
		if rest == len(p.lines) && (i+1 == len(all) || !reply.MatchString(all[i+1].lines[0])) {
			unmark(all)
			return false
		}
		p.level, p.rest = 1, rest
		p.title = squeeze(strings.Join(p.lines[:rest], " ")[len(m):])
		n++
	}
	if n < 2 {
		unmark(all)
		return false
	}
	for i := range all {
		answered(all[i].lines[all[i].rest:])
	}
	return true
}

// answered takes the letter from an answer, and the indentation from the lines below it.
func answered(lines []string) {
	if len(lines) == 0 {
		return
	}
	m := reply.FindString(lines[0])
	lines[0] = lines[0][len(m):]
	for i := range lines {
		for n := 0; n < 3 && strings.HasPrefix(lines[i], " ") && !strings.HasPrefix(lines[i], "     "); n++ {
			lines[i] = lines[i][1:]
		}
	}
}
