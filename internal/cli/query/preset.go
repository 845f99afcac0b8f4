package query

import "quarry/internal/cli/command"

// Preset is the part of a generation preset that commands need.
type Preset struct {
	Name     string `json:"name"`
	Template string `json:"prompt_template"`
	LLM      string `json:"llm_name"`
	Default  bool   `json:"default"`
}

// FindPreset returns a preset by name, the default one for "", or nil.
func FindPreset(e *command.Env, cl *command.Client, name string) (found *Preset, err error) {
	return command.Find(e.Ctx, cl, "generation_presets", func(p *Preset) bool { return p.Name == name || name == "" && p.Default })
}
