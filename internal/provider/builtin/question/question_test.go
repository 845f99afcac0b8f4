package question_test

import (
	"slices"
	"strings"
	"testing"

	"quarry/internal/provider/builtin/question"
)

// Proves that the type of a question is read from its words, in several languages, and that one without a sign of any
// asks for anything.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, text string
		want           question.Kind
	}{
		{"eng", "How many valves does the pump have?", question.Number},
		{"eng", "What was the mean annual temperature of the valley?", question.Number},
		{"eng", "When did the bridge open to traffic?", question.Moment},
		{"eng", "In which year did the bridge open?", question.Moment},
		{"eng", "Who designed the bridge?", question.Name},
		{"eng", "Where are the logs of the server kept?", question.Place},
		{"eng", "In what city did the painter die?", question.Place},
		{"eng", "What is the default port of the server?", question.Default},
		{"eng", "How do I rotate the key of the server?", question.Manner},
		{"eng", "Which command starts the server again?", question.Manner},
		{"eng", "Which command must I never run on the server?", question.Anything},
		{"eng", "How should I not rotate the key of the server?", question.Anything},
		{"eng", "How do I make sure that the server doesn't stop?", question.Manner},
		{"eng", "Why does the server refuse the request?", question.Reason},
		{"eng", "What is a closure?", question.Definition},
		{"eng", "What is a closure in this language?", question.Definition},
		{"eng", "What is the purpose of a closure in this language?", question.Anything},
		{"eng", "Can the server run without a database?", question.Verdict},
		{"eng", "Describe the server and its parts.", question.Account},
		{"eng", "Explain why the server refuses the request.", question.Reason},
		{"eng", "Which of the two pumps is louder?", question.Anything},
		{"deu", "Wann wurde die Brücke für den Verkehr geöffnet?", question.Moment},
		{"deu", "Wie viele Ventile hat die Pumpe?", question.Number},
		{"deu", "Was ist eine Pumpe?", question.Definition},
		{"deu", "Wie kann ich den Schlüssel des Servers tauschen?", question.Manner},
		{"deu", "Warum lehnt der Server die Anfrage ab?", question.Reason},
		{"deu", "Darf die Pumpe im Freien stehen?", question.Verdict},
		{"fra", "Pourquoi le serveur refuse-t-il la demande ?", question.Reason},
		{"fra", "Qu'est-ce qu'une pompe ?", question.Definition},
		{"spa", "¿Dónde está la bomba de agua?", question.Place},
		{"rus", "Что такое насос?", question.Definition},
		{"tur", "Pompanın kaç vanası var?", question.Anything},
	} {
		q := question.Parse(c.text, c.language)
		if c.language != q.Language {
			t.Errorf("%q is taken for %s", c.text, q.Language)
		}
		if got := q.Parts[0].Kind; got != c.want {
			t.Errorf("%q is of kind %d, want %d", c.text, got, c.want)
		}
	}
}

// Proves for each type that a sentence of it has more than one that only speaks of the same.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, fits, other string }{
		{"How many valves does the pump have?", "The pump has three valves.", "The pump and its valves are made of steel."},
		{"When did the mill open?", "The mill opened on 3 May.", "The mill opened to much applause."},
		{"Who built the mill?", "The mill was built by Anna Berg.", "The mill was built by a farmer."},
		{"Where is the log of the server kept?", "The log is kept at /var/log/server.", "The log is kept for a week."},
		{"Where was the painter born?", "The painter was born in Oslo.", "The painter was born poor."},
		{"What is the default port?", "By default the port is 8080.", "The default port can be changed."},
		{"How do I rotate the key?", "Run the command with the name of the key.", "The key is rotated on the first of each month."},
		{"How do I soothe a burn?", "To ease the pain, cool the burn under water.", "The burn soothes itself after some days."},
		{"How do I rotate the key?", "Run the command with the name of the key.", "Do not run the command with the name of the key."},
		{"How do I rotate the key?", "Give the file a name.", "Never give the file a name."},
		{"How can I rotate the key?", "You can rotate it in the settings.", "Keys have been rotated since the beginning."},
		{"Why does the pump stop?", "The pump stops because its filter is full.", "The pump stops with a loud noise."},
		{"What is a closure?", "A closure is a function with the variables around it.", "Every language has its own idea of what a closure is."},
		{"What is HTTP?", "HTTP (Hypertext Transfer Protocol) is a protocol for documents.", "HTTP servers are everywhere."},
		{"What is HTTP?", "HTTP is the protocol of the web.", "HTTP is used by browsers."},
		{"How often does the daemon look for work?", "The daemon wakes once every minute.", "The daemon has 12 threads."},
		{"How long does a backup take?", "A backup takes 4 minutes.", "A backup has 4 stages."},
		{"How large may a request be?", "Requests are limited to 5 MiB.", "Requests have 3 parts."},
		{"How many databases can be attached?", "The number of databases is limited to 10.", "11. Number of databases: see sqlite3_limit(db,n)."},
		{"How many headers are set?", "It sets 13 headers.", "Headers have been set since version 4.13.2."},
		{"How verbose is the log unless I change it?", "The default level is INFO.", "The level can be changed."},
		{"Where is the cache kept when I name no folder?", "It is kept in ~/.cache/pump.", "It is kept by the Pump Daemon in London."},
		{"Can the pump stand outside?", "The pump must not stand in the rain.", "The pump stands on three feet."},
		{"Was ist eine Pumpe?", "Eine Pumpe ist eine Maschine, die Wasser hebt.", "Jeder Garten braucht eine Pumpe."},
		{"Wie kann ich den Filter der Pumpe tauschen?", "Drehen Sie den Deckel nach links.", "Der Filter der Pumpe ist aus Papier."},
	} {
		p := question.Parse(c.question, "").Parts[0]
		if a, b := p.Fit(c.fits), p.Fit(c.other); a <= b {
			t.Errorf("%q: %q adds %.2f, %q %.2f", c.question, c.fits, a, c.other, b)
		}
	}
}

// Proves that a question of thousands of words is cut into few parts with few terms, and that one of stop words or without
// any word has a part.
func TestOddQuestions(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 1000 {
		many.WriteString("word" + strings.Repeat("x", i%40) + "y" + strings.Repeat("z", i%31) + " ")
	}
	for _, text := range []string{"", " ", "?", "what is the of and to in", "???????", many.String(), strings.Repeat("and what is it? ", 400), strings.Repeat("(", 5000), strings.Repeat("what is ", 700)} {
		q := question.Parse(text, "eng")
		if len(q.Parts) < 1 || len(q.Parts) > 4 {
			t.Errorf("%.20q has %d parts", text, len(q.Parts))
		}
		for _, p := range q.Parts {
			if len(p.Terms) > 64 {
				t.Errorf("%.20q has %d terms", text, len(p.Terms))
			}
			p.Fit(text)
			p.Fit("")
		}
	}
}

// Proves that questions, requests and follow-ups state nothing.
func TestStates(t *testing.T) {
	t.Parallel()
	var stated []string
	for _, s := range []string{"My pump is a P-200.", "what does it cost", "Tell me more.", "and the valve", "Is it loud?", "", "The valve leaks."} {
		if question.States(s) {
			stated = append(stated, s)
		}
	}
	if want := []string{"My pump is a P-200.", "The valve leaks."}; !slices.Equal(stated, want) {
		t.Errorf("%q state something, want %q", stated, want)
	}
}
