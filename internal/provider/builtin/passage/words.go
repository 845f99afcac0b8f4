package passage

import (
	"strings"

	"quarry/internal/clip"
)

// vocabulary is the words of a language by which pieces are told apart. The empty one tells nothing.
type vocabulary struct {
	pronouns []string // at the start of a sentence, for what was named before
	pointers []string // the same, if a word of verbs follows
	verbs    []string
	nothing  []string // what follows a pronoun that stands for nothing: "it is possible"
	sending  []string // how sentences begin that send readers elsewhere
	visiting []string // the same, if an address follows
	pointing []string // the same, if the sentence is short
	setting  []string // how sentences begin that give the value of what was named before
	counts   bool     // a number with a full stop at the start of a line counts an item, and is no ordinal
}

// vocabularies by language, ISO 639-3.
var vocabularies = map[string]vocabulary{
	"eng": {
		counts:   true,
		pronouns: list("he she it they him them his her its their"),
		pointers: list("this that these those such"),
		verbs:    list("is was are were will would can could may might must has had have does did means makes made allows causes gives became led includes"),
		nothing:  phrases("it is possible|it is important|it is recommended|it is necessary|it is best|it is not possible|it is also possible|it is likely|it is known|it is a good idea|it is better|it takes|it can take|it may take|it can be|it may be"),
		sending: phrases("see also|see below|see above|see the|see section|see chapter|refer to|read more|learn more|find out more|click here|watch the video|watch this|" +
			"for more|for further information|for details|subscribe|sign up|follow us|share this|all rights reserved|copyright|©|(c)|last updated|last modified|skip to|" +
			"table of contents|back to top|edit this page|this page was last|was this page helpful|we use cookies|download the app"),
		visiting: list("visit see go check"),
		pointing: phrases("see|please see|also see|consult|please refer|also check out|please read"),
		setting:  phrases("the default is|the default value is|default is|default value is|defaults to|by default it|the default for this|default:"),
	},
	"deu": {
		pronouns: list("er sie es ihn ihm ihr ihre ihren ihrem ihrer sein seine seinen seinem seiner diese dieser dieses"),
		verbs:    list("ist war sind waren wird werden wurde wurden kann können hat hatte haben darf muss soll"),
		pointers: list("das dies"),
		nothing:  phrases("es ist möglich|es ist wichtig|es ist nötig|es gibt|es wird empfohlen|es empfiehlt sich"),
		sending: phrases("siehe auch|siehe oben|siehe unten|siehe|weitere informationen|mehr erfahren|mehr dazu|weiterlesen|hier klicken|klicken sie hier|" +
			"alle rechte vorbehalten|zuletzt geändert|inhaltsverzeichnis|video ansehen|sehen sie sich das video|newsletter"),
		visiting: list("besuchen besuche"),
	},
	"fra": {
		counts:   true,
		pronouns: list("il elle ils elles celui-ci celle-ci ceux-ci celles-ci"),
		nothing:  phrases("il est possible|il est important|il est recommandé|il est nécessaire|il faut|il y a|il existe|il s'agit"),
		sending: phrases("voir aussi|voir également|en savoir plus|lire la suite|cliquez ici|pour plus d'informations|pour plus de détails|tous droits réservés|" +
			"dernière mise à jour|table des matières|regardez la vidéo|abonnez-vous"),
		visiting: list("visitez consultez"),
	},
	"spa": {
		counts:   true,
		pronouns: list("él ella ellos ellas éste ésta éstos éstas"),
		sending: phrases("véase también|ver también|vea también|más información|para más información|leer más|saber más|haga clic aquí|todos los derechos reservados|" +
			"última actualización|tabla de contenidos|vea el vídeo|mira el vídeo|suscríbete"),
		visiting: list("visite visita consulte"),
	},
	"por": {
		counts:   true,
		pronouns: list("ele ela eles elas"),
		sending: phrases("ver também|veja também|saiba mais|leia mais|clique aqui|para mais informações|todos os direitos reservados|última atualização|" +
			"assista ao vídeo|inscreva-se"),
		visiting: list("visite consulte"),
	},
	"ita": {
		counts:   true,
		pronouns: list("egli lui lei esso essa essi esse loro"),
		sending: phrases("vedi anche|per saperne di più|leggi di più|leggi tutto|clicca qui|per ulteriori informazioni|per maggiori informazioni|tutti i diritti riservati|" +
			"ultimo aggiornamento|guarda il video|iscriviti"),
		visiting: list("visita visitate"),
	},
	"nld": {
		counts:   true,
		pronouns: list("hij zij ze hem hen hun"),
		sending:  phrases("zie ook|lees meer|meer informatie|klik hier|voor meer informatie|alle rechten voorbehouden|laatst bijgewerkt|inhoudsopgave|bekijk de video"),
		visiting: list("bezoek ga"),
	},
	"rus": {
		pronouns: list("он она оно они его её ее их"),
		sending:  phrases("см. также|смотрите также|см.|подробнее|узнать больше|узнайте больше|нажмите здесь|читать далее|все права защищены|содержание|посмотрите видео"),
		visiting: list("посетите"),
	},
}

func list(words string) []string { return strings.Fields(words) }

func phrases(all string) []string { return strings.Split(all, "|") }

// opening is how much of a sentence is looked at.
const opening = 80

// leans reports whether a sentence begins with a pronoun whose noun is before it.
func (v vocabulary) leans(text string) bool {
	words := strings.Fields(strings.ToLower(clip.Head(text, opening)))
	if len(words) < 2 || begins(words, v.nothing) {
		return false
	}
	first, second := plain(words[0]), plain(words[1])
	return has(v.pronouns, first) || has(v.pointers, first) && has(v.verbs, second)
}

// sends reports whether a sentence sends readers elsewhere.
func (v vocabulary) sends(text string) bool {
	words := strings.Fields(strings.ToLower(clip.Head(text, opening)))
	if len(words) == 0 {
		return false
	}
	if begins(words, v.pointing) && few(text, fewPointing) {
		return true
	}
	return begins(words, v.sending) || has(v.visiting, plain(words[0])) && address(strings.ToLower(text))
}

// fewPointing is how many words a sentence has at most that only points elsewhere.
const fewPointing = 16

// sets reports whether a sentence gives the value of what was named before it.
func (v vocabulary) sets(text string) bool {
	return begins(strings.Fields(strings.ToLower(clip.Head(text, opening))), v.setting)
}

// address reports whether a text in lower case names a page of the web.
func address(text string) bool {
	for _, sign := range []string{"http://", "https://", "www.", ".com", ".org", ".net", "website", "web site", "our site", "our page", "homepage"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// begins reports whether words begin with one of the phrases.
func begins(words, phrases []string) bool {
	for _, p := range phrases {
		want := strings.Fields(p)
		if len(words) < len(want) {
			continue
		}
		same := true
		for i, w := range want {
			same = same && (words[i] == w || plain(words[i]) == w)
		}
		if same {
			return true
		}
	}
	return false
}

func has(all []string, word string) bool {
	for _, w := range all {
		if w == word {
			return true
		}
	}
	return false
}

// plain returns a word without what stands around it.
func plain(word string) string { return strings.Trim(word, `.,;:!?"'“”‘’«»()[]*_`+"`") }
