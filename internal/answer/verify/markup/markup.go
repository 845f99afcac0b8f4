// Package markup recognizes what a generated text contains beside its words: marks of citations, addresses, code and Markdown.
package markup

import (
	"regexp"
	"strings"
)

// fenced matches a block of code, which states nothing.
var fenced = regexp.MustCompile("(?s)```.*?(?:```|$)")

// noise matches what is removed from a text, in this order: pictures, marks of citations, addresses, signs of markup. The words
// of links and of code within a sentence stay.
var noise = []*regexp.Regexp{
	regexp.MustCompile(`!\[[^\]\n]*\]\([^)\n]*\)`),
	regexp.MustCompile(`\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\](?:\([^)\n]*\))?`),
	regexp.MustCompile(`\]\([^)\s]*(?:\s+"[^"\n]*")?\)`),
	regexp.MustCompile(`【[^】\n]*】`),
	regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`),
	regexp.MustCompile(`https?://\S+`),
	regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}|>)[ \t]+`),
	regexp.MustCompile(`(?m)^[ \t]*\|?[ \t:|-]{3,}\|?[ \t]*$`),
	regexp.MustCompile("\\*{1,3}|__|~~|[|`\\[]"),
}

// star matches a bullet that looks like emphasis.
var star = regexp.MustCompile(`(?m)^[ \t]*\*[ \t]`)

// Strip returns text with noise replaced by spaces, byte for byte, so that offsets stay valid. Bullets stay, since they separate
// sentences.
func Strip(text string) string {
	text = star.ReplaceAllStringFunc(text, func(m string) string { return strings.Replace(m, "*", "-", 1) })
	for _, n := range noise {
		text = n.ReplaceAllStringFunc(text, spaces)
	}
	return text
}

// StripCode is Strip for a generated text, whose blocks of code need no support.
func StripCode(text string) string { return Strip(fenced.ReplaceAllStringFunc(text, spaces)) }

func spaces(s string) string { return strings.Repeat(" ", len(s)) }

// bullet matches what begins an item of a list.
var bullet = regexp.MustCompile(`^(?:[-+*•–◦▪]|\d{1,3}[.)])\s+`)

// Bullet returns the bullet or number of a list item at the beginning of a text; "" for none.
func Bullet(text string) string { return bullet.FindString(text) }
