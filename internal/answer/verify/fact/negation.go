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
		if content(ws[j]) {
			after = append(after, Key(ws[j].Text))
		}
	}
	for j := from - 1; j >= 0 && j >= from-5 && len(before) < reach; j-- {
		if content(ws[j]) {
			before = append(before, Key(ws[j].Text))
		}
	}
	return after, before
}

func content(w Word) bool { return len(w.Text) > 3 && !fillers[w.Text] || w.Upper && !w.First }

// Key returns the beginning of a word, by which forms of the same word are recognized.
func Key(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "n't")
	n := 0
	for i := range word {
		if n == 5 {
			return word[:i]
		}
		n++
	}
	return word
}

var fillers = set(`that this with from have been were will would could should there their they them then than also very more most some such
	into does what when which while being these those over about after before only just because dass wird werden wurde sind auch noch eine einen
	einer einem nach dans avec pour plus sont cette être está para como esta este muy mais foram como uma para`)

var negations = func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for lang, words := range map[string]string{
		"eng": `not no never none nobody nothing neither nor without cannot cant dont doesnt didnt wont isnt arent wasnt werent hardly
			unable lack lacks lacked lacking fail fails failed unlikely false impossible absence absent non`,
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

// Contrary is a difference between a sentence and its source in what they deny.
type Contrary struct {
	Start, End int    // of the negation, in the sentence or, with Missing, in the source
	Missing    bool   // the source denies, the sentence does not
	Key        string // of the word that is denied on one side only; "" when no word was found on both
}

// Sentence is what Opposed compares.
type Sentence struct {
	Words     []Word
	Negations []Negation
}

// Opposed compares the negations of a sentence with those of the sentences near to it, the nearest first. A negation of the
// sentence is returned if none of theirs is about the same words and they either have those words or have no negation at all. A
// negation of the nearest one is missing if the sentence has the word that it negates and does not negate it.
func Opposed(s Sentence, near []Sentence) []Contrary {
	var out []Contrary
	for _, n := range s.Negations {
		key, found, denied, any := "", false, false, false
		for _, in := range near {
			k, f, d := sought(n.Near, in)
			if f && !found {
				key, found = k, true
			}
			denied = denied || d
			any = any || len(in.Negations) > 0
		}
		if !denied && (found || !any) {
			out = append(out, Contrary{Start: n.Start, End: n.End, Key: key})
		}
	}
	if len(near) == 0 {
		return out
	}
	for _, n := range near[0].Negations {
		if key, found, _ := sought(n.Negated, s); found && !deniedIn(n.Near, s) {
			out = append(out, Contrary{Start: n.Start, End: n.End, Missing: true, Key: key})
		}
	}
	return out
}

// sought returns the first of the keys that a sentence has, and reports whether that sentence has a negation.
func sought(keys []string, in Sentence) (key string, found, denied bool) {
	for _, k := range keys {
		if slices.ContainsFunc(in.Words, func(w Word) bool { return kin(Key(w.Text), k) }) {
			return k, true, len(in.Negations) > 0
		}
	}
	return "", false, false
}

// deniedIn reports whether a negation of s is about one of the words.
func deniedIn(keys []string, s Sentence) bool {
	for _, n := range s.Negations {
		for _, k := range n.Near {
			if slices.ContainsFunc(keys, func(x string) bool { return kin(x, k) }) {
				return true
			}
		}
	}
	return false
}

// kin reports whether two keys are of the same word: "open" and "opens".
func kin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) > 3 && strings.HasPrefix(b, a)
}
