package llm

import (
	"cmp"
	"fmt"
	"net/http"

	"quarry/internal/cli/command"
	"quarry/internal/cli/credential"
)

type addCmd struct {
	command.Remote
	Name        string   `arg:"" optional:"" help:"Name for presets and queries; default with --local: the name of the model." wire:"name"`
	Local       bool     `help:"Look for models that run on the service's machine: Ollama, llama.cpp, vLLM, LM Studio."`
	At          []string `help:"With --local: look here instead of at the usual ports; repeatable." placeholder:"URL"`
	Type        string   `help:"Wire format: ${enum}." enum:"openai-compatible,openai-responses,anthropic,vertex-ai" default:"openai-compatible" wire:"type"`
	URI         string   `help:"Full address of its endpoint." name:"uri" placeholder:"URL" wire:"uri"`
	Model       string   `help:"Name of the model at the provider." wire:"model"`
	Description string   `help:"What it is for." wire:"description"`
	credential.Flags
	Header  map[string]string `help:"Header added to every call, as NAME=VALUE; not for secrets; repeatable." placeholder:"NAME=VALUE" wire:"headers"`
	Context int               `help:"Context size in tokens; default: derived from its name." name:"context-limit" placeholder:"N" wire:"capabilities.context_limit"`
	Default bool              `help:"Use it where no model is named."`
}

func (addCmd) Help() string {
	return "The service calls the model once and saves nothing when that fails. A key is never an argument: give it with --key-env or\n" +
		"--key-stdin.\n\n" +
		"Example: quarry llm add --local\n\n" +
		"Example: quarry llm add small --uri http://127.0.0.1:11434/v1/chat/completions --model llama3.2\n\n" +
		"Example: quarry llm add big --type anthropic --model claude-sonnet-4-5 --key-env ANTHROPIC_API_KEY --default"
}

// Run registers a model.
func (c *addCmd) Run(e *command.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	auth, err := c.Auth(e, c.usual)
	if err != nil {
		return err
	}
	if c.Local {
		cl, err := c.Connect()
		if err != nil {
			return err
		}
		found, err := c.find(e, cl, auth)
		if err != nil {
			return err
		}
		c.Type, c.URI, c.Model, c.Name = found.Type, found.URI, found.Model, cmp.Or(c.Name, found.Model)
	}
	_, err = command.Send(e, c.Remote, http.MethodPost, models, c.body(auth), func(v *view) {
		v.print(e)
		use := "name it with quarry ask --llm, in a query as generation.model_parameters.llm_name"
		if v.Default {
			use = "it answers where no model is named"
		}
		fmt.Fprintf(e.Err, "added %s; %s\n", v.Name, use)
	})
	return err
}

func (c *addCmd) check() error {
	if err := c.Flags.Check(); err != nil {
		return err
	}
	switch {
	case c.Local && c.URI != "":
		return command.Failed(command.ExitUsage, "--local finds the address itself; use --at to look elsewhere")
	case !c.Local && len(c.At) > 0:
		return command.Failed(command.ExitUsage, "--at is for --local")
	case c.Local:
		return nil
	case c.Name == "":
		return command.Failed(command.ExitUsage, "give the model a name, or --local to look for one on the service's machine")
	case c.Model == "":
		return command.Failed(command.ExitUsage, "--model is missing: what the provider calls it")
	case c.URI == "" && c.Type != "anthropic":
		return command.Failed(command.ExitUsage, "--uri is missing, such as http://127.0.0.1:11434/v1/chat/completions")
	}
	return nil
}

func (c *addCmd) body(auth map[string]any) map[string]any {
	body := command.Given(map[string]any{"type": c.Type, "name": c.Name, "model": c.Model, "uri": c.URI, "description": c.Description})
	if auth != nil {
		body["auth"] = auth
	}
	if len(c.Header) > 0 {
		body["headers"] = c.Header
	}
	if c.Context > 0 {
		body["capabilities"] = map[string]any{"context_limit": c.Context}
	}
	if c.Default {
		body["default"] = true
	}
	return body
}

// usual returns the credentials that a type makes of a key.
func (c *addCmd) usual(key string) map[string]any {
	switch c.Type {
	case "vertex-ai":
		return map[string]any{"type": "api_key", "api_key": key}
	case "anthropic":
		return map[string]any{"type": "header", "header": "x-api-key", "value": key}
	}
	return map[string]any{"type": "bearer", "token": key}
}
