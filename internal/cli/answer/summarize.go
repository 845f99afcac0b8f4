package answer

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"quarry/internal/cli/command"
)

// SummarizeCmd summarises a document.
type SummarizeCmd struct {
	command.Remote
	CorpusKey string `arg:"" name:"corpus" help:"Key of the corpus." wire:"corpus_key"`
	Document  string `arg:"" name:"document" help:"Id of the document." wire:"document_id"`
	LLM       string `help:"Language model; default: the one that answers where none is named." name:"llm" placeholder:"NAME" wire:"llm_name"`
	Template  string `help:"File with a prompt template in place of the usual prompt; - reads standard input." placeholder:"FILE" wire:"prompt_template"`
	Tokens    int    `help:"Tokens that the summary has at most." name:"max-tokens" placeholder:"N" wire:"model_parameters.max_tokens"`
}

func (SummarizeCmd) Help() string {
	return "The summary is printed while the language model writes it. The built-in generator quotes the most central sentences, whatever the " +
		"length of the document; other models need room for all of it. docs/guide/prompts.md describes templates.\n\n" +
		"Example: quarry summarize docs architecture.md"
}

func (c *SummarizeCmd) Run(e *command.Env) error {
	cl, err := c.Connect()
	if err != nil {
		return err
	}
	by := find(e, cl, c.LLM)
	body := map[string]any{"llm_name": c.LLM}
	if c.LLM == "" {
		if by.name == "" {
			return command.Failed(command.ExitUsage, "the service does not tell this caller which language model is the default; name one, for example --llm extractive-1.0")
		}
		body["llm_name"] = by.name
	}
	if c.Template != "" {
		if body["prompt_template"], err = template(e, c.Template); err != nil {
			return err
		}
	}
	if c.Tokens != 0 { // the service judges it
		body["model_parameters"] = map[string]any{"max_tokens": c.Tokens}
	}
	path := command.DocumentPath(c.CorpusKey, c.Document) + "/summarize"
	if c.JSON {
		raw, err := cl.Call(e.Ctx, http.MethodPost, path, body, nil)
		if err == nil {
			command.PrintJSON(e.Out, raw)
		}
		return err
	}
	seen, err := stream(e.Ctx, e.Out, cl, path, body, func(string, *event) {})
	if err != nil {
		return err
	}
	if by.inside {
		command.Wrap(e.Out, "", "\nSentences of the document, word for word; no language model was used.")
	}
	by.noteAlias(e)
	warn(e, seen)
	return nil
}

// template reads a prompt template.
func template(e *command.Env, name string) (string, error) {
	if name == "-" {
		raw, err := io.ReadAll(e.In)
		if err != nil {
			return "", fmt.Errorf("read the template: %w", err)
		}
		return string(raw), nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", command.Failed(command.ExitUsage, "can't read the template: %v", err)
	}
	return string(raw), nil
}
