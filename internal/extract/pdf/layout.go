package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"quarry/internal/extract/pdf/syntax"
)

// segment is a run of glyphs that were drawn one after another on one line.
type segment struct {
	glyphs    []glyph
	text      string
	x0, x1, y float32
	size      float32
}

// row is what stands on one line across a region, from left to right.
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
	column    int // lines of different columns are of different paragraphs, unless a sentence goes on
	direction uint8
}

// sheet is the lines of a page in reading order.
type sheet struct {
	lines       []line
	top, bottom float32 // where text stands
}

// arrange puts the glyphs of a page into reading order: the direction that most of them have first.
func arrange(glyphs []glyph, b *syntax.Budget) sheet {
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
		rows := rowsOf(segments(glyphs, d, b), b)
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

// segments cuts the glyphs of one direction where the next one does not follow on.
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

// follows reports whether a glyph goes on where a segment ends: to the right, or to the left of it in scripts that
// run so.
func follows(s *segment, g *glyph) bool {
	em := max(s.size, g.size)
	if abs(g.y-s.y) > 0.25*em {
		return false
	}
	if gap := g.x0 - s.x1; gap > -0.5*em && gap < 0.9*em {
		return true
	}
	gap := s.x0 - g.x1
	return gap > -0.5*em && gap < 0.9*em && leftward(g.text)
}

func abs(v float32) float32 { return max(v, -v) }

// leftward reports whether a text is of a script that runs from right to left.
func leftward(s string) bool {
	for _, r := range s {
		if r < 0x590 { // below Hebrew, the first of them
			continue
		}
		if unicode.Is(unicode.Arabic, r) || unicode.Is(unicode.Hebrew, r) || unicode.Is(unicode.Syriac, r) || unicode.Is(unicode.Thaana, r) {
			return true
		}
	}
	return false
}

// blankBefore reports whether the gap between two glyphs is a blank between words.
func blankBefore(gap float32, left, right *glyph) bool {
	em := min(left.size, right.size)
	want := min(max(0.55*left.space, 0.1*em), 0.3*em)
	return gap > want
}

// spell gives the text of glyphs that stand on one line, with blanks where the gaps are words apart.
func spell(all []glyph) string {
	rtl, ltr := 0, 0
	for i := range all {
		if leftward(all[i].text) {
			rtl++
		} else if letters(all[i].text) {
			ltr++
		}
	}
	if rtl > ltr {
		return spellLeftward(all)
	}
	var b strings.Builder
	for i := range all {
		g := &all[i]
		if i > 0 {
			last := &all[i-1]
			if abs(g.x0-last.x0) < 0.08*g.size && g.text == last.text && g.x1 > g.x0+0.1*g.size { // drawn twice to look bold
				continue
			}
			if blankBefore(g.x0-last.x1, last, g) && !endsBlank(last.text) && !strings.HasPrefix(g.text, " ") {
				b.WriteByte(' ')
			}
		}
		b.WriteString(g.text)
	}
	return tidy(b.String())
}

func endsBlank(s string) bool { return strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\u00A0") }

func letters(s string) bool {
	for _, r := range s {
		if unicode.IsLetter(r) {
			return true
		}
	}
	return false
}

// spellLeftward orders the glyphs of a line from right to left, and what runs the other way, like numbers, within it.
func spellLeftward(all []glyph) string {
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
		blank := i > 0 && blankBefore(sorted[i-1].x0-g.x1, &sorted[i-1], g)
		forward := !leftward(g.text) && (letters(g.text) || digits(g.text))
		switch {
		case forward || len(run) > 0 && !leftward(g.text) && strings.TrimSpace(g.text) != "" && i+1 < len(sorted) && (letters(sorted[i+1].text) || digits(sorted[i+1].text)) && !leftward(sorted[i+1].text):
			if blank && len(run) > 0 {
				run = append(run, " ")
			} else if blank {
				out = append(out, " ")
			}
			run = append(run, g.text)
		default:
			flush()
			if blank {
				out = append(out, " ")
			}
			out = append(out, g.text)
		}
	}
	flush()
	return tidy(strings.Join(out, ""))
}

func digits(s string) bool {
	for _, r := range s {
		if unicode.IsDigit(r) {
			return true
		}
	}
	return false
}

// tidy resolves what only fonts have: ligatures and forms by position, odd blanks.
func tidy(s string) string {
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

// rowsOf groups segments by their baselines, from the top down.
func rowsOf(all []segment, b *syntax.Budget) []row {
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

// line gives a row as text.
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
