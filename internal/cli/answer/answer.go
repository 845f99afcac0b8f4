// Package answer holds the commands that have a language model write: an answer to a question, a chat, the summary of a
// document.
package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"quarry/internal/cli/command"
	"quarry/internal/cli/query"
)

// asking is embedded by the commands that ask corpora: where they search, who answers and how.
type asking struct {
	Limit int `help:"Passages to answer from." default:"10" wire:"search.limit"`
	query.Scope
	Preset     string `help:"Generation preset; default: that of the service." placeholder:"NAME" wire:"generation.generation_preset_name"`
	LLM        string `help:"Language model in place of the preset's." name:"llm" placeholder:"NAME" wire:"generation.model_parameters.llm_name"`
	Language   string `help:"Language of the answer, such as deu or de; default: that of the question." placeholder:"CODE" wire:"generation.response_language"`
	Characters int    `help:"Approximate length of the answer in characters, which the language model is asked for; the built-in generator quotes whole sentences." placeholder:"N" wire:"generation.max_response_characters"`
	Exact      bool   `help:"Rank by full scans alone, also where lists of vectors would do." wire:"search.exact"`
	All        bool   `help:"List every passage found, not only those that the answer cites."`
}

// event is the part of an event of a stream, or of a whole answer, that is shown. What one event lacks stays as it was.
type event struct {
	Results   []query.Passage `json:"search_results"`
	Chunk     string          `json:"generation_chunk"`
	Score     *float64        `json:"factual_consistency_score"`
	Evidence  *float64        `json:"evidence"` // of answers that are quoted
	ChatID    string          `json:"chat_id"`
	TurnID    string          `json:"turn_id"`
	Rephrased string          `json:"rephrased_query"`
	Messages  []string        `json:"messages"`
	Warnings  []string        `json:"warnings"`

	text string // of the answer so far
	done bool   // the answer is whole
}

// body returns a request for an answer.
func (a *asking) body(question string, corpora []map[string]any) map[string]any {
	generation := command.Given(map[string]any{ // the service refuses a negative number of characters
		"generation_preset_name": a.Preset, "response_language": a.Language, "max_response_characters": a.Characters,
	})
	if a.LLM != "" {
		generation["model_parameters"] = map[string]any{"llm_name": a.LLM}
	}
	search := map[string]any{"corpora": corpora, "limit": a.Limit}
	if a.Exact {
		search["exact"] = true
	}
	return map[string]any{"query": question, "generation": generation, "search": search}
}

// stream sends a request whose answer is a stream, prints the text of the model as it comes and returns what was seen of all
// events. look is called with each event, before its text is printed.
func stream(ctx context.Context, w io.Writer, cl *command.Client, path string, body map[string]any, look func(name string, seen *event)) (*event, error) {
	body["stream_response"] = true
	seen := new(event)
	var all strings.Builder
	out := command.NewWrapper(w, "")
	err := cl.Stream(ctx, path, body, func(name string, data []byte) error {
		seen.Chunk = ""
		if err := json.Unmarshal(data, seen); err != nil {
			return fmt.Errorf("read event %s: %w", name, err)
		}
		seen.done = seen.done || name == "generation_end"
		look(name, seen)
		if name == "error" {
			return command.Failed(command.ExitSomeFailed, "%s", command.Prose(strings.Join(seen.Messages, "; ")))
		}
		all.WriteString(seen.Chunk)
		_, err := io.WriteString(out, command.Prose(seen.Chunk)) // chunks are whole characters
		return err
	})
	if seen.text = all.String(); seen.text != "" && !strings.HasSuffix(seen.text, "\n") {
		_, _ = io.WriteString(out, "\n") // w keeps its own failures
	}
	return seen, err
}

// warn prints what the service warns of.
func warn(e *command.Env, seen *event) {
	for _, w := range seen.Warnings {
		fmt.Fprintln(e.Err, "quarry: warning:", command.Prose(w))
	}
}

// sources lists the passages that the answer cites, or all; texts adds what they say. It reports whether there are any.
func (a *asking) sources(w io.Writer, corpora string, seen *event, all, texts bool) bool {
	return query.Sources(w, seen.text, seen.Results, query.Shown{All: all, Texts: texts, Corpora: strings.Contains(corpora, ",")})
}

// credit prints how far the answer can be trusted: how well a model kept to the sources, or that it is made of them.
func credit(w io.Writer, by answerer, seen *event) {
	switch {
	case len(seen.Results) == 0:
	case by.inside && len(query.Cited(seen.text)) == 0: // it found no answer
	case by.inside:
		if seen.Evidence != nil {
			fmt.Fprintf(w, "\nEvidence: %s (%.2f)", closeness(*seen.Evidence), *seen.Evidence)
		}
		command.Wrap(w, "", "\nQuoted word for word from the sources; no language model was used.")
	case seen.Score != nil:
		command.Wrap(w, "", fmt.Sprintf("\nConsistency %.2f (how far the passages support the answer, 0 to 1)", *seen.Score))
	}
}

// From which evidence on it is called strong, and fair: about four in five answers and every second are right. The console has
// the same bounds.
const (
	strong = 0.7
	fair   = 0.4
)

// closeness returns in a word how likely what is quoted first is to answer.
func closeness(evidence float64) string {
	switch {
	case evidence >= strong:
		return "strong"
	case evidence >= fair:
		return "fair"
	}
	return "weak"
}
