package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxPlainSize is the size, in bytes, up to which a page is parsed as it is.
	maxPlainSize = 256 << 10
	// maxStray is the maximum number of texts in tables but outside of cells. The parser moves these in front of the
	// table ("foster parenting") and joins them there.
	maxStray = 5_000
)

// separateTexts inserts an empty comment after each text of a page. Where the parser ignores the tags between texts, it
// joins the texts, copying all of them each time; for ten megabytes of such tags that takes minutes. The comments keep
// the texts apart and are dropped later. ok is false for a page with too much text in tables outside of cells, for which
// comments do not help.
func separateTexts(page string) (out string, ok bool) {
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

// rawText are the elements in which a comment would be part of the text.
var rawText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Title: true, atom.Textarea: true, atom.Xmp: true, atom.Iframe: true,
	atom.Noembed: true, atom.Noframes: true, atom.Noscript: true, atom.Plaintext: true,
}
