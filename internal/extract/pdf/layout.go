package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/extract/pdf/path"
	"quarry/internal/extract/pdf/syntax"
)

// segment is a run of glyphs that were drawn one after another on one line. Lengths are in points.
type segment struct {
	glyphs    []glyph
	text      string
	x0, x1, y float32
	size      float32 // of the font
}

// row holds the segments on one line across a region, from left to right.
type row struct {
	segments []segment
	y, size  float32
	x0, x1   float32
}

// line is one line of a column, as text.
type line struct {
	text      string
	x0, x1, y float32
	size      float32
	bold      bool
	artifact  bool
	column    int // lines in different columns belong to different paragraphs, unless a sentence continues
	direction uint8
	table     *grid // which stands in this place of the reading order; nil for text
}

// sheet holds the lines of a page in reading order.
type sheet struct {
	lines       []line
	top, bottom float32 // of the text
	direction   uint8   // of most of it
	tables      []grid
}

// arrange puts the glyphs of a page into reading order. Text in the direction of most glyphs comes first. With the lines that the
// page draws, its tables are found among that text and taken out of it.
func arrange(glyphs []glyph, drawn *path.Ruler, b *syntax.Budget) sheet {
	var count [4]int
	for i := range glyphs {
		count[glyphs[i].direction]++
	}
	order := []uint8{0, 1, 2, 3}
	slices.SortStableFunc(order, func(a, b uint8) int { return count[b] - count[a] })
	var s sheet
	column := 0
	for i, d := range order {
		if count[d] == 0 || b.Err() != nil {
			break
		}
		all := segments(glyphs, d, b)
		if i == 0 && drawn != nil {
			s.direction = d
			s.tables, all = findTables(all, turned(drawn, d), b)
		}
		rows := groupRows(all, b)
		if i == 0 && len(rows) > 0 {
			s.top, s.bottom = rows[0].y, rows[len(rows)-1].y
		}
		for _, region := range columns(rows, b) {
			for _, r := range region {
				if l := r.line(); strings.TrimSpace(l.text) != "" {
					l.column, l.direction = column, d
					s.lines = append(s.lines, l)
				}
			}
			column++
		}
	}
	return s
}

// segments divides the glyphs of one direction into segments, in the order in which they were drawn.
func segments(all []glyph, direction uint8, b *syntax.Budget) []segment {
	var out []segment
	var cur segment
	end := func() {
		if len(cur.glyphs) > 0 {
			cur.text = spell(cur.glyphs)
			if strings.TrimSpace(cur.text) != "" {
				out = append(out, cur)
			}
		}
	}
	for i := range all {
		g := all[i]
		if g.direction != direction || !b.Step() {
			continue
		}
		if len(cur.glyphs) > 0 && follows(&cur, &g) {
			cur.glyphs = append(cur.glyphs, g)
			cur.x0, cur.x1, cur.size = min(cur.x0, g.x0), max(cur.x1, g.x1), max(cur.size, g.size)
			continue
		}
		end()
		cur = segment{glyphs: []glyph{g}, x0: g.x0, x1: g.x1, y: g.y, size: g.size}
	}
	end()
	return out
}

// follows reports whether a glyph continues a segment: to the right of it, or to the left in right-to-left scripts.
func follows(s *segment, g *glyph) bool {
	em := max(s.size, g.size)
	if abs(g.y-s.y) > 0.25*em {
		return false
	}
	if gap := g.x0 - s.x1; gap > -0.5*em && gap < 0.9*em {
		return true
	}
	gap := s.x0 - g.x1
	return gap > -0.5*em && gap < 0.9*em && rightToLeft(g.text)
}

func abs(v float32) float32 { return max(v, -v) }

// rightToLeft reports whether s has letters of a script that is written from right to left.
func rightToLeft(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { // 0x590 is before Hebrew, the first of these scripts
		return r >= 0x590 && unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana)
	})
}

// spaceBetween reports whether the gap between two glyphs is a word space. Many files position words without drawing
// spaces. The threshold depends on the width of the font's space, within bounds, since that is often wrong.
func spaceBetween(gap float32, left, right *glyph) bool {
	em := min(left.size, right.size)
	want := min(max(0.55*left.space, 0.1*em), 0.3*em)
	return gap > want
}

// spell returns the text of glyphs on one line, with a space where a gap separates words.
func spell(all []glyph) string {
	rtl, ltr := 0, 0
	for i := range all {
		if rightToLeft(all[i].text) {
			rtl++
		} else if letters(all[i].text) {
			ltr++
		}
	}
	if rtl > ltr {
		return spellRightToLeft(all)
	}
	var b strings.Builder
	for i := range all {
		g := &all[i]
		if i > 0 {
			last := &all[i-1]
			if abs(g.x0-last.x0) < 0.08*g.size && g.text == last.text && g.x1 > g.x0+0.1*g.size { // drawn twice to appear bold
				continue
			}
			if spaceBetween(g.x0-last.x1, last, g) && !endsInSpace(last.text) && !strings.HasPrefix(g.text, " ") {
				b.WriteByte(' ')
			}
		}
		b.WriteString(g.text)
	}
	return clean(b.String())
}

func endsInSpace(s string) bool { return strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\u00A0") }

func letters(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// spellRightToLeft returns the text of glyphs on a line of a right-to-left script. Numbers and foreign words in it are
// read from left to right. It is a simple substitute for inverting the Unicode Bidirectional Algorithm (UAX 9).
func spellRightToLeft(all []glyph) string {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b glyph) int { return cmp.Compare(b.x0+b.x1, a.x0+a.x1) })
	var out, run []string
	flush := func() {
		slices.Reverse(run)
		out = append(out, run...)
		run = nil
	}
	for i := range sorted {
		g := &sorted[i]
		space := i > 0 && (spaceBetween(sorted[i-1].x0-g.x1, &sorted[i-1], g) || otherScript(sorted[i-1].text, g.text))
		forward := !rightToLeft(g.text) && (letters(g.text) || digits(g.text))
		switch {
		// A sign between two such glyphs, like a decimal point, belongs to the run.
		case forward || len(run) > 0 && !rightToLeft(g.text) && strings.TrimSpace(g.text) != "" && i+1 < len(sorted) && (letters(sorted[i+1].text) || digits(sorted[i+1].text)) && !rightToLeft(sorted[i+1].text):
			if space && len(run) > 0 {
				run = append(run, " ")
			} else if space {
				out = append(out, " ")
			}
			run = append(run, g.text)
		default:
			flush()
			if space {
				out = append(out, " ")
			}
			out = append(out, g.text)
		}
	}
	flush()
	return clean(strings.Join(out, ""))
}

// otherScript reports whether two pieces of text that touch are letters of words in different scripts: people leave out the space
// between these.
func otherScript(a, b string) bool {
	return letters(a) && letters(b) && rightToLeft(a) != rightToLeft(b)
}

func digits(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// clean replaces ligatures and positional forms by plain letters and all spaces by U+0020, and drops control characters
// and private-use characters.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0xFB00 && r <= 0xFB4F || r >= 0xFB50 && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFC:
			b.WriteString(norm.NFKC.String(string(r)))
		case r == 0xA0 || r == '\t' || r == '\n' || r == '\r' || r >= 0x2000 && r <= 0x200A:
			b.WriteByte(' ')
		case r == 0xFFFD || unicode.IsControl(r) || r >= 0xE000 && r <= 0xF8FF:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// groupRows groups segments by their baselines, from top to bottom.
func groupRows(all []segment, b *syntax.Budget) []row {
	slices.SortStableFunc(all, func(a, b segment) int { return cmp.Compare(b.y, a.y) })
	var rows []row
	for i := range all {
		s := &all[i]
		if !b.Step() {
			return nil
		}
		if n := len(rows) - 1; n >= 0 && rows[n].y-s.y <= 0.45*max(rows[n].size, s.size) && rows[n].y-s.y < 0.8*min(rows[n].size, s.size)+1 {
			r := &rows[n]
			r.segments = append(r.segments, *s)
			r.x0, r.x1 = min(r.x0, s.x0), max(r.x1, s.x1)
			if s.size > r.size {
				r.y, r.size = s.y, s.size
			}
			continue
		}
		rows = append(rows, row{segments: []segment{*s}, y: s.y, size: s.size, x0: s.x0, x1: s.x1})
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].segments, func(a, b segment) int { return cmp.Compare(a.x0, b.x0) })
	}
	return rows
}

// line returns the text of a row. Its size is that of most of its text, and it is bold if 90 % of its glyphs are.
func (r *row) line() line {
	l := line{x0: r.x0, x1: r.x1, y: r.y, size: r.size, artifact: true}
	var all []glyph
	bold, total := 0, 0
	for i := range r.segments {
		s := &r.segments[i]
		if i > 0 && s.text == r.segments[i-1].text && abs(s.x0-r.segments[i-1].x0) < 0.3*s.size { // a shadow
			continue
		}
		all = append(all, s.glyphs...)
	}
	sizes := map[float32]int{}
	for i := range all {
		g := &all[i]
		total++
		if g.bold {
			bold++
		}
		l.artifact = l.artifact && g.artifact
		sizes[g.size] += len(g.text)
	}
	best := 0
	for size, n := range sizes {
		if n > best || n == best && size > l.size {
			best, l.size = n, size
		}
	}
	l.bold = bold*10 >= total*9
	l.text = strings.TrimSpace(spell(all))
	return l
}
