package llm

import (
	"unicode"
	"unicode/utf8"
)

// Estimate counts about how many tokens a text has that arrives in pieces, rather too many than too few: a prompt taken
// for shorter than it is costs the answer.
//
// It counts as a vocabulary of some ten thousand pieces would at worst in usual texts. Four ASCII letters are a token, a
// shorter word is one, and so is each digit, each sign and each letter of another alphabet; the scripts from firstDense
// on take one and a half for each character. English comes out a third above what models count.
type Estimate struct {
	halves          int // of tokens, before the run at the end of the text
	letters, blanks int // of that run
}

// firstDense is the first code point of the scripts whose characters take more than a token each: after Latin, Greek,
// Cyrillic, Hebrew and Arabic.
const firstDense = 0x0900

// Add adds a piece of the text.
func (e *Estimate) Add(text string) {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && unicode.IsLetter(r):
			if e.blanks > 1 {
				e.end()
			}
			e.blanks = 0
			e.letters++
		case r == ' ':
			if e.letters > 0 {
				e.end()
			}
			e.blanks++
		default:
			e.end()
			e.halves += 2
			if r >= firstDense {
				e.halves++
			}
		}
	}
}

// end counts the run of letters or blanks.
func (e *Estimate) end() {
	e.halves += 2*((e.letters+3)/4) + 2*(e.blanks/4)
	e.letters, e.blanks = 0, 0
}

// Event adds a piece of an answer.
func (e *Estimate) Event(v Event) {
	e.Add(v.Text)
	e.Add(v.Reasoning)
	if v.Call != nil {
		e.Add(v.Call.Name)
		e.Add(string(v.Call.Arguments))
	}
}

// Tokens returns about how many tokens there are so far.
func (e *Estimate) Tokens() int {
	whole := *e
	whole.end()
	return (whole.halves + 1) / 2
}

// What the estimate adds to that of the texts, in tokens: for the frames of a prompt and of each message, and for each
// image.
const (
	promptTokens  = 16
	messageTokens = 8
	imageTokens   = 1_000
)

// Tokens estimates how many tokens the model reads for a call.
func (r *Request) Tokens() int {
	n := promptTokens + MessageTokens(r.Messages...)
	for _, t := range r.Tools {
		n += textTokens(t.Name, t.Description, string(t.Parameters))
	}
	if r.Format != nil {
		n += textTokens(string(r.Format.Schema))
	}
	return n
}

// MessageTokens estimates how many tokens messages add to a prompt.
func MessageTokens(all ...Message) int {
	n := 0
	for _, m := range all {
		n += messageTokens + textTokens(m.Reasoning)
		for _, p := range m.Parts {
			n += textTokens(p.Text)
			if p.Image != nil {
				n += imageTokens
			}
		}
		for _, c := range m.Calls {
			n += textTokens(c.Name, string(c.Arguments))
		}
	}
	return n
}

func textTokens(texts ...string) int {
	n := 0
	for _, t := range texts {
		var e Estimate
		e.Add(t)
		n += e.Tokens()
	}
	return n
}
