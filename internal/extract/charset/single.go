package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// alphabet is an encoding of one byte for each character, with a language that is written in it.
type alphabet struct {
	enc *charmap.Charmap
	// common are the frequent letters of the language, and letters its other ones, in lower case. Those of ASCII are left out.
	common, letters string
}

// Letters of languages that are not written in the Latin script, the frequent ones first.
const (
	russian, russianRest     = "оеаинтсрвлкмдпу", "ёйыцгщзхфэжбьъяюшч"
	ukrainian, ukrainianRest = "оаниіврктесл", "ґєїйцгщзхфжбьяюшчумдп"
	bulgarian, bulgarianRest = "аеиотнрсвлдкпмз", "ъйцгщхфжбьяюшчу"
	serbian, serbianRest     = "аоиенрсјтукдвлпм", "ђљњћџжзбгчшхфц"
	greek, greekRest         = "αοιετσνηυρπκςλμ", "άέήίόύώωβγδζθξφχψϊϋΐΰ"
	hebrew, hebrewRest       = "יהולאתמרבנשד", "גזחטךכםןסעףפץצק"
	arabic, arabicRest       = "اليمنرتبوةدعف", "ءآأؤإئثجحخذزسشصضطظغقكهى\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652پچژگ"
	thai, thaiRest           = "านรอกเงยลมวดทสตป่้ัิีะแ", "ขคฆจฉชซฌญฎฏฐฑฒณถธนบผฝพฟภศษหฬฮฯาำึืุูโใไๅๆ็๊๋์ํ๐๑๒๓๔๕๖๗๘๙"
)

// latin are the letters beyond ASCII of the languages of an encoding, a string for each.
var latin = []struct {
	encs      []*charmap.Charmap
	languages []string
}{
	{[]*charmap.Charmap{charmap.Windows1252, charmap.ISO8859_15}, []string{
		"äöüß", "éèàêçôâîùûëïœ", "áéíóúñü", "ãçéáíóâêôõàú", "åäöé", "æøåé", "àèéìòù", "áðéíóúýþæö", "äöå", "éëïóöü", "àçéèíïòóúü",
	}},
	{[]*charmap.Charmap{charmap.Windows1250, charmap.ISO8859_2}, []string{
		"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß",
	}},
	{[]*charmap.Charmap{charmap.Windows1254, charmap.ISO8859_9}, []string{"çğıöşüâî"}},
	{[]*charmap.Charmap{charmap.Windows1257, charmap.ISO8859_13, charmap.ISO8859_4}, []string{"ąčęėįšųūž", "āčēģīķļņšūž", "äöüõšž"}},
	{[]*charmap.Charmap{charmap.Windows1258}, []string{"ăâđêôơưàáãèéìíòóõùúý\u0300\u0301\u0303\u0309\u0323"}},
}

// single are the encodings of one byte with their languages; of equal ones the first wins.
var single = func() (all []alphabet) {
	for _, l := range latin {
		for _, enc := range l.encs {
			for _, letters := range l.languages {
				all = append(all, alphabet{enc, letters, ""})
			}
		}
	}
	for _, enc := range []*charmap.Charmap{charmap.Windows1251, charmap.KOI8R, charmap.ISO8859_5, charmap.CodePage866} {
		all = append(all, alphabet{enc, russian, russianRest})
	}
	for _, enc := range []*charmap.Charmap{charmap.Windows1251, charmap.KOI8U, charmap.ISO8859_5} {
		all = append(all, alphabet{enc, ukrainian, ukrainianRest})
	}
	for _, enc := range []*charmap.Charmap{charmap.Windows1251, charmap.ISO8859_5} {
		all = append(all, alphabet{enc, bulgarian, bulgarianRest}, alphabet{enc, serbian, serbianRest})
	}
	return append(
		all,
		alphabet{charmap.Windows1253, greek, greekRest}, alphabet{charmap.ISO8859_7, greek, greekRest},
		alphabet{charmap.Windows1255, hebrew, hebrewRest}, alphabet{charmap.ISO8859_8, hebrew, hebrewRest},
		alphabet{charmap.Windows1256, arabic, arabicRest}, alphabet{charmap.ISO8859_6, arabic, arabicRest},
		alphabet{charmap.Windows874, thai, thaiRest},
	)
}()

// What a character is worth. A text of common letters alone scores 2.
const (
	commonLetter = 2.0
	otherLetter  = 1.0
	capital      = 0.8  // of the worth of the small letter
	alone        = 0.3  // a letter by itself that is no common small one
	typographic  = 0.5  // quotation marks, dashes and the like between words
	foreign      = -1.5 // a letter of no language at hand
	misplaced    = -2.0 // a sign within a word, a capital behind a small letter, scripts mixed within a word
	impossible   = -10.0
)

// marks are the signs beyond ASCII that texts of every language have.
const marks = "“”„‚‘’«»‹›–—…•·°§€£©®™№¿¡ªº²³½×±ʼ\u00a0\u00ad\u200e\u200f،؛؟־"

// score returns the mean worth of the characters beyond ASCII if a text is in this encoding and language.
func (a *alphabet) score(data []byte) float64 {
	worth := a.worths()
	sum, n := 0.0, 0
	var last class
	for i, c := range data {
		w := &worth[c]
		if c >= utf8.RuneSelf {
			n++
			sum += w.value
			next := class{}
			if i+1 < len(data) {
				next = worth[data[i+1]].class
			}
			switch {
			case misfits(last, w.class, next):
				sum += misplaced
			case !last.letter && !next.letter && w.value > alone && (w.upper || w.value == otherLetter): // more likely a sign, such as ©
				sum -= w.value - alone
			}
		}
		last = w.class
	}
	if n == 0 {
		return impossible
	}
	return sum / float64(n)
}

// class is what matters of a character beside its neighbours.
type class struct {
	high, letter, latin, upper, lower, apostrophe bool
}

// misfits reports whether a character beyond ASCII does not go with its neighbours.
func misfits(last, c, next class) bool {
	if !c.letter {
		return c.high && !c.apostrophe && last.letter && next.letter
	}
	return last.letter && (last.latin != c.latin || c.upper && last.lower) || next.letter && !next.high && next.latin != c.latin
}

// worth is the worth of a byte in an encoding and language.
type worth struct {
	class
	value float64
}

func (a *alphabet) worths() *[256]worth {
	var all [256]worth
	for i := range all {
		r := a.enc.DecodeByte(byte(i))
		low := unicode.ToLower(r)
		w := &all[i]
		w.high = i >= utf8.RuneSelf
		w.letter = unicode.IsLetter(r) || unicode.IsMark(r)
		w.latin = unicode.Is(unicode.Latin, r)
		w.upper, w.lower = unicode.IsUpper(r), unicode.IsLower(r)
		w.apostrophe = r == '’' || r == '\u00ad' || r == 'ʼ' || r == '-'
		switch {
		case r == utf8.RuneError, unicode.IsControl(r):
			w.value = impossible
		case strings.ContainsRune(a.common, low):
			w.value = commonLetter
		case strings.ContainsRune(a.letters, low):
			w.value = otherLetter
		case w.letter:
			w.value = foreign
		case strings.ContainsRune(marks, r):
			w.value = typographic
		default:
			w.value = foreign
		}
		if w.upper && w.value > 0 {
			w.value *= capital
		}
	}
	return &all
}
