package builtin

import (
	"context"
	"strings"

	"quarry/internal/clip"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin/summary"
	"quarry/internal/text/lang"
	"quarry/internal/text/sentence"
)

// summarize sends the sentences of the evidence that say most of what is in it.
func (a *answering) summarize(ctx context.Context) error {
	document := a.request.Evidence
	if len(document) == 0 {
		document = spoken(a.request.Messages)
	}
	language := a.request.Language
	if language == "" {
		language = languageOf(document)
	}
	chosen, cut := summary.Choose(document, language, a.shortEnough)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if cut {
		a.out.Reason = llm.Length
	}
	for i, s := range chosen {
		between := ""
		switch {
		case i == 0:
		case !sentence.Ended(chosen[i-1].Text), !sentence.Ended(s.Text), chosen[i-1].Section != s.Section && len(chosen) > paragraph:
			between = "\n\n"
		default:
			between = " "
		}
		if err := a.say(between + s.Text); err != nil {
			return err
		}
	}
	return nil
}

// paragraph is up to how many sentences a summary is one paragraph; a longer one has one for each section.
const paragraph = 4

// shortEnough reports whether sentences fit the token limit of the request.
func (a *answering) shortEnough(sentences []summary.Sentence) bool {
	if a.request.Parameters.MaxTokens == nil {
		return true
	}
	n := int64(0)
	for _, s := range sentences {
		n += a.tokens(s.Text)
	}
	return n <= int64(*a.request.Parameters.MaxTokens)
}

// spoken returns what the messages say, but for those of the system, each as a section.
func spoken(messages []llm.Message) []llm.Evidence {
	var out []llm.Evidence
	for i, m := range messages {
		if m.Role != llm.System {
			out = append(out, llm.Evidence{Text: m.Plain(), Section: i})
		}
	}
	return out
}

// languageOf returns the language of most of a document, by some passages of its middle.
func languageOf(document []llm.Evidence) string {
	var some strings.Builder
	for i := len(document) / 2; i < len(document) && some.Len() < languageBytes; i++ {
		some.WriteString(clip.Head(document[i].Text, languageBytes))
		some.WriteByte('\n')
	}
	return lang.Of(some.String(), "")
}

// languageBytes is how much text shows its language.
const languageBytes = 2000
