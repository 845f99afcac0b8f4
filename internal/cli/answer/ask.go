package answer

import (
	"errors"
	"strings"

	"quarry/internal/cli/command"
)

// AskCmd answers a question.
type AskCmd struct {
	command.Remote
	CorpusKey string   `arg:"" name:"corpus" help:"Key of the corpus, or several separated by commas." wire:"search.corpora[].corpus_key"`
	Question  []string `arg:"" name:"question" help:"The question." wire:"query"`
	asking
	Save bool `help:"Keep the question and its answer in the query history."`
}

func (AskCmd) Help() string {
	return "The answer is printed while the language model writes it. If none is registered, the built-in generator quotes " +
		"the sentences that answer best. The numbers behind the sources are the scores that quarry query shows. --json prints the complete answer as JSON at the end.\n\n" +
		"Example: quarry ask docs \"which way do imports go?\""
}

func (c *AskCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	if c.JSON {
		return c.whole(e, cl)
	}
	var seen *event
	err = c.Ask(c.CorpusKey, func(corpora []map[string]any) (int, error) {
		seen, err = c.stream(e, cl, corpora)
		return len(seen.Results), err
	})
	if seen == nil || err != nil && seen.text == "" {
		return err
	}
	c.sources(e.Out, c.CorpusKey, seen, c.All, false)
	by := c.answerer(e, cl)
	credit(e.Out, by, seen)
	by.noteAlias(e)
	warn(e, seen)
	return err
}

// whole prints the complete answer as JSON.
func (c *AskCmd) whole(e *command.Env, cl *command.Client) error {
	var raw []byte
	err := c.Ask(c.CorpusKey, func(corpora []map[string]any) (int, error) {
		var v event
		var err error
		raw, err = cl.Call(e.Ctx, "POST", "/v2/query", c.body(corpora), &v)
		return len(v.Results), err
	})
	if err != nil {
		return err
	}
	command.PrintJSON(e.Out, raw)
	if c.LLM != "" {
		c.answerer(e, cl).noteAlias(e)
	}
	return nil
}

// stream prints the answer as it comes. If nothing was found and the titles were left out, it prints nothing.
func (c *AskCmd) stream(e *command.Env, cl *command.Client, corpora []map[string]any) (*event, error) {
	again := corpora[0]["metadata_filter"] != c.given()
	seen, err := stream(e.Ctx, e.Out, cl, "/v2/query", c.body(corpora), func(name string, seen *event) error {
		if name == "search_results" && len(seen.Results) == 0 && again {
			return errEmpty
		}
		return nil
	})
	if errors.Is(err, errEmpty) {
		err = nil
	}
	return seen, err
}

// given returns the filter as the user gave it, nil for none.
func (c *AskCmd) given() any {
	if c.Filter == "" {
		return nil
	}
	return c.Filter
}

func (c *AskCmd) body(corpora []map[string]any) map[string]any {
	body := c.asking.body(strings.Join(c.Question, " "), corpora)
	if c.Save {
		body["save_history"] = true
	}
	return body
}
