package query

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// AskCmd answers a question.
type AskCmd struct {
	command.Remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus, or several separated by commas." wire:"search.corpora[].corpus_key"`
	Question  []string `arg:"" name:"question" help:"The question." wire:"query"`
	Limit     int      `help:"Passages to answer from." default:"10" wire:"search.limit"`
	scope
	Preset     string `help:"Generation preset; default: that of the service." placeholder:"NAME" wire:"generation.generation_preset_name"`
	LLM        string `help:"Language model in place of the preset's." name:"llm" placeholder:"NAME" wire:"generation.model_parameters.llm_name"`
	Language   string `help:"Language of the answer, such as deu or de; default: that of the question." placeholder:"CODE" wire:"generation.response_language"`
	Characters int    `help:"Approximate length of the answer in characters, which the language model is asked for; the built-in generator quotes whole sentences." placeholder:"N" wire:"generation.max_response_characters"`
	All        bool   `help:"List every passage found, not only those that the answer cites."`
	Save       bool   `help:"Keep the question and its answer in the query history."`
}

func (AskCmd) Help() string {
	return "The answer is printed while the language model writes it. If none is registered, the built-in generator quotes " +
		"the sentences that answer best. The numbers behind the sources are the scores that quarry query shows. --json prints the complete answer as JSON at the end.\n\n" +
		"Example: quarry ask docs \"which way do imports go?\""
}

// askEvent is the part of an event that is shown.
type askEvent struct {
	Results []struct {
		DocumentID string         `json:"document_id"`
		CorpusKey  string         `json:"corpus_key"`
		Score      float64        `json:"score"`
		Document   map[string]any `json:"document_metadata"`
		Part       map[string]any `json:"part_metadata"`
	} `json:"search_results"`
	Chunk    string   `json:"generation_chunk"`
	Score    *float64 `json:"factual_consistency_score"`
	Messages []string `json:"messages"`
	Warnings []string `json:"warnings"`
}

func (c *AskCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if c.JSON {
		return c.whole(e, cl)
	}
	var v askEvent
	var text string
	err = c.ask(c.CorpusKey, func(corpora []map[string]any) (int, error) {
		v, text, err = c.stream(e, cl, corpora)
		return len(v.Results), err
	})
	if err != nil {
		return err
	}
	c.sources(e.Out, &v, text)
	c.credit(e, cl, &v, text)
	for _, w := range v.Warnings {
		fmt.Fprintln(e.Err, "quarry: warning:", command.Prose(w))
	}
	if len(v.Messages) > 0 {
		return command.Failed(command.ExitSomeFailed, "%s", command.Prose(strings.Join(v.Messages, "; ")))
	}
	return nil
}

// whole prints the complete answer as JSON.
func (c *AskCmd) whole(e *command.Env, cl *command.Client) error {
	var raw []byte
	err := c.ask(c.CorpusKey, func(corpora []map[string]any) (int, error) {
		var v askEvent
		var err error
		raw, err = cl.Call(e.Ctx, "POST", "/v2/query", c.body(corpora), &v)
		return len(v.Results), err
	})
	if err != nil {
		return err
	}
	command.PrintJSON(e.Out, raw)
	if c.LLM != "" {
		model, _ := c.answerer(e, cl)
		c.noteAlias(e, model)
	}
	return nil
}

// errEmpty ends a stream that found nothing and may be asked again.
var errEmpty = errors.New("nothing found")

// stream prints the answer as it comes and returns what was seen of all events. If nothing was found and the titles were left
// out, it prints nothing.
func (c *AskCmd) stream(e *command.Env, cl *command.Client, corpora []map[string]any) (seen askEvent, text string, err error) {
	body := c.body(corpora)
	body["stream_response"] = true
	var all strings.Builder
	out := command.NewWrapper(e.Out, "")
	err = cl.Stream(e.Ctx, "/v2/query", body, func(name string, data []byte) error {
		seen.Chunk = ""
		if err := json.Unmarshal(data, &seen); err != nil {
			return fmt.Errorf("read event %s: %w", name, err)
		}
		if name == "search_results" && len(seen.Results) == 0 && corpora[0]["metadata_filter"] != c.given() {
			return errEmpty
		}
		all.WriteString(seen.Chunk)
		_, err := io.WriteString(out, command.Prose(seen.Chunk)) // chunks are whole characters
		return err
	})
	if errors.Is(err, errEmpty) {
		return seen, "", nil
	}
	if all.Len() > 0 && !strings.HasSuffix(all.String(), "\n") {
		_, _ = io.WriteString(out, "\n") // e.Out keeps its own failures
	}
	return seen, all.String(), err
}

var citation = regexp.MustCompile(`\[(\d+)\]`)

// sources lists the passages that the answer cites, and how far they support it.
func (c *AskCmd) sources(w io.Writer, v *askEvent, text string) {
	cited := map[int]bool{}
	for _, m := range citation.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // digits; too many of them name no result
		cited[n] = true
	}
	shown := 0
	for i, r := range v.Results {
		if !c.All && !cited[i+1] {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintln(w, "\nSources")
		}
		name := r.DocumentID
		if strings.Contains(c.CorpusKey, ",") {
			name = r.CorpusKey + ": " + name
		}
		name = command.Bold(w, command.Prose(name))
		if title := documentTitle(r.Document, r.Part); title != "" {
			name += "  " + command.Prose(title)
		}
		command.WrapAfter(w, fmt.Sprintf("%4s ", fmt.Sprintf("[%d]", i+1)), fmt.Sprintf("%s  (%.3f)", name, r.Score))
	}
}

// credit prints how far the answer can be trusted: how well a model kept to the sources, or that it is made of them.
func (c *AskCmd) credit(e *command.Env, cl *command.Client, v *askEvent, text string) {
	if len(v.Results) == 0 {
		return
	}
	model, inside := c.answerer(e, cl)
	switch {
	case inside && !citation.MatchString(text): // it found no answer
	case inside:
		command.Wrap(e.Out, "", "\nQuoted word for word from the sources; no language model was used.")
	case v.Score != nil:
		command.Wrap(e.Out, "", fmt.Sprintf("\nConsistency %.2f (how far the passages support the answer, 0 to 1)", *v.Score))
	}
	c.noteAlias(e, model)
}

// noteAlias prints which model answered where another was asked for.
func (c *AskCmd) noteAlias(e *command.Env, model string) {
	if c.LLM != "" && model != "" && model != c.LLM {
		fmt.Fprintf(e.Err, "%s is an alias here: %s answered; to register the real one: quarry llm add %s …\n", c.LLM, model, c.LLM)
	}
}

// given returns the filter as the user gave it, nil for none.
func (c *AskCmd) given() any {
	if c.Filter == "" {
		return nil
	}
	return c.Filter
}

func (c *AskCmd) body(corpora []map[string]any) map[string]any {
	generation := command.Given(map[string]any{ // the service refuses a negative number of characters
		"generation_preset_name": c.Preset, "response_language": c.Language, "max_response_characters": c.Characters,
	})
	if c.LLM != "" {
		generation["model_parameters"] = map[string]any{"llm_name": c.LLM}
	}
	body := map[string]any{
		"query": strings.Join(c.Question, " "), "generation": generation,
		"search": map[string]any{"corpora": corpora, "limit": c.Limit},
	}
	if c.Save {
		body["save_history"] = true
	}
	return body
}
