package query

import (
	"encoding/json"
	"errors"
	"net/url"

	"quarry/internal/cli/command"
)

// presetView is the part of a generation preset that is needed here.
type presetView struct {
	Name     string `json:"name"`
	Template string `json:"prompt_template"`
	LLM      string `json:"llm_name"`
	Default  bool   `json:"default"`
}

var errFound = errors.New("found")

// findPreset returns a preset by name, the default one for "", or nil.
func findPreset(e *command.Env, cl *command.Client, name string) (found *presetView, err error) {
	return find(e, cl, "generation_presets", func(p *presetView) bool { return p.Name == name || name == "" && p.Default })
}

// modelView is the part of a language model that is needed here.
type modelView struct {
	Name      string `json:"name"`
	Model     string `json:"model"`
	Default   bool   `json:"default"`
	Ownership string `json:"ownership"`
}

// answerer returns the name of the model that answers the question, and whether it is the one inside the service; "" if the
// caller may not know.
func (c *AskCmd) answerer(e *command.Env, cl *command.Client) (name string, inside bool) {
	asked := c.LLM
	if asked == "" {
		preset, err := findPreset(e, cl, c.Preset)
		if err != nil || preset == nil {
			return "", false
		}
		asked = preset.LLM
	}
	m, err := find(e, cl, "llms", func(m *modelView) bool { return m.Name == asked })
	if err == nil && m != nil && m.Ownership == "platform" && m.Name != m.Model { // an alias stands for the default
		m, err = find(e, cl, "llms", func(m *modelView) bool { return m.Default })
	}
	if err != nil || m == nil {
		return "", false
	}
	return m.Name, m.Ownership == "platform"
}

// find returns the first item of a list operation that is wanted, nil if there is none.
func find[T any](e *command.Env, cl *command.Client, list string, wanted func(*T) bool) (found *T, err error) {
	err = cl.Pages(e.Ctx, "/v2/"+list, list, url.Values{}, func(items []json.RawMessage) error {
		for _, item := range items {
			var one T
			if err := json.Unmarshal(item, &one); err != nil {
				return err
			}
			if wanted(&one) {
				found = &one
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}
