package builtin

import (
	"regexp"
	"slices"
	"strings"

	"quarry/internal/llm"
)

// tell adds what messages of the system hold, where many programs put the texts that answers are to stand on.
func (t *conversation) tell(messages []llm.Message) {
	t.told.from = len(t.passages)
	for _, m := range messages {
		if text := strings.TrimSpace(lineLabels.ReplaceAllString(m.Plain(), "\n")); m.Role == llm.System && text != "" {
			t.passages = append(t.passages, llm.Evidence{Text: text, Score: 1})
		}
	}
	t.told.to = len(t.passages)
}

// alone adds the question to the passages if there is no text but those of the system: what a form is to be filled from may
// stand in the message itself.
func (t *conversation) alone() {
	if len(t.passages) == t.told.to-t.told.from {
		t.passages = slices.Insert(slices.Clone(t.passages), 0, llm.Evidence{Text: t.question, Score: 1})
		t.told.from, t.told.to, t.past, t.found = t.told.from+1, t.told.to+1, t.past+1, t.found+1
	}
}

// weed takes from the candidates the sentences of the system that are rules for the model, and those that are no answer by
// themselves: most prompts have a few words in common with every question.
func (t *conversation) weed(f *findings) {
	least := f.least()
	f.candidates = slices.DeleteFunc(f.candidates, func(c *candidate) bool {
		if c.passage < t.told.from || c.passage >= t.told.to {
			return false
		}
		best := 0.0
		for i := range f.question.Parts {
			best = max(best, f.evidence(c, i))
		}
		return best < least || rule.MatchString(c.text)
	})
}

// rule matches the beginning of a sentence that tells the model what it is or how to answer. "You can return it within a month"
// is none.
var rule = regexp.MustCompile(`(?i)^(?:(?:please|always|never|only|do not|don[’']t|if [^,]{1,80},|when [^,]{1,80},)\s+)*(?:` +
	`you(?:[’']re| are| act| must| should| will| have to| need to| speak| work| help| answer| know| love| have access| can answer| only| always| never)\b|` +
	`your (?:task|job|role|goal|aim|name|purpose|tone|answers?|repl(?:y|ies)|responses?|output)\b|` +
	`(?:answer|reply|respond|act as|behave|pretend|be (?:brief|short|concise|polite|helpful|kind|friendly|honest|precise|truthful)|cite|quote|summari[sz]e|` +
	`translate|extract|classify|help|assist|speak|write|think|say|make up|invent|guess|refuse|mention|return (?:json|only|a json)|output|` +
	`use (?:only )?(?:the|these|this) (?:following|given|context|information|passages?|documents?|sources?|text|tools?)|` +
	`(?:based on|given|from|following) (?:only )?(?:the|this) (?:following|given|context|information|passages?|documents?|sources?|text))\b|` +
	`the (?:assistant|user|ai|model)\b|` +
	`du bist\b|sie sind (?:ein|eine|der|die|das)\b|(?:deine|ihre) aufgabe\b|(?:be)?antworte|nutze\b|verwende\b|` +
	`(?:tu es|vous êtes)\b|répond(?:s|ez)\b|utilise(?:z)?\b|` +
	`eres\b|responde\b|contesta\b)`)
