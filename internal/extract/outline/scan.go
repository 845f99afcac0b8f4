package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scan is a page that is a picture, so that a reader finds no text on it.
type Scan struct {
	// File is the place of the file that has the page inside the file that is read: the numbers of attachments, from 1, with a slash
	// between those of mail inside mail. It is empty for a page of the file itself.
	File string
	Page int // from 1
}

// Recognised is what somebody has read on a page that is a picture: its lines, with an empty one between paragraphs. A page without
// text has none.
type Recognised struct {
	Scan
	Text string
}

// Read returns the text that was recognised on a page, and whether it was looked at.
func (o Options) Read(s Scan) (string, bool) {
	for i := range o.Recognised {
		if o.Recognised[i].Scan == s {
			return o.Recognised[i].Text, true
		}
	}
	return "", false
}

// Raster is the picture of a page, ready to be read: grey, from black (0) to white, row by row from the top, as people see the page.
type Raster struct {
	Width, Height int
	DPI           int // 0 if it is not known
	Grey          []byte
	// PDF is set instead of Grey for page Page of this PDF file that has pictures which are not decoded here. Whoever draws it needs
	// about Width and Height to lose nothing of them.
	PDF  []byte
	Page int
}

// Scanned adds the text that was recognised on a page. What stands on lines of its own, as in addresses and lists, stays on lines.
func (b *Builder) Scanned(page int, text string) {
	b.Page(page)
	b.ocr = true
	defer func() { b.ocr = false }()
	var lines []string
	for line := range strings.Lines(text + "\n\n") {
		if line = OneLine(line); line != "" {
			lines = append(lines, line)
			continue
		}
		if joined := join(lines); strings.ContainsFunc(joined, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			b.Paragraph(joined)
		}
		lines = nil
	}
}

// join returns a paragraph of its lines: a line that is about as long as the longest one goes on in the next, and a word that a hyphen
// divides is one again.
func join(lines []string) string {
	longest := 0
	for _, l := range lines {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	var b strings.Builder
	for i, l := range lines {
		if i == len(lines)-1 {
			b.WriteString(l)
			break
		}
		next, _ := utf8.DecodeRuneInString(lines[i+1])
		switch head, divided := strings.CutSuffix(l, "-"); {
		case divided && endsInLower(head) && unicode.IsLower(next):
			b.WriteString(head)
		case utf8.RuneCountInString(l)*4 < longest*3:
			b.WriteString(l + "\n")
		default:
			b.WriteString(l + " ")
		}
	}
	return b.String()
}

func endsInLower(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLower(last)
}
