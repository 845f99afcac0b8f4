package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxPlainSize is the size up to which a page goes to the parser as it is.
	maxPlainSize = 256 << 10
	// maxStray is how many texts of a page may stand in a table outside its
	// cells. The parser moves them in front of the table and joins them there.
	maxStray = 5_000
)

// separated puts an empty comment behind each text of a page. The parser joins
// texts between which it ignores tags by copying all of them each time, which
// takes minutes for ten megabytes made of such tags; a comment keeps them
// apart and is not read. It answers false for a page with too much text in
// tables outside cells, where comments do not help.
func separated(page string) (string, bool) {
	var b strings.Builder
	b.Grow(len(page) + len(page)/8)
	z := html.NewTokenizer(strings.NewReader(page))
	raw, between, stray := false, false, 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			b.Write(z.Raw())
			return b.String(), true
		}
		b.Write(z.Raw())
		switch kind {
		case html.TextToken:
			if raw {
				continue
			}
			b.WriteString("<!---->")
			if between && len(strings.TrimSpace(string(z.Raw()))) > 0 {
				if stray++; stray > maxStray {
					return "", false
				}
			}
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			raw = kind == html.StartTagToken && rawText[a]
			switch a {
			case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Colgroup:
				between = kind == html.StartTagToken || a != atom.Table
			case atom.Td, atom.Th, atom.Caption:
				between = kind == html.EndTagToken
			}
		}
	}
}

// rawText are the elements in which a comment would be text.
var rawText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Title: true, atom.Textarea: true, atom.Xmp: true, atom.Iframe: true,
	atom.Noembed: true, atom.Noframes: true, atom.Noscript: true, atom.Plaintext: true,
}
