package generate

import "quarry/internal/text/lang"

// ResponseLanguage returns the language of an answer as three letters: the one asked for by three letters or two; for "" and
// "auto" that of the question. A question that does not show it, such as a part number, takes the language of the passages,
// and English if there are none or the contract does not list it.
func ResponseLanguage(asked, question string, results []Passage) string {
	if code, ok := LanguageCode(asked); ok {
		return code
	}
	code, confidence := lang.Detect(question)
	if !lang.Sure(confidence) {
		code = lang.Of(question, passagesLanguage(results))
	}
	if code, ok := LanguageCode(code); ok {
		return code
	}
	return "eng"
}

// looked is how many passages determine the language.
const looked = 10

// passagesLanguage returns the language of most of the first passages, "" if none is certain.
func passagesLanguage(results []Passage) string {
	count := map[string]int{}
	best := ""
	for _, p := range results[:min(looked, len(results))] {
		code, confidence := lang.Detect(p.Text)
		if code == "" || !lang.Sure(confidence) {
			continue
		}
		if count[code]++; count[code] > count[best] {
			best = code
		}
	}
	return best
}
