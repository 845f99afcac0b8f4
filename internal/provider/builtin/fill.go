package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/span"
	"quarry/internal/text/analysis"
)

// Bounds of filling a schema: values and members in all, depth, members that are looked for by meaning and not by words alone, and
// elements of an array.
const (
	mostSteps   = 2000
	mostMembers = 200
	deepest     = 8
	mostEncoded = 12
	mostItems   = 5
)

// fill answers with a JSON value of the form asked for.
func (a *answering) fill(ctx context.Context) error {
	asked := ask(a.talk.question, a.talk.passages)
	passages := a.talk.passages
	if len(passages) == 0 { // the text to be read may be the message itself
		passages = []llm.Evidence{{Text: a.talk.question, Score: 1}}
	}
	found, err := a.provider.search(ctx, asked, passages)
	if err != nil {
		return err
	}
	f := filler{ctx: ctx, provider: a.provider, found: found, passages: passages, said: a.talk.question}
	f.answer = found.readable(found.choose(a.room))
	var value any
	if s := parseSchema(a.request.Format.Schema); a.request.Format.Type == "json_schema" && s != nil {
		f.root = s
		value = f.value(s, place{name: a.request.Format.Name, about: a.request.Format.Description, must: true})
	} else {
		value = map[string]any{"answer": f.answerText(a.request.Language, asked.lang)}
	}
	if f.err != nil {
		return f.err
	}
	out, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return a.say(string(out))
}

// filler makes values that a schema accepts of what passages say.
type filler struct {
	ctx      context.Context
	provider *Provider
	root     any
	found    *findings // nil when arguments of a tool are filled
	passages []llm.Evidence
	answer   []*candidate      // the sentences that answer the question
	only     int               // 1 + the passage that values come from; 0 for all
	fixed    map[string]string // values of members by name
	said     string            // the question
	needed   bool              // only what is required
	steps    int               // values begun so far
	members  int               // filled so far
	encoded  int               // members whose meaning was looked for
	patterns map[string]*regexp.Regexp
	err      error
}

// place is where a value stands.
type place struct {
	name  string // of its member
	about string // its description
	depth int
	must  bool // it has to be there, found or not
}

func (p place) words() string { return strings.Join(span.Words(p.name), " ") + " " + p.about }

// answerText is the answer in sentences, or that there is none.
func (f *filler) answerText(languages ...string) string {
	if len(f.answer) == 0 {
		return llm.NoAnswer(languages...)
	}
	texts := make([]string, len(f.answer))
	for i, c := range f.answer {
		texts[i] = c.text
	}
	return strings.Join(texts, " ")
}

// Points that a sentence gets for a member: the share of the member's words that it holds counts 1, the cosine and the
// match with the question less. Below leastMember it says nothing of it.
const (
	memberCosine   = 0.8
	memberQuestion = 0.4
	leastMember    = 0.45
)

// best gives the sentences that say most about a member, best first.
func (f *filler) best(p place) []*candidate {
	if f.found == nil || f.err != nil {
		return nil
	}
	language := f.found.question.lang
	stems := analysis.Query(p.words(), language).Stems
	var about []float32
	if e, ok := f.provider.encoders.Find(""); ok && f.encoded < mostEncoded {
		f.encoded++
		vectors, err := f.provider.kept.of(f.ctx, e, embed.Question, []string{head(p.words(), askedBytes)})
		if err != nil {
			f.err = err
			return nil
		}
		about = vectors[0]
	}
	scores := map[*candidate]float64{}
	var out []*candidate
	for _, c := range f.found.candidates {
		if f.only > 0 && c.passage != f.only-1 {
			continue
		}
		s := memberCosine*cosine(about, c.vector) + memberQuestion*f.found.evidence(c, 0)
		for _, stem := range stems {
			if c.holds(stem) {
				s += 1 / float64(len(stems))
			}
		}
		if scores[c] = s; s >= leastMember || f.only > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return out
}
