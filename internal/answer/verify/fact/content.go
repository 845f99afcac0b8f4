package fact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// Holds reports whether the words hold a form of a word.
func Holds(ws []Word, w Word) bool {
	return slices.ContainsFunc(ws, func(o Word) bool { return kin(o.key, w.key) })
}

func has(ws []Word, word string) bool {
	return slices.ContainsFunc(ws, func(w Word) bool { return w.Text == word })
}
