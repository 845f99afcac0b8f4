package answer

import (
	"fmt"

	"quarry/internal/cli/command"
	"quarry/internal/cli/query"
)

// model is the part of a language model that is needed here.
type model struct {
	Name      string `json:"name"`
	Model     string `json:"model"`
	Default   bool   `json:"default"`
	Ownership string `json:"ownership"`
}

// answerer is who answers a question.
type answerer struct {
	name   string // "" if the caller may not know
	inside bool   // it is the generator inside the service
	asked  string // the name that the user gave, "" for none
}

// answerer returns who answers what the command asks.
func (a *asking) answerer(e *command.Env, cl *command.Client) answerer {
	if a.LLM != "" {
		return find(e, cl, a.LLM)
	}
	preset, err := query.FindPreset(e, cl, a.Preset)
	if err != nil || preset == nil {
		return answerer{}
	}
	by := find(e, cl, preset.LLM)
	by.asked = ""
	return by
}

// find returns who answers to the name of a model, "" for the default one.
func find(e *command.Env, cl *command.Client, asked string) answerer {
	m, err := command.Find(e.Ctx, cl, "llms", func(m *model) bool { return m.Name == asked || asked == "" && m.Default })
	if err == nil && m != nil && m.Ownership == "platform" && m.Name != m.Model { // an alias stands for the default
		m, err = command.Find(e.Ctx, cl, "llms", func(m *model) bool { return m.Default })
	}
	if err != nil || m == nil {
		return answerer{asked: asked}
	}
	return answerer{name: m.Name, inside: m.Ownership == "platform", asked: asked}
}

// noteAlias prints which model answered where another was asked for.
func (a answerer) noteAlias(e *command.Env) {
	if a.asked != "" && a.name != "" && a.name != a.asked {
		fmt.Fprintf(e.Err, "%s is an alias here: %s answered; to register the real one: quarry llm add %s …\n", a.asked, a.name, a.asked)
	}
}

// introduce prints who answers from now on.
func (a answerer) introduce(e *command.Env) {
	alias := ""
	if a.asked != "" && a.asked != a.name {
		alias = a.asked + " is an alias here: "
	}
	switch {
	case a.inside:
		command.Wrap(e.Err, "", alias+a.name+" answers: the built-in generator, which quotes sentences and does not write. quarry llm add registers a language model.")
	case a.name != "":
		fmt.Fprintf(e.Err, "%s%s answers\n", alias, command.Prose(a.name))
	}
}

// Introduce prints which language model answers to a name, unless the caller may not know.
func Introduce(e *command.Env, cl *command.Client, name string) { find(e, cl, name).introduce(e) }
