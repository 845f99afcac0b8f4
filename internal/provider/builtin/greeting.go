package builtin

import (
	"slices"
	"strings"

	"quarry/internal/provider/builtin/span"
)

// pleasantries are the words of greetings, thanks and the like by language, in the order in which they are tried.
var pleasantries = []struct {
	language string
	words    []string
}{
	{"eng", strings.Fields("hi hello hey there good morning afternoon evening how are you doing thanks thank so very much ok okay yes no bye goodbye please sorry")},
	{"deu", strings.Fields("hi hallo hey guten tag morgen abend servus moin grüß dich gott danke dir ihnen sehr vielen dank schön ok okay ja nein bitte tschüss wie geht es")},
	{"fra", strings.Fields("bonjour bonsoir salut coucou merci beaucoup bien ça va comment oui non au revoir")},
	{"spa", strings.Fields("hola buenos buenas días tardes noches gracias muchas sí no adiós qué tal cómo estás")},
	{"por", strings.Fields("olá oi bom dia boa tarde noite obrigado obrigada muito sim não tchau tudo bem")},
	{"ita", strings.Fields("ciao salve buongiorno buonasera grazie mille sì no arrivederci come stai")},
	{"nld", strings.Fields("hoi hallo goedemorgen goedemiddag goedenavond dank je wel bedankt ja nee dag")},
	{"rus", strings.Fields("привет здравствуй здравствуйте спасибо добрый день доброе утро вечер да нет пока как дела")},
}

// longGreeting is how many words a greeting has at the most.
const longGreeting = 6

// greets reports whether a message has no words but those of greetings and thanks, and returns its language.
func greets(text string) (language string, ok bool) {
	said := strings.Fields(text)
	if len(said) == 0 || len(said) > longGreeting {
		return "", false
	}
	for _, p := range pleasantries {
		if !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(p.words, span.Plain(w)) }) {
			return p.language, true
		}
	}
	return "", false
}

// nothingAsked returns the answer to a message that asks nothing, in the first of the languages that is known.
func nothingAsked(languages ...string) string {
	for _, l := range languages {
		if s, ok := nothingAskeds[l]; ok {
			return s
		}
	}
	return nothingAskeds["eng"]
}

var nothingAskeds = map[string]string{
	"eng": "I have nothing to quote yet: ask me a question, and I will look for passages that answer it.",
	"deu": "Ich habe noch nichts zu zitieren: Stellen Sie mir eine Frage, und ich suche Textstellen, die sie beantworten.",
	"fra": "Je n'ai encore rien à citer : posez-moi une question, et je chercherai des passages qui y répondent.",
	"spa": "Todavía no tengo nada que citar: hágame una pregunta y buscaré pasajes que la respondan.",
	"por": "Ainda não tenho nada para citar: faça uma pergunta e procurarei passagens que a respondam.",
	"ita": "Non ho ancora nulla da citare: mi faccia una domanda e cercherò passaggi che rispondano.",
	"nld": "Ik heb nog niets te citeren: stel me een vraag, en ik zoek passages die haar beantwoorden.",
	"rus": "Мне пока нечего цитировать: задайте вопрос, и я поищу отрывки, которые на него отвечают.",
}
