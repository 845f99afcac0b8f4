package rephrase

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/answer/generate"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
	"quarry/internal/text/rarity"
	"quarry/internal/text/sentence"
)

const (
	// few is how many words of its own a question has that can't stand by itself, if it has fewShort words in all or points
	// back; fewPointing is the same for one that points back, such as "How much does it cost in Oslo?".
	few         = 1
	fewShort    = 4
	fewPointing = 3
	// mostTerms is how many words a question takes from those before.
	mostTerms = 12
	// mostBack is how many questions are looked at for one that stands by itself.
	mostBack = 8
)

// Lean returns the question with the words of the one before it, if it has few of its own: "And in winter?" after "How often
// is the filter replaced?" is "And in winter? often filter replaced". Where that one leans, too, those of the last one before
// that stood by itself follow. Other questions are returned as they are.
func Lean(question string, earlier []generate.Exchange) string {
	earlier = earlier[max(0, len(earlier)-mostBack):]
	languages := make([]string, len(earlier)+1) // that of a short question is the one around it
	around := "eng"
	for i, e := range earlier {
		around = lang.Of(e.Question, around)
		languages[i] = around
	}
	language := lang.Of(question, around)
	if len(earlier) == 0 || !leans(question, language) {
		return question
	}
	last := len(earlier) - 1
	before := contents(asked(earlier[last].Question), languages[last])
	if leans(earlier[last].Question, languages[last]) {
		for i := last - 1; i >= 0; i-- {
			if !leans(earlier[i].Question, languages[i]) {
				before = append(before, contents(asked(earlier[i].Question), languages[i])...)
				break
			}
		}
	}
	full := question
	for _, w := range rarest(further(before, contents(question, language))) {
		full += " " + w.text
	}
	if utf8.RuneCountInString(full) > MaxQuestion {
		return question
	}
	return full
}

// leans reports whether a question can't stand by itself.
func leans(question, language string) bool {
	n := size(contents(question, language))
	if points(question, language) {
		return n <= fewPointing
	}
	return n <= few && len(strings.Fields(question)) <= fewShort
}

// asked returns the sentences of a message that end in a question mark, and all of it if these hold too few words: people
// tell about themselves before they ask.
func asked(text string) string {
	var out []string
	for _, s := range sentence.Split(text) {
		if one := text[s.Start:s.End]; strings.ContainsAny(one[max(0, len(one)-len("？")):], "?？؟") {
			out = append(out, one)
		}
	}
	if all := strings.Join(out, " "); len(strings.Fields(all)) > 2 {
		return all
	}
	return text
}

// further returns the words whose stems are not all there yet, each once.
func further(all, have []word) []word {
	has := map[string]bool{}
	for _, w := range have {
		for _, stem := range w.stems {
			has[stem] = true
		}
	}
	var out []word
	for _, w := range all {
		if !slices.ContainsFunc(w.stems, func(s string) bool { return !has[s] }) {
			continue
		}
		for _, stem := range w.stems {
			has[stem] = true
		}
		out = append(out, w)
	}
	return out
}

// word is a word that says what a question is about.
type word struct {
	text   string
	stems  []string
	weight float64 // how rare it is
}

// contents returns such words of a text: those that are neither stop words nor words of talking about the talk.
func contents(text, language string) []word {
	var out []word
	common := lang.FunctionWords(language)
	for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`<>()[]{}"|/\;`, r) }) {
		field = strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
		plain := strings.ToLower(field)
		if slices.Contains(common, plain) || talk[plain] || pointers[plain] {
			continue
		}
		w := word{text: field, stems: analysis.Query(field, language).Stems}
		for _, s := range w.stems {
			w.weight = max(w.weight, rarity.In(s, language))
		}
		if len(w.stems) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// size returns how many different words there are. In scripts without spaces it is estimated by the characters.
func size(all []word) int {
	n := 0
	seen := map[string]bool{}
	for _, w := range all {
		if per := runes(w.text); per > 0 {
			n += max(1, utf8.RuneCountInString(w.text)/per)
			continue
		}
		if key := strings.Join(w.stems, " "); !seen[key] {
			seen[key] = true
			n++
		}
	}
	return n
}

// runes returns how many characters a word has, with its particles, in a script that is written without spaces; 0 for others.
func runes(text string) int {
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return 3
	case unicode.In(first, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return 6
	}
	return 0
}

// rarest returns the rarest of the words, as many as a question takes, in their order.
func rarest(all []word) []word {
	if len(all) <= mostTerms {
		return all
	}
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b word) int { return cmp.Compare(b.weight, a.weight) })
	least := ranked[mostTerms-1].weight
	out := slices.DeleteFunc(slices.Clone(all), func(w word) bool { return w.weight < least })
	return out[:min(len(out), mostTerms)]
}

// points reports whether a question refers to what was said: by a pronoun, or by how it begins.
func points(question, language string) bool {
	fields := strings.Fields(strings.ToLower(question))
	for i, f := range fields {
		f = strings.TrimFunc(f, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
		if i == 0 && joints[f] || pointers[f] {
			return true
		}
		if f == "about" && i == 1 && (strings.HasSuffix(fields[0], "what") || strings.HasSuffix(fields[0], "how")) {
			return true
		}
	}
	switch language {
	case "zho", "jpn", "kor", "tha":
		return slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(question, s) })
	}
	return false
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// joints are words that a follow-up begins with.
var joints = set(`and but or so then also und aber oder dann auch et mais ou alors aussi y e o pero entonces también mas então também
	ma allora anche en maar dan ook и а но или тогда также oraz ale czy ve ama och men eller og`)

// pointers are words that stand for something named before.
var pointers = set(`it its it's they them their theirs he him his she her hers this that these those there one ones same such else
	er ihn ihm sie ihr ihnen ihre ihrer ihren es sein seine seiner seinen dies diese dieser dieses diesem diesen jener jene jenes davon dafür damit darüber daran dazu dort
	il elle ils elles lui leur leurs son sa ses ce cet cette ces cela ça celui celle ceux celles y en
	él ella ellos ellas su sus este esta esto estos estas ese esa eso esos esas aquel aquella
	ele ela eles elas seu sua seus suas isso isto esse essa este dele dela
	esso essa essi esse lui lei loro suo sua suoi questo questa questi queste quello quella
	hij zij hem haar hun zijn deze dit die dat daarvan ervan
	он она оно они его её ее их ему ей им этот эта это эти тот та те там`)

// talk are words about the conversation itself, which say nothing about its subject.
var talk = set(`tell say get got show explain describe more detail details please again example examples mean means elaborate continue why how what thanks ok okay yes no
	sag sage erkläre erklären beschreibe zeig zeige mehr bitte nochmal genauer beispiel beispiele weiter danke warum wieso wie was
	dis explique expliquez décris montre plus merci encore exemple exemples pourquoi comment
	dime explica describe muestra más gracias ejemplo ejemplos
	explique descreva mostre mais obrigado exemplo exemplos
	spiega descrivi mostra più grazie esempio esempi
	vertel beschrijf toon meer bedankt voorbeeld
	расскажи объясни опиши покажи подробнее ещё еще пример спасибо`)

// signs are pronouns and particles of follow-ups in languages written without spaces.
var signs = []string{"它", "他", "她", "那", "这", "這", "其", "呢", "それ", "その", "これ", "この", "あれ", "では", "どう", "그", "이것", "저것", "มัน", "นั้น", "นี้", "ล่ะ"}
