package lang

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// script is a writing system.
type script struct {
	table      *unicode.RangeTable
	code       string                   // of the language that a text in this script is taken for
	candidates map[whatlanggo.Lang]bool // or, if code is empty, the languages to choose from
}

// writes reports whether the script is used for the language.
func (s *script) writes(code string) bool {
	if s.code != "" {
		return s.code == code
	}
	for l := range s.candidates {
		if codes()[l] == code {
			return true
		}
	}
	return false
}

// codes are those of the candidates of all scripts. The detector makes a table of all its languages for each that is asked for.
var codes = sync.OnceValue(func() map[whatlanggo.Lang]string {
	out := map[whatlanggo.Lang]string{}
	for _, s := range scripts {
		for l := range s.candidates {
			out[l] = standard(l.Iso6393())
		}
	}
	return out
})

// scripts are the known scripts. dominant relies on Latin being at index 0 and kana at 6 and 7.
var scripts = []*script{
	{table: unicode.Latin, candidates: latin},
	{table: unicode.Cyrillic, candidates: cyrillic},
	{table: unicode.Han, code: "zho"},
	{table: unicode.Arabic, candidates: arabic},
	{table: unicode.Devanagari, candidates: devanagari},
	{table: unicode.Hangul, code: "kor"},
	{table: unicode.Hiragana, code: "jpn"},
	{table: unicode.Katakana, code: "jpn"},
	{table: unicode.Greek, code: "ell"},
	{table: unicode.Hebrew, candidates: hebrew},
	{table: unicode.Thai, code: "tha"},
	{table: unicode.Bengali, code: "ben"},
	{table: unicode.Tamil, code: "tam"},
	{table: unicode.Telugu, code: "tel"},
	{table: unicode.Kannada, code: "kan"},
	{table: unicode.Malayalam, code: "mal"},
	{table: unicode.Gujarati, code: "guj"},
	{table: unicode.Gurmukhi, code: "pan"},
	{table: unicode.Oriya, code: "ori"},
	{table: unicode.Sinhala, code: "sin"},
	{table: unicode.Georgian, code: "kat"},
	{table: unicode.Armenian, code: "hye"},
	{table: unicode.Khmer, code: "khm"},
	{table: unicode.Lao, code: "lao"},
	{table: unicode.Myanmar, code: "mya"},
	{table: unicode.Ethiopic, candidates: ethiopic},
}

// latin are the candidates for Latin script. The detector knows a dozen more, for which it mistakes short English and
// Spanish texts.
var latin = map[whatlanggo.Lang]bool{
	whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true,
	whatlanggo.Por: true, whatlanggo.Ita: true, whatlanggo.Nld: true, whatlanggo.Pol: true,
	whatlanggo.Tur: true, whatlanggo.Vie: true, whatlanggo.Ind: true, whatlanggo.Ces: true,
	whatlanggo.Swe: true, whatlanggo.Ron: true, whatlanggo.Dan: true, whatlanggo.Nob: true,
	whatlanggo.Fin: true, whatlanggo.Hun: true, whatlanggo.Hrv: true, whatlanggo.Slv: true,
	whatlanggo.Est: true, whatlanggo.Lit: true, whatlanggo.Lav: true,
}

// The candidates for the other scripts leave out the detector's rarer languages, too.
var (
	cyrillic = map[whatlanggo.Lang]bool{
		whatlanggo.Rus: true, whatlanggo.Ukr: true, whatlanggo.Bul: true, whatlanggo.Srp: true, whatlanggo.Bel: true,
	}
	arabic     = map[whatlanggo.Lang]bool{whatlanggo.Arb: true, whatlanggo.Pes: true, whatlanggo.Urd: true}
	hebrew     = map[whatlanggo.Lang]bool{whatlanggo.Heb: true, whatlanggo.Ydd: true}
	ethiopic   = map[whatlanggo.Lang]bool{whatlanggo.Amh: true, whatlanggo.Tir: true}
	devanagari = map[whatlanggo.Lang]bool{whatlanggo.Hin: true, whatlanggo.Mar: true, whatlanggo.Nep: true}
)

// dominant returns the script of most letters in text, or nil if there are none.
func dominant(text string) *script {
	var counts [32]int
	last := 0
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			counts[0]++
			continue
		case r < 0xAA || !unicode.IsLetter(r):
			continue
		}
		// A character of the East Asian scripts carries as much as several Latin letters.
		weight := 1
		if r >= 0x2E80 {
			weight = 2
		}
		if unicode.Is(scripts[last].table, r) {
			counts[last] += weight
			continue
		}
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[i] += weight
				last = i
				break
			}
		}
	}
	best := 0
	for i, n := range counts {
		if n > counts[best] {
			best = i
		}
	}
	if counts[best] == 0 {
		return nil
	}
	// Japanese mixes Han and kana; in Chinese text kana are never a tenth.
	if scripts[best].code == "zho" && (counts[6]+counts[7])*10 >= counts[best] {
		return scripts[6]
	}
	return scripts[best]
}

// functionWords are frequent short words of languages that share their script with others. There are at most 32
// languages, so that a set of them fits a uint32, in which bit i is language i.
var functionWords = [...]struct{ code, words string }{
	{"eng", `the of and to in is that was for with as are were his her this which from by have has had not be been
		what when where who why how did does do can could would an at it they their its you your or into than if i
		my we our on there between after about many much all only any one no per non same each so but such more most
		other also may must should under over both until since within without while because`},
	{"deu", `der die das und in ist nicht ein eine einer eines einem einen mit von zu den dem des für auf im sich auch als war
		wurde werden wird wie was wer wo wann warum welche welcher welches bei nach aus durch oder aber hat haben sind sie er es ich
		wir über vom zum zur viele welchem welchen wofür wozu worum warum wegen unter ihre ihr sein seine man gegen noch`},
	{"fra", `le la les des et est une un du dans que qui pour pas sur avec au aux par ce cette il elle sont été était ont
		quel quelle quels quelles où quand comment pourquoi combien nous vous je leur ou mais son sa ses plus d l qu`},
	{"spa", `el la los las de del y es que en un una por con para se su sus no como más fue era qué quién cuál cuándo dónde
		cómo cuántos cuánto cuántas al lo pero han ha sobre entre también está son o estar debe deben hay muy desde hasta cuando
		donde porque esta este estas estos eso otra otro otras tiene tienen puede pueden ser fueron antes después sin`},
	{"por", `o a os as de do da dos das e é que em um uma por com para se não como mais foi no na nos nas ao à pelo pela
		qual quais quando onde quem são também ou mas seu sua está`},
	{"ita", `il lo la gli le di del della dei delle e è che in un una per con non si come più sono era nel nella da dal alla al
		quale quali quando dove chi perché anche ma ha hanno`},
	{"nld", `de het een en van is niet dat met op te voor zijn was aan ook als er door bij naar wordt werd worden wat wie waar
		wanneer waarom hoe welke uit om of maar hebben heeft ik wij zij`},
	{"swe", `och att det som en ett är på av för med den till inte har de var från om vad vem när varför hur vilken vilket jag
		kan men eller`},
	{"dan", `og at det som en et er på af for med den til ikke har de var fra om hvad hvem hvornår hvorfor hvordan hvilken hvilket
		jeg kan men eller blev efter`},
	{"nob", `og å det som en et er på av for med den til ikke har de var fra om hva hvem når hvorfor hvordan hvilken hvilket jeg
		kan men eller ble etter`},
	{"pol", `w i z na do nie się że jest to o jak po co dla od przez oraz był była są kto kiedy gdzie dlaczego który która które
		czy ale lub`},
	{"tur", `ve bir bu için ile de da olarak daha çok gibi ne kim nerede nasıl hangi kadar olan en ama veya değil
		her ise sonra önce diye ya mı mi mu mü`},
	{"ind", `yang dan di dari untuk dengan pada adalah ini itu dalam tidak ke oleh sebagai apa siapa kapan mana bagaimana atau
		juga akan telah`},
	{"vie", `và là của có không được cho một các trong người này những với từ khi đã ở gì ai đâu nào`},
	{"ces", `a je se v na že s z do to pro jako za nebo ale byl byla jsou co kdo kdy kde jak který která které není od po`},
	{"ron", `și de la în a un o cu pe nu este care din pentru că sunt ce mai cine când unde cum sau dar prin`},
	{"fin", `ja on ei se että oli ovat mutta myös kun tai hän joka mikä kuka missä milloin miksi miten`},
	{"rus", `и в не на что с как по это из был была было были для от к у за его она он они который какой какая какое какие
		когда где кто почему сколько каком каким каких какого какую чего чем кем можно или чем также же бы при об со`},
	{"ukr", `і в на що з як не та це у є був була було від до за його вона він вони який яка коли де хто чому або для`},
	{"bul", `и в на че с като не по това от е са се за да той тя те който каква какво кога къде кой защо или ще към`},
	{"srp", `и у на да је с као не по то од су се за он она они који шта када где ко зашто или што`},
	{"bel", `і ў на што з як не гэта быў была было ад да за яго яна ён яны які калі дзе хто чаму або`},
	{"hin", `है हैं के में की का से को ने और क्या था थे थी पर यह वह कि एक किस कौन कब कहाँ कितने कैसे लिए गया हुआ नहीं इस किया`},
	{"mar", `आहे आणि या ते हे होते मध्ये काय कोण कधी कुठे ला ने चा ची चे च्या नाही`},
	{"nep", `छ हो र को मा ले लाई का के यो त्यो भएको छन् थियो पनि गर्न`},
	{"ara", `في من على إلى عن ما هو هي التي الذي أن كان كانت لم لا مع هذا هذه كم متى أين هل كيف لماذا أو بعد قبل بين`},
	{"fas", `در به از که این را با است برای آن یک چه می شد بود کرد های چرا کجا چگونه یا`},
	{"urd", `ہے کے میں کی کا سے کو نے اور کیا تھا تھے پر یہ وہ کہ ایک کون کب کہاں ہیں`},
	{"hun", `a az és hogy nem is egy van volt ez meg ki mi hol mikor miért hogyan melyik vagy de csak`},
}

// languagesWith maps each function word to the set of languages that have it.
var languagesWith = func() map[string]uint32 {
	m := make(map[string]uint32, 900)
	for i, l := range functionWords {
		for w := range strings.FieldsSeq(l.words) {
			m[w] |= 1 << i
		}
	}
	return m
}()

// letters maps letters that only few of the languages use, except in names and loan words, to the set of these languages.
var letters = func() map[rune]uint32 {
	m := make(map[rune]uint32, 80)
	for i, l := range functionWords {
		for _, r := range map[string]string{
			"ces": "řěů", "deu": "ß", "hun": "őű", "pol": "łśźż", "ron": "țș", "spa": "ñ", "tur": "ığ",
			"vie": "ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
		}[l.code] {
			m[r] |= 1 << i
		}
	}
	return m
}()

// languagesSpelling returns the set of languages that have one of the letters of word, which must be in lower case, for
// their own.
func languagesSpelling(word string) (set uint32) {
	for _, r := range word {
		if r >= utf8.RuneSelf {
			set |= letters[r]
		}
	}
	return set
}

// FunctionWords returns the frequent short words of a language, in lower case, or nil for a language that is detected by
// its script alone.
func FunctionWords(code string) []string {
	for _, l := range functionWords {
		if l.code == code {
			return strings.Fields(l.words)
		}
	}
	return nil
}
