// Package cite rewrites the marks by which a language model refers to passages, such as [2], in the style that the caller of a
// query asked for (contract: generation-and-citations, section 5). The text arrives in pieces; it is returned as early as
// possible and does not depend on how it was cut. Package generate calls it; it knows no model and no transport.
package cite

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is how a citation is written.
type Style string

// The styles: [2], nothing at all, [text](url) and <a href="url">text</a>.
const (
	Numeric  Style = "numeric"
	None     Style = "none"
	Markdown Style = "markdown"
	HTML     Style = "html"
)

// Options are what a caller asks for.
type Options struct {
	Style Style  // "" is Numeric
	URL   string // pattern of the address; "" gives an empty address
	Text  string // pattern of the text; "" gives the number
}

// Writer rewrites one text. It is not safe for concurrent use.
//
// A mark is a bracket that holds only numbers: [2], [2, 5], [1-3]. Each number is a citation of its own, numbers without a source
// are left out, and a mark of which nothing remains is removed with the blanks before it. Parentheses that hold only marks go
// with the last of them, and what separated a mark that is removed from the others goes with it: ([1], [99]) becomes ([1]). Code
// is not changed: fenced blocks, and spans between backticks that end on their line.
type Writer struct {
	style     Style
	citations []string // by source, as written; nil until the first citation where patterns need none

	rest    string // pushed text that can't be decided yet
	blanks  string // blanks at the end of the decided text: they are removed with a mark that follows
	gap     string // blanks that were removed with a mark, for the next mark if it follows at once
	tail    string // the first bytes of an incomplete character
	out     strings.Builder
	at      position
	fence   string // what opened the current block of code; "" outside
	line    string // in a block of code: the current line, as much as is needed to see whether it closes the block
	removed bool   // a mark at the start of a line was removed: so are the blanks after it
	opened  bool   // since the last bracket that is not a mark, only characters of marks were written
}

// position is the kind of text just before the next piece.
type position uint8

const (
	lineStart position = iota // nothing on this line but blanks
	inLine
	behindCitation
)

// New returns a Writer for an answer over sources: source i is cited as i+1.
func New(o Options, sources []Source) *Writer {
	w := &Writer{style: o.Style}
	if w.style == "" {
		w.style = Numeric
	}
	w.citations = make([]string, len(sources))
	for i := range sources {
		w.citations[i] = o.citation(i+1, &sources[i])
	}
	return w
}

// All rewrites a whole text.
func All(text string, o Options, sources []Source) string {
	w := New(o, sources)
	return w.Push(text) + w.Close()
}

// Push adds the next piece and returns the text that is decided by now, in whole characters. What is held back is bounded by the
// longest mark, the longest span of code and blanks.
func (w *Writer) Push(text string) string {
	w.rest += text
	w.run(false)
	return w.take(false)
}

// Close ends the text and returns what was held back.
func (w *Writer) Close() string {
	w.run(true)
	w.out.WriteString(w.blanks) // no mark follows
	w.blanks = ""
	return w.take(true)
}

// take returns what was written since the last time, up to the last whole character.
func (w *Writer) take(over bool) string {
	s := w.tail + w.out.String()
	w.out.Reset()
	w.tail = ""
	if over {
		return s
	}
	for n := 1; n <= min(utf8.UTFMax-1, len(s)); n++ {
		if end := s[len(s)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRuneInString(end) {
				w.tail = end
			}
			break
		}
	}
	return s[:len(s)-len(w.tail)]
}

// run decides as much of rest as possible.
func (w *Writer) run(over bool) {
	for w.rest != "" {
		n := 0
		switch c := w.rest[0]; {
		case w.fence != "":
			n = w.code()
		case c == ' ' || c == '\t':
			n = w.blank()
		case c == '\n':
			w.write("\n", lineStart)
			n = 1
		case c == '[':
			n = w.bracket(over)
		case c == '(':
			n = w.parenthesis(over)
		case c == '`':
			n = w.backticks(over)
		case c == '~' && w.at == lineStart:
			n = w.tildes(over)
		default:
			n = w.plain()
		}
		if n == 0 {
			return
		}
		w.rest = w.rest[n:]
	}
}

// write writes s after the blanks before it.
func (w *Writer) write(s string, then position) {
	w.out.WriteString(w.blanks)
	w.out.WriteString(s)
	w.blanks, w.gap, w.removed, w.at = "", "", false, then
	for i := 0; w.opened && i < len(s); i++ {
		w.opened = strings.IndexByte(" 0123456789,;-"+enDash, s[i]) >= 0
	}
}

func (w *Writer) blank() int {
	n := len(w.rest) - len(strings.TrimLeft(w.rest, " \t"))
	if !w.removed {
		w.blanks += w.rest[:n]
	}
	w.gap = ""
	if w.at == behindCitation {
		w.at = inLine
	}
	return n
}

// plain writes what can't be the beginning of a mark or of code.
func (w *Writer) plain() int {
	n := 1 + strings.IndexAny(w.rest[1:], " \t\n[(`")
	if n == 0 {
		n = len(w.rest)
	}
	w.write(w.rest[:n], inLine)
	return n
}

// bracket decides whether a mark begins.
func (w *Writer) bracket(over bool) int {
	numbers, n, open := mark(w.rest)
	switch {
	case open && !over:
		return 0
	case n == 0:
		w.write("[", inLine)
		w.opened = true
		return 1
	}
	cited := w.cite(numbers)
	if len(cited) == 0 {
		w.remove("[]")
		return n
	}
	if w.blanks == "" {
		w.blanks = w.gap
	}
	between := ""
	if w.style != Numeric {
		between = " " // two links in a row would read as one
	}
	if w.at == behindCitation {
		w.out.WriteString(between)
	}
	w.write(strings.Join(cited, between), behindCitation)
	return n
}

// remove leaves out a mark or a group of marks. Within a bracket its empty form is written, so that the text around it doesn't
// become a mark.
func (w *Writer) remove(empty string) {
	if w.opened {
		w.write(empty, inLine)
		return
	}
	if w.blanks != "" {
		w.gap = w.blanks
	}
	w.blanks, w.removed = "", w.removed || w.at == lineStart
}

// parenthesis decides whether a group of marks begins, and leaves out those of which nothing remains.
func (w *Writer) parenthesis(over bool) int {
	marks, n, open := group(w.rest)
	if open && !over {
		return 0
	}
	kept := slices.DeleteFunc(slices.Clone(marks), func(m grouped) bool { return len(w.cite(m.numbers)) == 0 })
	switch {
	case len(kept) == len(marks):
		w.write("(", inLine)
		return 1
	case len(kept) == 0:
		w.remove("()")
		return n
	}
	kept[0].before = ""
	var left strings.Builder
	for _, m := range kept {
		left.WriteString(m.before + m.text)
	}
	w.write("(", inLine)
	w.rest = "(" + left.String() + ")" + w.rest[n:]
	return 1
}

// cite returns the citations of numbers, each once; numbers without a source are left out.
func (w *Writer) cite(numbers []span) (cited []string) {
	seen := map[int]bool{}
	for _, r := range numbers {
		for i := max(r.first, 1); i <= min(r.last, len(w.citations)); i++ {
			if !seen[i] && w.style != None {
				cited = append(cited, w.citations[i-1])
			}
			seen[i] = true
		}
	}
	return cited
}
