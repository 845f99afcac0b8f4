package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/syntax"
)

// paragraph is a sequence of lines that belong together.
type paragraph struct {
	text   string
	page   int
	breaks []outline.Mark
	size   float32
	bold   bool
	lines  int
	item   bool // it is a list item
	last   line
	table  *grid // nil for text
}

// lastPage returns the page on which the paragraph ends.
func (p *paragraph) lastPage() int {
	if n := len(p.breaks); n > 0 {
		return p.breaks[n-1].Page
	}
	return p.page
}

// compose joins the lines of all pages to paragraphs.
func compose(sheets []sheet, b *syntax.Budget) []paragraph {
	c := composer{words: vocabulary(sheets), budget: b}
	for i := range sheets {
		lines := sheets[i].lines
		for from := 0; from < len(lines); {
			to := from + 1
			for to < len(lines) && lines[to].column == lines[from].column {
				to++
			}
			if t := lines[from].table; t != nil {
				c.end()
				c.out = append(c.out, paragraph{page: i + 1, table: t})
			} else {
				c.column(lines[from:to], i+1)
			}
			from = to
		}
	}
	c.end()
	return c.out
}

type composer struct {
	out    []paragraph
	cur    *paragraph      // the open one
	text   strings.Builder // its text
	words  map[string]int  // the vocabulary of the file
	budget *syntax.Budget
}

// end ends the open paragraph, if there is one.
func (c *composer) end() {
	if c.cur != nil {
		c.cur.text = c.text.String()
		if strings.TrimSpace(c.cur.text) != "" && c.budget.Keep(len(c.cur.text)+96) {
			c.out = append(c.out, *c.cur)
		}
	}
	c.cur = nil
	c.text.Reset()
}

// column adds the lines of one column.
func (c *composer) column(lines []line, page int) {
	left, right := lines[0].x0, lines[0].x1
	for i := range lines {
		left, right = min(left, lines[i].x0), max(right, lines[i].x1)
	}
	leading := usualLeading(lines)
	for i := range lines {
		l := &lines[i]
		switch {
		case c.cur == nil:
			c.start(l, page)
		case i == 0 && c.continues(l):
			c.join(l, page)
		case i == 0 || breaks(&lines[i-1], l, left, right, leading):
			c.start(l, page)
		default:
			c.join(l, page)
		}
	}
}

// continues reports whether a line at the top of a column continues the sentence at the foot of the column before.
func (c *composer) continues(l *line) bool {
	if abs(c.cur.size-l.size) > 0.06*l.size || c.cur.bold != l.bold || bullet(l.text) != "" || c.cur.last.direction != l.direction {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(c.text.String())
	first, _ := utf8.DecodeRuneInString(l.text)
	return last == '-' || last == '\u00AD' || !strings.ContainsRune(".!?:;。！？", last) && unicode.IsLower(first) && c.cur.lines > 1
}

// usualLeading returns the most frequent distance between the baselines of consecutive lines, in points, or 0.
func usualLeading(lines []line) float32 {
	count := map[int]int{}
	best, most := 0, 0
	for i := 1; i < len(lines); i++ {
		d := int((lines[i-1].y-lines[i].y)*2 + 0.5)
		if d <= 0 {
			continue
		}
		if count[d]++; count[d] > most || count[d] == most && d < best {
			best, most = d, count[d]
		}
	}
	if most == 0 {
		return 0
	}
	return float32(best) / 2
}

// breaks reports whether a new paragraph begins between two lines of a column.
func breaks(a, b *line, left, right, leading float32) bool {
	gap := a.y - b.y
	em := b.size
	switch {
	case abs(a.size-b.size) > 0.08*max(a.size, b.size): // another font size
		return true
	case gap < 0 || gap > 2.2*max(a.size, b.size): // a large gap
		return true
	case leading > 0 && leading < 2*em && gap > 1.3*leading:
		return true
	case bullet(b.text) != "":
		return true
	case a.bold != b.bold && (a.bold && a.x1 < right-0.1*(right-left) || b.bold): // a bold heading
		return true
	}
	if strings.HasSuffix(a.text, "-") {
		return false
	}
	if rightToLeft(b.text) {
		return a.x0 > left+0.2*(right-left)
	}
	ended := a.x1 < right-0.15*(right-left) && strings.ContainsAny(a.text[len(a.text)-1:], ".!?:")
	indented := b.x0 > left+0.8*em && b.x0 < left+6*em && a.x0 < left+0.5*em && bullet(a.text) == ""
	short := a.x1 < right-0.45*(right-left) // much shorter than a line within a paragraph
	return ended || indented && b.x0 > a.x0+0.8*em || short && abs(b.x0-a.x0) < 0.5*em && a.x0 < left+3*em
}

// bullets are the characters that begin list items.
const bullets = "•▪■‣◦●○–—∙·➢❖✓*"

// bullet returns the bullet or number that begins a list item, or "" if s is not one.
func bullet(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if strings.ContainsRune(bullets, r) && len(s) > n && s[n] == ' ' {
		return s[:n]
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i > 0 && i <= 3 && i+1 < len(s) && (s[i] == '.' || s[i] == ')') && s[i+1] == ' ' {
		return s[:i+1]
	}
	return ""
}

func (c *composer) start(l *line, page int) {
	c.end()
	c.cur = &paragraph{page: page, size: l.size, bold: l.bold, lines: 1, last: *l}
	text := l.text
	if mark := bullet(text); mark != "" {
		c.cur.item = true
		if r, n := utf8.DecodeRuneInString(mark); n == len(mark) && strings.ContainsRune(bullets, r) {
			text = "-" + text[n:]
		}
	}
	c.text.WriteString(text)
}

// join adds a line to the open paragraph. A hyphen at the end of the line before is removed if it only divides a word.
func (c *composer) join(l *line, page int) {
	before := c.text.String()
	last, width := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(l.text)
	sep := " "
	switch {
	case last == '\u00AD':
		c.text.Reset()
		c.text.WriteString(before[:len(before)-width])
		sep = ""
	case (last == '-' || last == '‐') && len(before) > width && unicode.IsLetter(lastRune(before[:len(before)-width])):
		sep = ""
		if unicode.IsLower(first) && !c.compound(before[:len(before)-width], l.text) {
			c.text.Reset()
			c.text.WriteString(before[:len(before)-width])
		}
	case wide(last) && wide(first):
		sep = ""
	}
	c.text.WriteString(sep)
	if page != c.cur.lastPage() {
		c.cur.breaks = append(c.cur.breaks, outline.Mark{At: c.text.Len(), Page: page})
	}
	c.text.WriteString(l.text)
	c.cur.bold = c.cur.bold && l.bold
	c.cur.lines++
	c.cur.last = *l
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// wide reports whether a character belongs to a script without spaces between words.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF
}

// compound reports whether the word divided by a hyphen between before and after occurs in the file more often with a
// hyphen than without.
func (c *composer) compound(before, after string) bool {
	head := before[strings.LastIndexAny(before, " (\n")+1:]
	tail := after
	if i := strings.IndexFunc(tail, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		tail = tail[:i]
	}
	head, tail = strings.ToLower(head), strings.ToLower(tail)
	return c.words[head+"-"+tail] > c.words[head+tail]
}

// maxWords bounds the vocabulary.
const maxWords = 200_000

// vocabulary counts the words of a file, except those at the end of a line, which may be divided.
func vocabulary(sheets []sheet) map[string]int {
	words := map[string]int{}
	for i := range sheets {
		for _, l := range sheets[i].lines {
			fields := strings.Fields(l.text)
			for j, w := range fields {
				if j == len(fields)-1 || len(words) >= maxWords {
					break
				}
				words[strings.ToLower(strings.Trim(w, ".,;:()[]“”\"'"))]++
			}
		}
	}
	return words
}
