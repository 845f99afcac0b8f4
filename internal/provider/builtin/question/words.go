package question

import "regexp"

// asking holds the words of a language by which questions and their answers show their type.
type asking struct {
	and, others                                     []string // "and" joins two questions; others ask for anything
	numbers, moments, names, places, manners        []string
	reasons, verdicts                               []string
	whats                                           []string // "what" and "which", whose nouns show the type
	numberNouns, momentNouns, nameNouns, placeNouns []string
	mannerNouns                                     []string
	preps, of                                       []string // prepositions; those of a property
	defines                                         *regexp.Regexp

	figures, causes, judges, advice []string // in sentences: numbers, reasons, yes and no, what can be done
	orders, orderMarks, closed      []string // verbs that begin an instruction; words behind any other such verb; words that are none
	ordering                        *regexp.Regexp
	nots                            []string // by which a question asks what not to do, and an instruction forbids
	copulas, articles               []string
}

// askers holds the languages whose questions are distinguished. Questions in other languages ask for anything, and end only at
// question marks.
var askers = map[string]asking{
	"eng": {
		and: words("and"), names: words("who whom whose who's"), moments: words("when"), places: words("where"),
		numbers:     []string{"how many", "how much", "how long", "how old", "how far", "how big", "how large", "how tall", "how high", "how often", "how fast", "how deep", "how wide", "how heavy"},
		manners:     []string{"how to", "how do", "how can", "how could", "how should", "how would", "how might", "how must"},
		reasons:     []string{"why", "how come"},
		others:      words("what which why how does did is are was were can could should will would has have do"),
		verdicts:    words("is are was were do does did can could should will would has have had must may am isn't aren't doesn't don't can't"),
		whats:       words("what which what's"),
		numberNouns: words("number percent percentage amount proportion share size age height length width depth distance temperature speed price cost population limit maximum minimum rate duration weight"),
		momentNouns: words("year years date day month century decade time"),
		nameNouns:   words("person player actor actress king queen president author scientist composer singer company team country"),
		placeNouns:  words("city town village place location region state continent river street folder directory path"),
		mannerNouns: words("command commands"),
		preps:       words("in on at for with by from to of under over near between within without into during through across as about"),
		of:          words("of"),
		defines:     regexp.MustCompile(`(?i)^(?:so |and )?(?:what(?:'s|’s| is| are| was| were)(?: an?| the)? (.+)|what does (.+) (?:mean|stand for)|what is meant by (?:an? |the )?(.+)|define (?:an? |the )?(.+)|who(?: is| was| are| were) ((?-i:\p{Lu}).+))$`),
		figures:     words("one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million billion half third quarter twice several many few"),
		causes:      []string{"because", "since", "due to", "so that", "in order", "as a", "therefore", "thus", "caused", "causes", "reason", "reasons", "owing to", "otherwise", "prevents", "avoid"},
		judges:      words("yes no not never cannot can't can may must only always isn't aren't doesn't don't without allowed supported supports requires required possible impossible unable able incompatible compatible unsupported enabled disabled ignored neither nor works still default won't isn't wasn't"),
		advice:      []string{"you can", "you should", "you must", "you need", "you may", "by using", "can use", "can be", "use the", "should be"},
		orders:      words("use run set call add install open click create pass type select press go choose enter specify configure enable disable make write define import export start stop restart remove delete edit copy download upload build check ensure put place wrap return try see avoid apply turn keep take give let do read invoke execute"),
		orderMarks:  words("the a an your this that these it them all any each its one two both their"),
		closed:      words("the a an this that these those it he she they we you i in on at for with by from to of is are was were be been and or but if when while as what which who how why where because there here all any each some no not only both also such many most much more unlike like during after before since until although though under over into about between through within without has have had do does did can could will would may might must should than then so his her its their our my your whose whether"),
		nots:        []string{"not", "never", "don't", "shouldn't", "mustn't", "can't", "cannot", "do not"},
		copulas:     words("is are was were means mean denotes denote describes refers provides represents stands"),
		articles:    words("a an the one any to"),
	},
	"deu": {
		and: words("und sowie"), names: words("wer wen wem wessen"), moments: words("wann"), places: words("wo wohin woher"),
		numbers:  []string{"wie viele", "wie viel", "wieviel", "wieviele", "wie lange", "wie alt", "wie hoch", "wie weit", "wie groß", "wie oft"},
		manners:  []string{"wie kann", "wie können", "wie muss", "wie soll", "wie lässt", "wie wird", "wie geht"},
		reasons:  words("warum wieso weshalb"),
		others:   words("was wo wohin woher warum wieso weshalb wie welche welcher welches welchen womit wodurch"),
		verdicts: words("ist sind war waren hat haben kann können muss müssen darf dürfen soll wird werden gibt"),
		whats:    words("welches welche welcher welchem welchen"), momentNouns: words("jahr datum tag monat jahrhundert jahrzehnt jahren"),
		preps:   words("in im an am auf aus bei beim mit nach von vom zu zum zur für über unter durch zwischen"),
		of:      words("von vom des der"),
		defines: regexp.MustCompile(`(?i)^(?:was|wer) (?:ist|sind|war|waren|bedeutet|bedeuten)(?: eine?| die| der| das)? (.+)$`),
		figures: words("eins ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend million millionen hälfte drittel viertel mehrere viele"),
		causes:  words("weil da damit wegen deshalb daher aufgrund sodass denn grund"),
		judges:  words("ja nein nicht kein keine nie nur immer muss darf kann möglich"),
		advice:  []string{"können sie", "kannst du", "man kann", "kann man", "müssen sie", "sollten sie"}, ordering: regexp.MustCompile(`^\p{Lu}\p{L}+en Sie\b`),
		copulas: words("ist sind war waren bezeichnet bedeutet nennt"), articles: words("ein eine einer eines der die das"),
	},
	"fra": {
		and: words("et"), names: words("qui"), moments: words("quand"), places: words("où"),
		numbers: words("combien"), manners: []string{"comment"}, reasons: words("pourquoi"), others: words("que quoi quel quelle quels quelles où pourquoi comment"),
		whats: words("quel quelle quels quelles"), momentNouns: words("année date jour mois siècle années"),
		preps: words("dans en à au aux sur de du des par pour avec sous chez vers entre"), of: words("de du des d"),
		defines: regexp.MustCompile(`(?i)^(?:qu['’]est-ce qu(?:e|['’])|que signifie|que veut dire|qui est) ?(?:une? |le |la |les |l['’])?(.+)$`),
		causes:  []string{"parce que", "parce qu'il", "car", "afin de", "pour que", "en raison", "puisque", "donc"},
		judges:  words("oui non pas jamais seulement toujours doit peut possible"),
		advice:  []string{"vous pouvez", "il suffit", "il faut", "on peut"}, ordering: regexp.MustCompile(`^\p{Lu}\p{L}+ez\b`),
		copulas: words("est sont était étaient désigne désignent signifie"), articles: words("un une le la les l'un"),
	},
	"spa": {
		and: words("y e"), names: words("quién quiénes"), moments: words("cuándo"), places: words("dónde adónde"),
		numbers: words("cuánto cuánta cuántos cuántas"), manners: words("cómo"), reasons: []string{"por qué"}, others: words("qué cuál cuáles dónde adónde cómo"),
		whats: words("qué cuál"), momentNouns: words("año fecha día mes siglo años"),
		preps: words("en a al de del por para con sobre bajo entre desde hacia"), of: words("de del"),
		defines: regexp.MustCompile(`(?i)^¿?(?:qué|quién) (?:es|son|fue|era|significa)(?: una?| el| la| los| las)? (.+)$`),
		causes:  []string{"porque", "debido a", "ya que", "para que", "puesto que"},
		judges:  words("sí no nunca solo sólo siempre debe puede posible"),
		advice:  []string{"puede", "puedes", "hay que", "se puede", "debe"},
		copulas: words("es son fue era eran significa designa"), articles: words("un una el la los las"),
	},
	"por": {
		and: words("e"), names: words("quem"), moments: words("quando"), places: words("onde aonde"),
		numbers: words("quanto quanta quantos quantas"), manners: words("como"), reasons: []string{"por que"}, others: words("qual quais onde como"),
		whats: words("que qual"), momentNouns: words("ano data dia mês século anos"),
		preps: words("em no na nos nas a ao à de do da dos das por para com sobre entre desde"), of: words("de do da dos das"),
		defines: regexp.MustCompile(`(?i)^(?:o que|quem) (?:é|são|foi|era|significa)(?: uma?| o| a| os| as)? (.+)$`),
		causes:  []string{"porque", "devido a", "devido ao", "pois", "para que", "já que"},
		judges:  words("sim não nunca só somente sempre deve pode possível"), advice: []string{"você pode", "pode", "deve", "é preciso"},
		copulas: words("é são foi era eram significa"), articles: words("um uma o a os as"),
	},
	"ita": {
		and: words("e ed"), names: words("chi"), moments: words("quando"), places: words("dove"),
		numbers: words("quanto quanta quanti quante"), manners: words("come"), reasons: words("perché"), others: words("quale quali dove come perché"),
		whats: words("quale quali che"), momentNouns: words("anno data giorno mese secolo anni"),
		preps: words("in nel nella nei nelle a al alla di del della dei delle da dal per con su tra fra"), of: words("di del della dei delle"),
		defines: regexp.MustCompile(`(?i)^(?:che cos['’]è|cos['’]è|cosa è|che cosa è|che cosa sono|cosa sono|chi è|chi era|cosa significa)(?: una?| il| lo| la| i| gli| le)? (.+)$`),
		causes:  []string{"perché", "poiché", "a causa", "affinché", "dato che"},
		judges:  words("sì no non mai solo sempre deve può possibile"), advice: []string{"si può", "puoi", "può", "bisogna", "è possibile"},
		copulas: words("è sono era erano fu significa"), articles: words("un uno una il lo la i gli le"),
	},
	"nld": {
		and: words("en"), names: words("wie wiens"), moments: words("wanneer"), places: words("waar"),
		numbers: []string{"hoeveel", "hoe lang", "hoe oud", "hoe groot", "hoe ver", "hoe vaak"}, manners: []string{"hoe kan", "hoe kun", "hoe moet", "hoe maak", "hoe stel"}, reasons: words("waarom"),
		others: words("wat waar waarom hoe welke welk"),
		whats:  words("welk welke"), momentNouns: words("jaar datum dag maand eeuw"),
		preps: words("in op aan bij met van naar voor uit door over onder tussen"), of: words("van"),
		defines: regexp.MustCompile(`(?i)^(?:wat|wie) (?:is|zijn|was|waren|betekent)(?: een| de| het)? (.+)$`),
		causes:  words("omdat doordat want zodat vanwege wegens dus"),
		judges:  words("ja nee niet geen nooit alleen altijd moet mag kan mogelijk"), advice: []string{"je kunt", "kunt u", "u kunt", "je kan", "men kan"},
		copulas: words("is zijn was waren betekent"), articles: words("een de het"),
	},
	"rus": {
		and: words("и"), names: words("кто кого кому кем"), moments: words("когда"), places: words("где куда откуда"),
		numbers: words("сколько"), reasons: words("почему зачем"), others: words("что где куда откуда почему зачем как какой какая какие каком"),
		manners: []string{"как можно", "как мне", "как сделать", "как установить", "как настроить", "как включить"},
		whats:   words("каком какой какая какие какого"), momentNouns: words("году год дата день месяц веке"),
		preps:   words("в во на по из от к с со для о об под над между у"),
		defines: regexp.MustCompile(`(?i)^(?:что такое|кто такой|кто такая|что значит|что означает) (.+)$`),
		causes:  []string{"потому что", "так как", "поскольку", "из-за", "чтобы", "поэтому"},
		judges:  words("да нет не никогда только всегда должен может можно нельзя"), advice: words("можно нужно следует необходимо"),
		copulas: words("— - – это является был была означает"), articles: words("это"),
	},
}
