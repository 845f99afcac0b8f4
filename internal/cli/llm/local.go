package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"quarry/internal/cli/command"
)

// place is where a program serves models by default.
type place struct{ program, address string }

// places are the usual ports on the service's machine.
var places = []place{
	{"Ollama", "http://127.0.0.1:11434"}, {"LM Studio", "http://127.0.0.1:1234"},
	{"vLLM", "http://127.0.0.1:8000"}, {"llama.cpp", "http://127.0.0.1:8080"},
}

// candidate is a model that an address serves.
type candidate struct {
	Type         string       `json:"type"`
	URI          string       `json:"uri"`
	Model        string       `json:"model"`
	Verified     bool         `json:"verified"`
	Error        string       `json:"verification_error"`
	Capabilities capabilities `json:"capabilities"`

	program string
}

// find asks the usual places, prints what is there and returns the model to register.
func (c *addCmd) find(e *command.Env, cl *command.Client, auth map[string]any) (candidate, error) {
	there, err := c.look(e.Ctx, cl, auth)
	if err != nil {
		return candidate{}, err
	}
	all := there
	if c.Model != "" {
		all = named(there, c.Model)
	}
	if len(all) == 0 {
		return candidate{}, command.Failed(command.ExitSomeFailed, "%s", c.nothing(there))
	}
	rows := make([][]string, len(all))
	for i, f := range all {
		state := "answers"
		if !f.Verified {
			state = "does not answer: " + f.Error
		}
		rows[i] = []string{strconv.Itoa(i + 1), f.program, f.Model, f.URI, f.Capabilities.tokens(), state}
	}
	command.Table(e.Err, []string{"", "FROM", "MODEL", "AT", "CONTEXT", "STATE"}, rows)
	if len(all) == 1 {
		return all[0], nil
	}
	return c.choose(e, all)
}

// look asks every place at once, and keeps their order.
func (c *addCmd) look(ctx context.Context, cl *command.Client, auth map[string]any) ([]candidate, error) {
	where := places
	if len(c.At) > 0 {
		where = nil
		for _, at := range c.At {
			if !strings.Contains(at, "://") {
				at = "http://" + at // as people name what they have started
			}
			where = append(where, place{"", at})
		}
	}
	type answer struct {
		found []candidate
		err   error
	}
	answers := make([]chan answer, 0, len(where))
	for _, p := range where {
		got := make(chan answer, 1)
		answers = append(answers, got)
		go func() {
			found, err := ask(ctx, cl, p, auth)
			got <- answer{found, err}
		}()
	}
	var all []candidate
	var refused error
	for _, got := range answers {
		a := <-got
		if a.err != nil && command.Status(a.err) != http.StatusUnprocessableEntity {
			return nil, a.err
		}
		if refused == nil {
			refused = a.err
		}
		all = append(all, a.found...)
	}
	if len(all) == 0 && len(c.At) > 0 {
		return nil, refused // who names an address wants to know what is wrong with it
	}
	return all, nil
}

// ask returns the models at a place. Status 422 means that nobody serves models there.
func ask(ctx context.Context, cl *command.Client, p place, auth map[string]any) ([]candidate, error) {
	if p.address == cl.Base || p.address == strings.Replace(cl.Base, "localhost", "127.0.0.1", 1) {
		return nil, nil // that is the service itself
	}
	body := map[string]any{"uri": p.address}
	if auth != nil {
		body["auth"] = auth
	}
	var found struct {
		Candidates []candidate `json:"candidates"`
	}
	_, err := cl.Call(ctx, http.MethodPost, models+"/discover", body, &found)
	for i := range found.Candidates {
		found.Candidates[i].program = p.program
	}
	return found.Candidates, err
}

func named(all []candidate, model string) []candidate {
	var out []candidate
	for _, f := range all {
		if f.Model == model {
			out = append(out, f)
		}
	}
	return out
}

// nothing returns the message for a model that was not found: where was looked, or what is there instead.
func (c *addCmd) nothing(there []candidate) string {
	if len(there) > 0 {
		var names []string
		for _, f := range there {
			names = append(names, command.Clip(f.Model, 50))
		}
		return fmt.Sprintf("there is no model %s on the service's machine, only %s", c.Model, strings.Join(names, ", "))
	}
	var where []string
	for _, p := range places {
		where = append(where, p.program+" ("+p.address+")")
	}
	return "no model answers on the service's machine; looked for " + strings.Join(where, ", ") + ". Start one there, such as: ollama run llama3.2"
}

// choose asks which one on a terminal; elsewhere it fails.
func (c *addCmd) choose(e *command.Env, all []candidate) (candidate, error) {
	line, ok, err := e.Ask(fmt.Sprintf("Which one? [1-%d] ", len(all)))
	switch {
	case !ok:
		return candidate{}, command.Failed(command.ExitUsage, "there are %d; choose one with --model, and with --at where two serve it", len(all))
	case errors.Is(err, io.EOF):
		return candidate{}, command.Failed(command.ExitUsage, "none was chosen")
	case err != nil:
		return candidate{}, err
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(all) {
		return candidate{}, command.Failed(command.ExitUsage, "%q is none of them; nothing was added", line)
	}
	return all[n-1], nil
}
