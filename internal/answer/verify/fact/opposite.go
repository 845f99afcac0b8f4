package fact

import (
	"slices"
	"strings"
)

// Polar is a word with an opposite: "rises", "lower", "north".
type Polar struct {
	Start, End int
	Word       int
	Pair       int      // which pair of opposites
	Second     bool     // it is of the second side of the pair, or of the first and negated
	Near       []string // keys of the words of content around it
	key        string   // its own
}

// polars returns the words of a sentence that have an opposite. A negation turns one into its opposite.
func polars(s Sentence) []Polar {
	known := opposites[s.Lang]
	if known == nil {
		return nil
	}
	var out []Polar
	for i, w := range s.Words {
		side, ok := known.find(w.Text)
		if !ok {
			continue
		}
		after, before := around(s.Words, i, i)
		p := Polar{Start: w.Start, End: w.End, Word: i, Pair: side.pair, Second: side.second, Near: slices.Concat(after, before), key: w.key}
		for _, n := range s.Negations {
			if slices.Contains(n.Negated, p.key) {
				p.Second = !p.Second
			}
		}
		out = append(out, p)
	}
	return out
}

// side is one side of a pair of opposites.
type side struct {
	pair   int
	second bool
}

// sides maps words, and beginnings of words, to the side that they are on.
type sides struct{ words, beginnings map[string]side }

func (s *sides) find(word string) (side, bool) {
	if found, ok := s.words[word]; ok {
		return found, true
	}
	for n := len(word); n >= 3; n-- {
		if found, ok := s.beginnings[word[:n]]; ok {
			return found, true
		}
	}
	return side{}, false
}

// opposites holds the pairs of each language: a pair a line, its sides separated by a slash. A star stands for any ending.
var opposites = func() map[string]*sides {
	out := map[string]*sides{}
	for lang, text := range pairs {
		s := &sides{map[string]side{}, map[string]side{}}
		number := 0
		for line := range strings.Lines(text) {
			first, second, ok := strings.Cut(line, "/")
			if !ok {
				continue
			}
			for i, words := range []string{first, second} {
				for w := range strings.FieldsSeq(words) {
					if beginning, ok := strings.CutSuffix(w, "*"); ok {
						s.beginnings[beginning] = side{number, i == 1}
					} else {
						s.words[w] = side{number, i == 1}
					}
				}
			}
			number++
		}
		out[lang] = s
	}
	return out
}()

var pairs = map[string]string{
	"eng": `
		increas* rise rises rising risen rose grow grows growing grown grew growth gain* more higher greater larger elevat* enhanc* rais* upregulat* accelerat* expand* boost* augment* amplif* promot* activat* stimulat* induc* strengthen* climb* soar* surg* exceed* encourag* facilitat* / decreas* declin* fall falls falling fell fallen drop* reduc* less lower lowers lowered lowering fewer smaller diminish* suppress* inhibit* attenuat* downregulat* slow* shrink* shrank shrunk weaken* impair* block* prevent* lessen* abolish* deplet* retreat* repress* imped* halt* hinder* antagoni* discourag* deactivat* inactivat* downregulation
		warm* heat* hot hotter / cool* cold colder freez*
		positiv* / negativ*
		better best good improv* benefit* / worse worst bad worsen* harm* deteriorat* detriment*
		large big huge major significant* substantial* considerabl* dramatic* / small minor tiny negligibl* trivial* minimal* insignificant*
		susceptib* sensitiv* vulnerab* / resist* toleran* immun*
		allow* permit* enabl* / forbid* prohibit* ban bans banned disallow* disabl*
		open opens opened opening / close closes closed closing shut shuts
		before earlier early / after later late
		north northern / south southern
		east eastern / west western
		left / right
		inside internal* inner / outside external* outer
		old older oldest / new newer newest young younger youngest
		high highest / low lowest
		strong stronger strongest / weak weaker weakest
		fast faster fastest quick* rapid* / slow slower slowest slowly
		long longer longest / short shorter shortest
		accept* approv* / reject* refus*
		win wins won winning / lose loses lost losing
		buy buys bought / sell sells sold
		begin begins began start* / end ends ended stop*
		rich richer wealthy / poor poorer
		legal* lawful* / illegal* unlawful*
		safe safer safely / danger* hazard*
		support* favor* favour* / oppos*
		includ* / exclud*
		maximum maximal* most / minimum least
		male males man men / female females woman women
		alive surviv* / dead died dies
		natural* / man-made artificial* anthropogenic*
		present presence / absent absence
		frequent* often common commonly / rare rarely seldom uncommon*
		easy easier easily / difficult* hard harder
		empty / full
		public* / private*
		maxim* / minim*`,
	"deu": `
		steig* stieg gestiegen wächst wuchs wachsen gewachsen zunehm* zugenommen nahm erhöh* mehr höher* größer* gewinn* verstärk* förder* beschleunig* aktivier* / sink* sank gesunken fällt fiel fallen gefallen abnehm* abgenommen verringer* reduzier* weniger niedriger* geringer* kleiner* verlust* schwäch* hemm* verhinder* verlangsam* deaktivier* senk* vermind*
		warm* wärm* heiß* erwärm* / kalt* kält* kühl* abkühl*
		positiv* / negativ*
		gut gute guten guter gutes besser* beste* verbesser* / schlecht* schlimm* verschlechter*
		groß große großen großer großes / klein kleine kleinen kleiner kleines gering*
		erlaub* gestatt* / verbiet* verboten verbot* untersag*
		öffn* offen geöffnet / schließ* schloss geschlossen zu
		vor früh* / nach spät*
		nord* nörd* / süd*
		ost* öst* / west*
		links / rechts
		hoch hohe hohen hoher höchst* / niedrig* tief*
		stark* / schwach*
		schnell* / langsam*
		alt alte alten alter ältere* / neu neue neuen neuer jung*
		anfang* beginn* begann begonnen start* / end* aufhör*
		annehm* angenommen billig* / ablehn* abgelehnt
		sicher* / gefährlich*
		voll / leer`,
	"fra": `
		augment* hausse* croît croissance croissant grandi* accroî* plus supérieur* élev* renforc* accélér* / diminu* baiss* réduit* réduire réduction moins inférieur* affaibl* ralenti* empêch* inhib*
		chaud* réchauff* / froid* refroidi*
		positif* positiv* / négatif* négativ*
		bon bonne bons bonnes meilleur* amélior* / mauvais* pire* aggrav* détérior*
		grand grande grands grandes / petit*
		autoris* permet* permis* / interdi* défend*
		ouvr* ouvert* / ferm*
		avant / après
		nord / sud
		haut haute hauts hautes / bas basse basses
		fort forte forts fortes / faible*
		rapid* / lent lente lents lentes lentement
		début* commenc* / fin finit termin*
		accept* approuv* / refus* rejet*`,
	"spa": `
		aument* sube* subi* crec* increment* más mayor* superior* elev* aceler* / dismin* baja* reduc* reduj* cae cayó menos menor* inferior* fren* inhib* impid*
		calient* calent* cálid* / fri* enfri*
		positiv* / negativ*
		buen* mejor* / mal mala malo peor* empeor*
		grande* / pequeñ*
		permit* autoriz* / prohíb* prohib*
		abr* abiert* / cierr* cerr*
		antes / después
		norte / sur
		alto alta altos altas / bajo baja bajos bajas
		fuerte* / débil*
		rápid* / lent*
		empez* empiez* comenz* comienz* / termin* acab*
		acept* aprob* / rechaz*`,
	"por": `
		aument* sobe* subi* cresc* mais maior* superior* elev* aceler* / diminu* baix* reduz* cai caiu menos menor* inferior* inib* imped*
		quent* aquec* / fri* esfri* arrefec*
		positiv* / negativ*
		bom boa bons boas melhor* / mau má maus más pior*
		grande* / pequen*
		permit* autoriz* / proíb* proib*
		abr* abert* / fech*
		antes / depois
		norte / sul
		alto alta altos altas / baixo baixa baixos baixas
		forte* / frac*
		rápid* / lent*
		começ* inici* / termin* acab*
		aceit* aprov* / rejeit* recus*`,
	"rus": `
		увелич* рост* раст* вырос* возраст* повыс* повыш* больше выше усил* ускор* / уменьш* сниж* сниз* пада* упал* сократ* сокращ* меньше ниже ослаб* замедл*
		тёпл* тепл* горяч* потепл* / холод* похолод*
		положительн* / отрицательн*
		хорош* лучш* улучш* / плох* худш* ухудш*
		больш* крупн* / маленьк* мал*
		разреш* позвол* / запре*
		откр* / закр*
		до раньше / после позже
		север* / юг* южн*
		высок* / низк*
		сильн* / слаб*
		быстр* / медлен*
		начал* начин* / конч* законч* заверш*
		прин* одобр* / отклон* отверг*`,
}
