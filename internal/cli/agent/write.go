package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"quarry/internal/cli/command"
)

// searchTool is the name of the tool that --corpus makes, as the model sees it.
const searchTool = "search"

// definition is embedded by the commands that write agents.
type definition struct {
	File         string   `help:"File with the agent, as JSON or YAML; - reads standard input. Other flags are laid over it." short:"f" placeholder:"FILE"`
	Name         *string  `help:"Readable name." wire:"name"`
	Description  *string  `help:"What it is for." wire:"description"`
	Model        string   `help:"Language model." placeholder:"NAME" wire:"model.name"`
	Corpus       []string `help:"Corpus to search, by a tool named search; repeatable." placeholder:"CORPUS" wire:"tool_configurations.search.query_configuration.search.corpora[].corpus_key"`
	Instructions *string  `help:"What the model is told before all else: a template, or @FILE to read it from a file." placeholder:"TEXT|@FILE" wire:"steps.answer.instructions[].template,first_step.instructions[].template"`
}

// body returns the request that the flags make. Instructions are not yet in it. A corpus that does not exist is an error here
// and not only when the agent searches it.
func (d *definition) body(e *command.Env, r command.Remote) (map[string]any, error) {
	body := map[string]any{}
	if len(d.Corpus) > 0 {
		cl, err := r.Connect()
		if err != nil {
			return nil, err
		}
		for _, key := range d.Corpus {
			if _, err := cl.Call(e.Ctx, http.MethodGet, command.CorpusPath(key), nil, nil); unlessForbidden(err) != nil {
				return nil, err
			}
		}
	}
	if d.File != "" {
		var err error
		if body, err = d.read(e); err != nil {
			return nil, err
		}
		e.FlagOf = func(string) string { return "" } // the fields of the file are what its author knows
	}
	if d.Name != nil {
		body["name"] = *d.Name
	}
	if d.Description != nil {
		body["description"] = *d.Description
	}
	if d.Model != "" {
		model, ok := body["model"].(map[string]any)
		if !ok {
			model = map[string]any{}
			body["model"] = model
		}
		model["name"] = d.Model
	}
	if len(d.Corpus) > 0 {
		tools, ok := body["tool_configurations"].(map[string]any)
		if !ok {
			tools = map[string]any{}
			body["tool_configurations"] = tools
		}
		tools[searchTool] = search(d.Corpus)
	}
	return body, nil
}

// search returns the configuration of a tool that searches corpora.
func search(keys []string) map[string]any {
	var corpora []map[string]any
	for _, key := range keys {
		corpora = append(corpora, map[string]any{"corpus_key": key})
	}
	return map[string]any{"type": "corpora_search", "query_configuration": map[string]any{"search": map[string]any{"corpora": corpora}}}
}

// instructions returns the list of instructions that the flag makes; an empty text removes them.
func (d *definition) instructions() ([]any, error) {
	text, err := command.Text("the instructions", *d.Instructions)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return []any{}, nil
	}
	return []any{map[string]any{"type": "inline", "name": "instructions", "template": text}}, nil
}

// read returns what the file says.
func (d *definition) read(e *command.Env) (map[string]any, error) {
	var raw []byte
	var err error
	if d.File == "-" {
		raw, err = io.ReadAll(e.In)
	} else {
		raw, err = os.ReadFile(d.File)
	}
	if err != nil {
		return nil, command.Failed(command.ExitUsage, "can't read the agent: %v", err)
	}
	var body map[string]any
	if text := bytes.TrimSpace(raw); bytes.HasPrefix(text, []byte("{")) && json.Valid(text) {
		exact := json.NewDecoder(bytes.NewReader(text))
		exact.UseNumber()
		err = exact.Decode(&body)
	} else {
		err = yaml.Unmarshal(raw, &body)
	}
	if err == nil && body != nil {
		_, err = json.Marshal(body) // YAML has maps that JSON has not
	}
	switch {
	case err != nil:
		return nil, command.Failed(command.ExitUsage, "%s is no agent: %v", d.File, err)
	case body == nil:
		return nil, command.Failed(command.ExitUsage, "%s is empty; quarry agent get AGENT --json shows the form of an agent", d.File)
	}
	return body, nil
}

type createCmd struct {
	command.Remote
	Agent string `arg:"" optional:"" help:"Key: letters, digits, _ and -, at most 50; default: made from the name." wire:"key"`
	definition
}

func (createCmd) Help() string {
	return "Without --model the service's default language model answers. What only a file can say, such as several steps, is in docs/guide/agents.md.\n\n" +
		"Example: quarry agent create support --corpus manuals --instructions 'Answer from the manuals, and cite them.'\n\n" +
		"Example: quarry agent create --file support.yaml"
}

func (c *createCmd) Run(e *command.Env) error {
	body, err := c.body(e, c.Remote)
	if err != nil {
		return err
	}
	if c.Agent != "" {
		body["key"] = c.Agent
	}
	if body["name"] == nil && c.File == "" {
		if body["name"] = cmp.Or(c.Agent, strings.Join(c.Corpus, ", ")); body["name"] == "" {
			return command.Failed(command.ExitUsage, "say what to create: a key, such as quarry agent create support --corpus manuals, or a file with --file")
		}
	}
	if c.Instructions != nil {
		if body["steps"] != nil || body["first_step"] != nil {
			return command.Failed(command.ExitUsage, "the file has steps of its own; write the instructions there")
		}
		list, err := c.instructions()
		if err != nil {
			return err
		}
		body["first_step_name"], body["steps"] = "answer", map[string]any{"answer": map[string]any{"instructions": list}}
	}
	if body["model"] == nil && c.File == "" {
		if body["model"], err = c.defaultModel(e); err != nil {
			return err
		}
	}
	_, err = command.Send(e, c.Remote, http.MethodPost, agents, body, func(v *view) {
		fmt.Fprintf(e.Out, "created agent %s; to talk to it: quarry agent chat %s\n", v.Key, v.Key)
	})
	return err
}

// defaultModel returns the language model that answers where none is named.
func (c *createCmd) defaultModel(e *command.Env) (map[string]any, error) {
	cl, err := c.Connect()
	if err != nil {
		return nil, err
	}
	type llm struct {
		Name    string `json:"name"`
		Default bool   `json:"default"`
	}
	found, err := command.Find(e.Ctx, cl, "llms", func(m *llm) bool { return m.Default })
	if err != nil || found == nil {
		return nil, command.Failed(command.ExitUsage, "the service does not tell this caller which language model is the default; name one, for example --model extractive-1.0")
	}
	return map[string]any{"name": found.Name}, nil
}

type updateCmd struct {
	one
	definition
	Enable  bool `help:"Take sessions and input again." xor:"enabled" wire:"enabled"`
	Disable bool `help:"Refuse new sessions and input; turns that run go on." xor:"enabled" wire:"enabled"`
}

func (updateCmd) Help() string {
	return "What is not given stays. Tools and steps of the file are merged by name, and null removes one; --instructions are those of the first step, " +
		"and --instructions= removes them. A turn that runs ends with the configuration that it began with.\n\n" +
		"Example: quarry agent update support --model mine --instructions @support.txt"
}

func (c *updateCmd) Run(e *command.Env) error {
	body, err := c.body(e, c.Remote)
	if err != nil {
		return err
	}
	if c.Instructions != nil {
		list, err := c.instructions()
		if err != nil {
			return err
		}
		first, ok := body["first_step"].(map[string]any)
		if !ok {
			first = map[string]any{}
			body["first_step"] = first
		}
		first["instructions"] = list
	}
	if c.Enable || c.Disable {
		body["enabled"] = c.Enable
	}
	if len(body) == 0 {
		return command.Failed(command.ExitUsage, "say what to change: --file, --name, --description, --model, --corpus, --instructions, --enable, --disable")
	}
	_, err = command.Send(e, c.Remote, http.MethodPatch, agentPath(c.Agent), body, func(v *view) { fmt.Fprintf(e.Out, "updated agent %s\n", v.Key) })
	return err
}
