package query

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"quarry/internal/answer/generate"
	"quarry/internal/cli/command"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/llm/prompt"
)

// PromptCmd holds the commands about prompt templates.
type PromptCmd struct {
	Preview previewCmd `cmd:"" help:"Show the prompt that a template renders for a question and its results."`
}

type previewCmd struct {
	command.Remote
	Question []string `arg:"" name:"question" optional:"" help:"The question; default: the one in the file of --results." wire:"query"`
	Corpus   string   `help:"Find the results in this corpus, or in several separated by commas." placeholder:"KEY" xor:"results" wire:"search.corpora[].corpus_key"`
	Results  string   `help:"Take the results from this file, the answer of a query as JSON." placeholder:"FILE" xor:"results"`
	Template string   `help:"File with the template; - reads standard input." placeholder:"FILE" xor:"template"`
	Preset   string   `help:"Take the template of this preset; default: the preset of the service." placeholder:"NAME" xor:"template"`
	Limit    int      `help:"Maximum number of results in the prompt." default:"25" wire:"search.limit"`
	Scope
	Language   string `help:"Language of the answer, such as deu or de; default: that of the question." placeholder:"CODE"`
	Characters int    `help:"Approximate length of the answer in characters." placeholder:"N"`
	Rendered   bool   `help:"Print the raw output of the template instead of the messages."`
}

func (previewCmd) Help() string {
	return "Renders the prompt without calling a language model, as it is before it is shortened to fit the model. " +
		"With --results and --template no service is needed.\n\n" +
		"Example: quarry prompt preview --corpus docs --template brief.vtl \"which way do imports go?\""
}

// promptResult is a search result as a query answers it, so far as templates can see it.
type promptResult struct {
	Text       string          `json:"text"`
	Score      float64         `json:"score"`
	DocumentID string          `json:"document_id"`
	Document   json.RawMessage `json:"document_metadata"`
	Part       json.RawMessage `json:"part_metadata"`
	Table      *document.Table `json:"table"`
}

// promptAnswer is the answer of a query; our own files may hold the question, too.
type promptAnswer struct {
	Query   string         `json:"query"`
	Results []promptResult `json:"search_results"`
}

func (c *previewCmd) Run(e *command.Env) error {
	in, err := c.input(e)
	if err != nil {
		return err
	}
	text, source, err := c.template(e)
	if err != nil {
		return err
	}
	template, err := generate.CompilePrompt(text)
	var out prompt.Rendered
	if err == nil {
		out, err = template.Render(in)
	}
	if f, ok := fault.As(err); ok {
		return command.Failed(command.ExitSomeFailed, "%s: %s", source, command.Prose(f.Text))
	}
	if err != nil {
		return err
	}
	return c.print(e.Out, out)
}

func (c *previewCmd) print(w io.Writer, out prompt.Rendered) error {
	switch {
	case c.JSON:
		type message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		var messages []message
		for _, m := range out.Messages {
			messages = append(messages, message{string(m.Role), m.Plain()})
		}
		raw, err := json.Marshal(map[string]any{"rendered_prompt": out.Text, "messages": messages})
		if err != nil {
			return fmt.Errorf("write prompt: %w", err)
		}
		command.PrintJSON(w, raw)
	case c.Rendered:
		fmt.Fprintln(w, strings.TrimSuffix(command.Prose(out.Text), "\n"))
	default:
		for i, m := range out.Messages {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "[%s]\n%s\n", m.Role, strings.TrimSuffix(command.Prose(m.Plain()), "\n"))
		}
	}
	return nil
}

// input reads the results, from a file or the service.
func (c *previewCmd) input(e *command.Env) (in generate.PromptInput, err error) {
	in = generate.PromptInput{Question: strings.Join(c.Question, " "), Characters: c.Characters}
	var found promptAnswer
	switch {
	case c.Results != "":
		raw, err := os.ReadFile(c.Results)
		if err != nil {
			return in, command.Failed(command.ExitUsage, "can't read the results: %v", err)
		}
		if err := json.Unmarshal(raw, &found); err != nil {
			return in, command.Failed(command.ExitUsage, "%s is not the answer of a query as JSON: %v", c.Results, err)
		}
		if in.Question == "" {
			in.Question = found.Query
		}
	case c.Corpus != "":
		cl, err := c.Connect()
		if err != nil {
			return in, err
		}
		body := map[string]any{"query": in.Question, "search": map[string]any{"corpora": c.Corpora(c.Corpus), "limit": c.Limit}}
		if _, err := cl.Call(e.Ctx, "POST", "/v2/query", body, &found); err != nil {
			return in, err
		}
	default:
		return in, command.Failed(command.ExitUsage, "say where the results come from: --corpus KEY or --results FILE")
	}
	for _, r := range found.Results[:min(c.Limit, len(found.Results))] {
		in.Results = append(in.Results, r.passage())
	}
	if c.Language != "" && c.Language != "auto" {
		if _, ok := generate.LanguageCode(c.Language); !ok {
			return in, command.Failed(command.ExitUsage, "%q is no language that answers can be asked in; take three letters such as deu, or two", c.Language)
		}
	}
	in.Language = generate.ResponseLanguage(c.Language, in.Question, in.Results)
	return in, nil
}

func (r *promptResult) passage() generate.Passage {
	var title struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(r.Document, &title) // a title that is no text is none
	return generate.Passage{
		Text: r.Text, Score: r.Score, DocumentID: r.DocumentID, Title: title.Title, DocumentMetadata: r.Document, PartMetadata: r.Part, Table: r.Table,
	}
}

// template reads the template; source names where it came from in messages.
func (c *previewCmd) template(e *command.Env) (text, source string, err error) {
	if c.Template != "" {
		raw, source := []byte(nil), c.Template
		if c.Template == "-" {
			source = "standard input"
			raw, err = io.ReadAll(e.In)
		} else {
			raw, err = os.ReadFile(c.Template)
		}
		if err != nil {
			return "", "", command.Failed(command.ExitUsage, "can't read the template: %v", err)
		}
		return string(raw), source, nil
	}
	cl, err := c.Connect()
	if err != nil {
		return "", "", err
	}
	preset, err := FindPreset(e, cl, c.Preset)
	switch {
	case err != nil:
		return "", "", err
	case preset == nil:
		return "", "", command.Failed(command.ExitSomeFailed, "there is no generation preset %q", c.Preset)
	}
	return preset.Template, "preset " + preset.Name, nil
}
