package draft

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/corpus/document"
	"quarry/internal/text/lang"
)

// A part of fewer code points than shortText is taken to be in the language of its surroundings unless its own is
// certain: by sureWords words and the confidence sureText, or by its script. A title like "In winter" exists in several
// languages.
const (
	shortText = 60
	sureWords = 4
	sureText  = 0.75
)

// guess is the language of a part judged by its text alone.
type guess struct {
	code  string
	sure  bool
	size  int
	title bool
}

func guessLanguage(p *document.Part) guess {
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

// oneLanguage is the share of the certain text that must be in one language for the document to count as written in it.
const oneLanguage = 0.9

// languages returns the language of each part of a document, in order. An uncertain part takes the language of the
// document if that has one, and otherwise that of the nearest certain part; of two equally near ones, a title takes the
// later and other texts the earlier.
func languages(parts []unfinished) []string {
	guesses := make([]guess, len(parts))
	sizes, all := map[string]int{}, 0
	for i := range parts {
		guesses[i] = guessLanguage(&parts[i].part)
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

// unsure returns the language of a text that is too short to judge by itself; around is the language of its surroundings.
func unsure(text, around string) string {
	if around != "" && utf8.RuneCountInString(text) < shortText && lang.Fits(text, around) {
		return around
	}
	return lang.Of(text, around)
}

// nearest returns the language of the certain part that is nearest to part i and uses the script of text.
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
