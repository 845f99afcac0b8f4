package draft

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/corpus/document"
	"quarry/internal/text/lang"
)

// A part this short (code points) is taken to be in the language of what stands around unless its own is beyond doubt:
// so many words and this confidence, or a script that settles it. A title like "In winter" is a title in many
// languages.
const (
	shortText = 60
	sureWords = 4
	sureText  = 0.75
)

// guess is what a part says of its language by itself.
type guess struct {
	code  string
	sure  bool
	size  int
	title bool
}

func guessed(p *document.Part) guess {
	code, confidence := lang.Detect(p.Text)
	g := guess{code: code, size: utf8.RuneCountInString(p.Text), title: p.IsTitle}
	switch {
	case code == "":
	case confidence == 1:
		g.sure = true
	case g.size < shortText:
		g.sure = confidence >= sureText && len(strings.Fields(p.Text)) >= sureWords
	default:
		g.sure = lang.Sure(confidence)
	}
	return g
}

// oneLanguage is the share of the text that is surely in one language from which on a document counts as written in it.
const oneLanguage = 0.9

// languages returns the language of each part of a document, in order. What a part leaves open is told by the whole
// document where that has one language, else by the nearest part that is sure; of two, the one after a title and the
// one before other texts.
func languages(parts []unfinished) []string {
	guesses := make([]guess, len(parts))
	sizes, all := map[string]int{}, 0
	for i := range parts {
		guesses[i] = guessed(&parts[i].part)
		if g := guesses[i]; g.sure {
			sizes[g.code] += g.size
			all += g.size
		}
	}
	whole := ""
	for code, n := range sizes {
		if float64(n) >= oneLanguage*float64(all) {
			whole = code
		}
	}
	if all == 0 {
		whole = lang.Of(sample(parts), "")
	}
	out := make([]string, len(parts))
	for i, g := range guesses {
		switch {
		case g.sure:
			out[i] = g.code
		case whole != "" || all == 0:
			out[i] = unsure(parts[i].part.Text, whole)
		case g.size >= shortText && sizes[g.code] > 0:
			out[i] = g.code // a weak guess at a language that the document has
		default:
			out[i] = unsure(parts[i].part.Text, nearest(parts[i].part.Text, guesses, i))
		}
	}
	return out
}

// unsure returns the language of a text that says too little of it, where around is what stands around.
func unsure(text, around string) string {
	if around != "" && utf8.RuneCountInString(text) < shortText && lang.Fits(text, around) {
		return around
	}
	return lang.Of(text, around)
}

// nearest returns the language of the sure part that is nearest to i, whose text is in the script of that language.
func nearest(text string, guesses []guess, i int) string {
	side := -1
	if guesses[i].title {
		side = 1
	}
	for d := 1; d < len(guesses); d++ {
		for _, j := range []int{i + side*d, i - side*d} {
			if j >= 0 && j < len(guesses) && guesses[j].sure && lang.Fits(text, guesses[j].code) {
				return guesses[j].code
			}
		}
	}
	return ""
}

// sample joins the beginnings of a document's texts.
func sample(parts []unfinished) string {
	const enough = 8 << 10
	var s strings.Builder
	for i := range parts {
		if s.Len() >= enough {
			break
		}
		s.WriteString(parts[i].part.Text)
		s.WriteByte('\n')
	}
	return s.String()
}
