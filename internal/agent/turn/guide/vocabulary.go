package guide

import (
	"context"

	"quarry/internal/agent"
	"quarry/internal/glossary"
)

// Glossaries opens glossaries; a glossary.Lookup does.
type Glossaries interface {
	// Open returns the glossaries of keys, those that there are, as they are now.
	Open(ctx context.Context, keys []string) (map[string]*glossary.Words, error)
}

// Vocabulary is the glossaries that an agent names, as they are when a turn begins, and what they have said of inputs in it. A turn alone
// uses it.
type Vocabulary struct {
	words map[string]*glossary.Words
	notes map[said]string
}

// said is a glossary and the text that it was asked about.
type said struct{ key, text string }

// Open returns the vocabulary of an agent, nil if it names no glossary.
func Open(ctx context.Context, a *agent.Agent, g Glossaries) (*Vocabulary, error) {
	keys := a.Glossaries()
	if len(keys) == 0 {
		return nil, nil
	}
	words, err := g.Open(ctx, keys)
	if err != nil {
		return nil, err
	}
	return &Vocabulary{words, map[said]string{}}, nil
}

// note returns what a glossary says of inputs, nil if there is none of the key.
func (v *Vocabulary) note(key string) func(string) string {
	words := v.words[key]
	if words == nil {
		return nil
	}
	return func(text string) string {
		at := said{key, text}
		note, known := v.notes[at]
		if !known {
			note = words.Note(text)
			v.notes[at] = note
		}
		return note
	}
}
