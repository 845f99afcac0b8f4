package fact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Content reports whether a word means something by itself.
func Content(w Word) bool {
	r, size := utf8.DecodeRuneInString(w.Text)
	switch {
	case fillers[w.Text]:
		return false
	case dense(r):
		return true
	case unicode.Is(unicode.Hangul, r):
		return len(w.Text) > size
	}
	return utf8.RuneCountInString(w.Text) > 2 || w.Upper && !w.First
}

// Key returns the beginning of a word, by which forms of the same word are recognized.
func Key(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "n't")
	if base, ok := irregular[word]; ok {
		word = base
	}
	n := 0
	for i := range word {
		if n == 5 {
			word = word[:i]
			break
		}
		n++
	}
	if rest, ok := strings.CutSuffix(word, "y"); ok && len(rest) > 2 {
		return rest + "i" // apply, applies
	}
	return word
}

// irregular maps forms of English verbs that do not begin like the verb to it.
var irregular = func() map[string]string {
	m := map[string]string{}
	for entry := range strings.FieldsSeq(`lose=lost win=won pay=paid buy=bought bring=brought think=thought teach=taught catch=caught
		seek=sought sell=sold tell=told find=found bind=bound rise=rose,risen fall=fell,fallen grow=grew,grown know=knew,known
		throw=threw,thrown fly=flew,flown draw=drew,drawn write=wrote,written drive=drove,driven speak=spoke,spoken break=broke,broken
		steal=stole,stolen choose=chose,chosen freeze=froze,frozen wear=wore,worn bear=bore,borne tear=tore,torn take=took,taken
		shake=shook,shaken give=gave,given come=came run=ran swim=swam,swum sing=sang,sung drink=drank,drunk begin=began,begun
		shrink=shrank,shrunk sink=sank,sunk lead=led feed=fed meet=met keep=kept leave=left feel=felt mean=meant build=built send=sent
		spend=spent lend=lent hold=held stand=stood understand=understood make=made say=said lay=laid lie=lay,lain see=saw,seen
		eat=ate,eaten get=got,gotten sit=sat hear=heard fight=fought strike=struck swing=swung stick=stuck hide=hid,hidden
		forget=forgot,forgotten forbid=forbade,forbidden shine=shone shoot=shot hang=hung wake=woke,woken go=went,gone`) {
		base, forms, _ := strings.Cut(entry, "=")
		for f := range strings.SplitSeq(forms, ",") {
			m[f] = base
		}
	}
	return m
}()

var fillers = set(`the and for are was has had can may its his her our but who you all any one out not yet now how why did few own per via
	der die das und ein von mit aus bei den dem des ist war sie wir ihr als auf les une est sur par qui que son ses aux los las del con sus dos
	uma com seu sua как что это для при или был над под its she him hat that this with from have been were will would could should there their they them then than also very more most some such
	into does what when which while being these those over about after before only just because dass wird werden wurde sind auch noch eine einen
	einer einem nach dans avec pour plus sont cette être está para como esta este muy mais foram como uma para`)

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

// Contrary is a difference between a sentence and its source in what they deny.
type Contrary struct {
	Start, End int    // of the negation, in the sentence or, with Missing, in the source
	Missing    bool   // the source denies, the sentence does not
	Key        string // of the word that is denied on one side only; "" when no word was found on both
}

// Sentence is what Contrast compares.
type Sentence struct {
	Lang      string
	Words     []Word
	Negations []Negation
}

// opposed compares the negations of a sentence with those of the sentence of the sources that supports it otherwise. A negation is
// returned if the other one has none about the same words, and has those words. One of the sentence is also returned if
// the source has no negation at all. Negations of the words in agreed do not count.
func opposed(s, source Sentence, agreed map[string]bool) []Contrary {
	mine := slices.Concat(s.Negations, prefixed(s.Words, source.Words))
	theirs := slices.Concat(source.Negations, prefixed(source.Words, s.Words))
	settled := func(n Negation) bool {
		return slices.ContainsFunc(n.Negated, func(key string) bool { return agreed[key] })
	}
	var out []Contrary
	for _, n := range mine {
		if settled(n) || slices.ContainsFunc(theirs, func(m Negation) bool { return n.denies(m, source) }) {
			continue
		}
		key, found := sought(n.Near, source)
		if found || len(theirs) == 0 {
			out = append(out, Contrary{Start: n.Start, End: n.End, Key: key})
		}
	}
	for _, m := range theirs {
		if settled(m) || slices.ContainsFunc(mine, func(n Negation) bool { return m.denies(n, s) }) {
			continue
		}
		if key, found := m.lost(s, source); found {
			out = append(out, Contrary{Start: m.Start, End: m.End, Missing: true, Key: key})
		}
	}
	return out
}

// Holds reports whether the words hold a form of a word.
func Holds(ws []Word, w Word) bool {
	return slices.ContainsFunc(ws, func(o Word) bool { return kin(o.key, w.key) })
}

// lost reports whether a sentence without the negation n of a source is about the same: it has the word that is negated, which
// the source does not also have elsewhere, or, where it may have another word for it, most of those around.
func (n Negation) lost(s, source Sentence) (key string, found bool) {
	if key, found = sought(n.Negated, s); found {
		times := 0
		for _, w := range source.Words {
			if kin(w.key, key) {
				times++
			}
		}
		return key, times < 2
	}
	has := 0
	for _, k := range n.Near {
		if _, found := sought([]string{k}, s); found {
			has++
		}
	}
	return "", has >= 2 && has+1 >= len(n.Near)
}

// denies reports whether n, of a sentence, and m, of another one, are about the same: one likely negates a word that stands near
// the other. Where the other sentence lacks the word that n negates, any word near both is enough.
func (n Negation) denies(m Negation, other Sentence) bool {
	if shared(n.Negated, m.Near) || shared(m.Negated, n.Near) {
		return true
	}
	_, found := sought(n.Negated, other)
	return !found && shared(n.Near, m.Near)
}

// Place is a part of a sentence.
type Place struct{ Start, End int }

// Neighbours reports whether a word of content beside one place also stands beside a place of other words.
func Neighbours(ws []Word, start, end int, others []Word, from, to int) bool {
	return shared(beside(ws, start, end), beside(others, from, to))
}

// beside returns the keys of the words of content around a place.
func beside(ws []Word, start, end int) []string {
	first := slices.IndexFunc(ws, func(w Word) bool { return w.End > start })
	last := first
	for last+1 < len(ws) && ws[last+1].Start < end {
		last++
	}
	after, before := around(ws, first, last)
	return slices.DeleteFunc(slices.Concat(after, before), IsUnit)
}

// sought returns the first of the keys that a sentence has.
func sought(keys []string, in Sentence) (key string, found bool) {
	for _, k := range keys {
		if slices.ContainsFunc(in.Words, func(w Word) bool { return kin(w.key, k) }) {
			return k, true
		}
	}
	return "", false
}

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

func has(ws []Word, word string) bool {
	return slices.ContainsFunc(ws, func(w Word) bool { return w.Text == word })
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
