package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/embedded"
	"quarry/internal/extract/pdf/info"
	"quarry/internal/extract/pdf/pagetree"
)

// Limits of headings.
const (
	maxHeading = 200 // bytes of a heading
	maxLines   = 3   // of a heading
	maxLevel   = 6
)

// build adds the sections of a file to b. The headings are the paragraphs that bookmarks lead to, if most bookmarks are
// found in the text, and otherwise those that stand out by font size and weight.
func build(b *outline.Builder, all []paragraph, marks []info.Bookmark, scans []outline.Recognised, pictures *embedded.Pictures) {
	levels := byBookmarks(all, marks)
	if levels == nil {
		levels = byLetters(all)
	}
	for i := range all {
		p := &all[i]
		pictures.Place(b, p.page)
		scans = between(b, scans, p.page)
		b.Page(p.page)
		switch {
		case p.table != nil:
			b.Table(p.table.Table)
		case levels[i] > 0:
			b.Heading(levels[i], outline.OneLine(p.text))
		case p.item:
			b.Line(p.text, p.breaks...)
		default:
			b.Paragraph(p.text, p.breaks...)
		}
	}
	pictures.Place(b, pagetree.Most+1)
	between(b, scans, pagetree.Most+1)
}

// plain returns the letters and digits of s in lower case, by which texts are compared with bookmarks.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// byBookmarks returns, for each paragraph, the level of the bookmark whose title it is, or 0. It returns nil if most
// bookmarks have no such paragraph.
func byBookmarks(all []paragraph, marks []info.Bookmark) []int {
	if len(marks) < 2 {
		return nil
	}
	levels := make([]int, len(all))
	found, from := 0, 0
	for _, m := range marks {
		want := plain(m.Title)
		for i := from; i < len(all) && want != ""; i++ {
			p := &all[i]
			if m.Page > 0 && p.page > m.Page {
				break
			}
			if len(p.text) > 2*maxHeading || m.Page > 0 && p.page < m.Page {
				continue
			}
			if got := plain(p.text); got == want || strings.HasSuffix(got, want) && len(got) <= len(want)+6 {
				levels[i] = m.Level
				found++
				from = i + 1
				break
			}
		}
	}
	if found*2 < len(marks) {
		return nil
	}
	return levels
}

// byLetters returns, for each paragraph, its level as a heading, or 0. Headings are short paragraphs in a font that is
// larger than that of the body text, or bold. Larger fonts have higher levels, and bold headings the lowest.
func byLetters(all []paragraph) []int {
	body, boldBody := bodyLetters(all)
	levels := make([]int, len(all))
	var sizes []float32
	candidates := 0
	for i := range all {
		p := &all[i]
		if !headingLike(p) {
			continue
		}
		switch {
		case p.size >= 1.12*body:
			levels[i] = 1
			sizes = append(sizes, p.size)
		case p.bold && !boldBody && p.size >= 0.97*body && p.lines <= 2 && len(p.text) <= 120 && !p.item:
			levels[i] = maxLevel
		case p.bold && !boldBody && p.size >= 0.97*body && p.item && p.lines == 1 && len(p.text) <= 100: // "1. Scope"
			levels[i] = maxLevel
		}
		if levels[i] > 0 {
			candidates++
		}
	}
	if candidates*2 > len(all) && len(all) > 6 { // slides and posters, whose text is large
		return make([]int, len(all))
	}
	steps := distinct(sizes)
	for i := range all {
		switch levels[i] {
		case 1:
			for n, s := range steps {
				if all[i].size >= 0.97*s {
					levels[i] = min(n+1, maxLevel)
					break
				}
			}
		case maxLevel:
			levels[i] = min(len(steps)+1, maxLevel)
		}
	}
	return levels
}

// cover returns the paragraph in the largest font on the first page, if that is large enough for a title, or "".
func cover(all []paragraph) string {
	body, _ := bodyLetters(all)
	best := paragraph{size: 1.35 * body}
	for i := range all {
		if p := &all[i]; p.page == 1 && p.size > best.size && headingLike(p) {
			best = *p
		}
	}
	return outline.OneLine(best.text)
}

// headingLike reports whether a paragraph can be a heading: it is short, has letters, and does not end as a sentence does.
func headingLike(p *paragraph) bool {
	t := strings.TrimSpace(p.text)
	if len(t) > maxHeading || p.lines > maxLines || utf8.RuneCountInString(plain(t)) < 2 || len(p.breaks) > 0 || !letters(t) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(t)
	return !strings.ContainsRune(".;,", last)
}

// bodyLetters returns the font size in which most of the text is set, and whether most of the text is bold.
func bodyLetters(all []paragraph) (size float32, bold bool) {
	var count sizeCount
	heavy, total := 0, 0
	for i := range all {
		n := len(all[i].text)
		count.add(all[i].size, n)
		total += n
		if all[i].bold {
			heavy += n
		}
	}
	return count.most(), heavy*2 > total
}

// sizeCount counts letters by font size, in half points.
type sizeCount map[int]int

func (c *sizeCount) add(size float32, letters int) {
	if *c == nil {
		*c = sizeCount{}
	}
	(*c)[int(size*2+0.5)] += letters
}

// most returns the font size of most letters, in points; of equals, the smallest.
func (c sizeCount) most() float32 {
	best := 0
	for s, n := range c {
		if n > c[best] || n == c[best] && s < best {
			best = s
		}
	}
	return float32(best) / 2
}

// distinct returns the sizes in descending order; sizes within 3 % of a larger one are left out.
func distinct(sizes []float32) []float32 {
	slices.SortFunc(sizes, func(a, b float32) int { return cmp.Compare(b, a) })
	var out []float32
	for _, s := range sizes {
		if len(out) == 0 || s < 0.97*out[len(out)-1] {
			out = append(out, s)
		}
	}
	return out
}
