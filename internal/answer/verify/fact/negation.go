package fact

import (
	"slices"
	"strings"
)

// Negation is a word that negates others.
type Negation struct {
	Start, End int
	Word       int
	Negated    []string // keys of the words that it likely negates, by their place
	Near       []string // keys of the words of content around it, the nearest first
}

// reach is how many words of content before and after a negation are compared.
const reach = 2

// Negations returns the negations of a sentence.
func Negations(text string, ws []Word, lang string) []Negation {
	var out []Negation
	for i := range ws {
		n := cue(ws, i, lang)
		if n == 0 {
			continue
		}
		after, before := around(ws, i, i+n-1)
		negated := first(after)
		switch lang {
		case "deu", "fra", "kor", "jpn":
			negated = append(negated, first(before)...)
		}
		out = append(out, Negation{Start: ws[i].Start, End: ws[i+n-1].End, Word: i, Negated: negated, Near: slices.Concat(after, before)})
	}
	return out
}

// cue returns how many words from i on are a negation; 0 for none.
func cue(ws []Word, i int, lang string) int {
	w := ws[i].Text
	if lang == "zho" || lang == "jpn" {
		return denseCue(ws, i, lang)
	}
	if lang == "kor" {
		if strings.HasSuffix(w, "지") && i+1 < len(ws) && (strings.HasPrefix(ws[i+1].Text, "않") || strings.HasPrefix(ws[i+1].Text, "못")) {
			return 2
		}
		if w == "안" || w == "못" || strings.HasPrefix(w, "없") || strings.HasPrefix(w, "아니") || strings.HasPrefix(w, "않") && (i == 0 || !strings.HasSuffix(ws[i-1].Text, "지")) {
			return 1
		}
		return 0
	}
	if i+1 < len(ws) && idioms[w+" "+ws[i+1].Text] {
		return 0
	}
	if i+1 < len(ws) && w == "no" {
		if figures, _ := digits(ws[i+1].Text); figures != "" {
			return 0 // number 1
		}
	}
	if negations[lang][w] || lang == "eng" && strings.HasSuffix(w, "n't") {
		return 1
	}
	return 0
}

// idioms contain a negation and negate nothing.
var idioms = set(`not_only not_just not_merely not_least no_doubt nicht_nur nicht_zuletzt pas_seulement no_sólo no_solo não_só не_только`)

func first(list []string) []string { return slices.Clone(list[:min(1, len(list))]) }

// denseCue is cue for Chinese and Japanese; frequent words that contain a sign of negation and negate nothing do not count.
func denseCue(ws []Word, i int, lang string) int {
	w := ws[i].Text
	follow := ""
	for j := i + 1; j < min(len(ws), i+3) && ws[j].Start == ws[j-1].End; j++ {
		follow += ws[j].Text
	}
	if lang == "zho" {
		switch w {
		case "不":
			return unless(follow, "同", "但", "仅", "僅", "断", "斷", "过", "過", "少", "久", "得")
		case "没", "沒", "未", "无", "無", "非":
			return unless(follow, "来", "來", "常", "洲", "论", "論")
		}
		return 0
	}
	switch {
	case w == "な" && (strings.HasPrefix(follow, "い") || strings.HasPrefix(follow, "かっ") || strings.HasPrefix(follow, "く")):
		return 1
	case w == "ま" && strings.HasPrefix(follow, "せん"):
		return 1
	case w == "ず" && i > 0, w == "未", w == "非" && !strings.HasPrefix(follow, "常"), w == "不":
		return 1
	}
	return 0
}

// unless returns 1, or 0 if one of the idioms follows.
func unless(follow string, idioms ...string) int {
	if slices.ContainsFunc(idioms, func(idiom string) bool { return strings.HasPrefix(follow, idiom) }) {
		return 0
	}
	return 1
}

// around returns the content near the words from to to, the nearest first.
func around(ws []Word, from, to int) (after, before []string) {
	for j := to + 1; j < len(ws) && j <= to+6 && len(after) < reach; j++ {
		if Content(ws[j]) {
			after = append(after, ws[j].key)
		}
	}
	for j := from - 1; j >= 0 && j >= from-5 && len(before) < reach; j-- {
		if Content(ws[j]) {
			before = append(before, ws[j].key)
		}
	}
	return after, before
}

var negations = func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for lang, words := range map[string]string{
		"eng": `not no never none nobody nothing neither nor without cannot cant dont doesnt didnt wont isnt arent wasnt werent hardly
			unable lack lacks lacked lacking fail fails failed unlikely false impossible absence absent non ineffective incapable unrelated inaccurate insufficient`,
		"deu": `nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder kaum nirgends`,
		"fra": `pas jamais aucun aucune rien sans ni personne`,
		"spa": `no nunca jamás ningún ninguna ninguno nada nadie sin ni tampoco`,
		"por": `não nunca jamais nenhum nenhuma nada ninguém sem nem`,
		"rus": `не нет ни никогда никто ничто ничего без нельзя`,
		"ara": `لا لم لن ليس ليست بدون دون غير ما`,
		"hin": `नहीं नही न मत बिना कभी_नहीं`,
	} {
		m[lang] = set(words)
	}
	return m
}()

// prefixed returns the words that negate a word of others by a prefix: "unsafe", where the others have "safe".
func prefixed(ws, others []Word) []Negation {
	var out []Negation
	for i, w := range ws {
		rest := ""
		for _, p := range prefixes {
			if r, ok := strings.CutPrefix(w.Text, p); ok && (len(r) > 4 || len(r) == 4 && (p == "un" || p == "non") && r != "less") {
				if has(others, r) {
					rest = r
				}
			}
		}
		if rest == "" || has(others, w.Text) || has(ws, rest) {
			continue
		}
		out = append(out, Negation{Start: w.Start, End: w.End, Word: i, Negated: []string{Key(rest)}, Near: []string{Key(rest)}})
	}
	return out
}

// prefixes negate what follows them.
var prefixes = []string{"un", "in", "im", "ir", "il", "non", "dis", "des", "de", "не"}

// kin reports whether two keys are of the same word: "open" and "opens".
func kin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) > 3 && strings.HasPrefix(b, a)
}
