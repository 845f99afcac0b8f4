package verify

import (
	"regexp"
	"strings"
)

// noise is what a generated text holds beside its statements, in the order in which it is taken out: code, pictures,
// addresses and marks of citations, signs of markup.
var noise = []*regexp.Regexp{
	regexp.MustCompile("(?s)```.*?(?:```|$)"),
	regexp.MustCompile("`[^`\n]*`"),
	regexp.MustCompile(`!\[[^\]\n]*\]\([^)\n]*\)`),
	regexp.MustCompile(`\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]\([^)\n]*\)`),
	regexp.MustCompile(`\]\([^)\s]*(?:\s+"[^"\n]*")?\)`),
	regexp.MustCompile(`\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]`),
	regexp.MustCompile(`【[^】\n]*】`),
	regexp.MustCompile(`</?[a-zA-Z][^<>\n]*>`),
	regexp.MustCompile(`https?://\S+`),
	regexp.MustCompile(`(?m)^[ \t]*(?:#{1,6}|>|[-*+•])[ \t]+`),
	regexp.MustCompile(`(?m)^[ \t]*\|?[ \t:|-]{3,}\|?[ \t]*$`),
	regexp.MustCompile(`\*{1,3}|_{2}|~~|\|`),
}

// strip puts spaces in the place of noise, byte by byte, so that offsets stay.
func strip(text string) string {
	for _, n := range noise {
		if !n.MatchString(text) {
			continue
		}
		text = n.ReplaceAllStringFunc(text, func(m string) string {
			// Line breaks part sentences: they stay, except within a block of code.
			return strings.Repeat(" ", len(m))
		})
	}
	// "[words](address)" has lost its address: the bracket that opened it goes, too.
	return strings.ReplaceAll(text, "[", " ")
}
