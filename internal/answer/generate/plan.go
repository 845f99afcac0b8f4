package generate

import (
	"encoding/json"
	"maps"

	"quarry/internal/text/lang"
)

// extra merges the parameters that are passed on to the provider unchanged; those of the request win.
func extra(request, preset map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(preset)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	maps.Copy(out, request)
	return out
}

// languageOf returns the language of an answer as three letters: the one asked for, else that of the question. A question
// that does not tell, such as a part number, takes the language of the passages, and English where there are none or
// the contract does not list it.
func languageOf(asked, question string, results []Passage) string {
	if asked != "" && asked != "auto" {
		if code, ok := LanguageCode(asked); ok {
			return code
		}
	}
	code, confidence := lang.Detect(question)
	if !lang.Sure(confidence) {
		code = lang.Of(question, languageOfPassages(results))
	}
	if code, ok := LanguageCode(code); ok {
		return code
	}
	return "eng"
}

// looked is how many passages tell the language of all.
const looked = 10

// languageOfPassages is the language that most of the first passages are in, "" when none tells.
func languageOfPassages(results []Passage) string {
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
