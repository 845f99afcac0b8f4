package query

import (
	"encoding/json"
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
	CorpusKey  string   `arg:"" name:"corpus" help:"Key of the corpus, or several separated by commas."`
	Question   []string `arg:"" name:"question" help:"The question."`
	Limit      int      `help:"Passages to answer from." default:"10"`
	Filter     string   `help:"Metadata filter, for example: doc.year >= 2024" placeholder:"FILTER"`
	Preset     string   `help:"Generation preset; default: that of the service." placeholder:"NAME"`
	LLM        string   `help:"Language model in place of the preset's." name:"llm" placeholder:"NAME"`
	Language   string   `help:"Language of the answer, such as deu or de; default: that of the question." placeholder:"CODE"`
	Characters int      `help:"Approximate length of the answer in characters, which the language model is asked for; the built-in generator quotes whole sentences." placeholder:"N"`
	All        bool     `help:"List every passage found, not only those that the answer cites."`
	Save       bool     `help:"Keep the question and its answer in the query history."`
}

func (AskCmd) Help() string {
	return "The answer is printed while the language model writes it. If none is registered, the built-in generator quotes " +
		"the sentences that answer best. --json prints the complete answer as JSON at the end.\n\n" +
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
	body := c.body()
	if c.JSON {
		return c.Do(e, "POST", "/v2/query", body, "")
	}
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	body["stream_response"] = true
	var seen askEvent // what was seen of all events
	var text strings.Builder
	err = cl.Stream(e.Ctx, "/v2/query", body, func(name string, data []byte) error {
		seen.Chunk = ""
		if err := json.Unmarshal(data, &seen); err != nil {
			return fmt.Errorf("read event %s: %w", name, err)
		}
		text.WriteString(seen.Chunk)
		_, err := io.WriteString(e.Out, command.Prose(seen.Chunk)) // chunks are whole characters
		return err
	})
	if text.Len() > 0 && !strings.HasSuffix(text.String(), "\n") {
		fmt.Fprintln(e.Out)
	}
	if err != nil {
		return err
	}
	c.sources(e.Out, &seen, text.String())
	for _, w := range seen.Warnings {
		fmt.Fprintln(e.Err, "quarry: warning:", command.Prose(w))
	}
	if len(seen.Messages) > 0 {
		return command.Failed(command.ExitSomeFailed, "%s", command.Prose(strings.Join(seen.Messages, "; ")))
	}
	return nil
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
		name = command.Clip(command.Prose(name), 120)
		if title := documentTitle(r.Document, r.Part); title != "" {
			name += "  " + command.Clip(command.Prose(title), 100)
		}
		fmt.Fprintf(w, "%4s %s  (%.3f)\n", fmt.Sprintf("[%d]", i+1), name, r.Score)
	}
	if v.Score != nil {
		fmt.Fprintf(w, "\nConsistency %.2f (how far the passages support the answer, 0 to 1)\n", *v.Score)
	}
}

func (c *AskCmd) body() map[string]any {
	generation := command.Given(map[string]any{ // the service refuses a negative number of characters
		"generation_preset_name": c.Preset, "response_language": c.Language, "max_response_characters": c.Characters,
	})
	if c.LLM != "" {
		generation["model_parameters"] = map[string]any{"llm_name": c.LLM}
	}
	body := map[string]any{
		"query": strings.Join(c.Question, " "), "generation": generation,
		"search": map[string]any{"corpora": corporaOf(c.CorpusKey, c.Filter), "limit": c.Limit},
	}
	if c.Save {
		body["save_history"] = true
	}
	return body
}

// corporaOf returns the corpora of a query from their keys, which commas separate.
func corporaOf(keys, filter string) []map[string]any {
	var out []map[string]any
	for key := range strings.SplitSeq(keys, ",") {
		one := map[string]any{"corpus_key": strings.TrimSpace(key)}
		if filter != "" {
			one["metadata_filter"] = filter
		}
		out = append(out, one)
	}
	return out
}
