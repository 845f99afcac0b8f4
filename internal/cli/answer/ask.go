package answer

import (
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
	seen, err := stream(e.Ctx, e.Out, cl, "/v2/query", c.body(), func(string, *event) {})
	if err != nil && seen.text == "" {
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
	raw, err := cl.Call(e.Ctx, "POST", "/v2/query", c.body(), new(event))
	if err != nil {
		return err
	}
	command.PrintJSON(e.Out, raw)
	if c.LLM != "" {
		c.answerer(e, cl).noteAlias(e)
	}
	return nil
}

func (c *AskCmd) body() map[string]any {
	body := c.asking.body(strings.Join(c.Question, " "), c.Corpora(c.CorpusKey))
	if c.Save {
		body["save_history"] = true
	}
	return body
}
