// Package generate answers questions from passages with a language model: it finds preset and model, renders the prompt, fits it
// to the model's context, runs the model, rewrites its citations and has the answer scored. Package query and the handlers of
// presets call it; it searches nothing and knows no transport. Answers come in events, so that streamed and whole answers are
// produced in the same way.
package generate

import (
	"encoding/json"
	"regexp"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Preset is a named bundle of prompt template, language model and parameters. Absent parameters are left to the model.
type Preset struct {
	ID          id.Preset
	Name        string
	Description string
	LLM         string // name of the language model; "" is the default one
	Template    string
	MaxResults  int // that the prompt shows at most; 0 is not said

	MaxTokens        *int
	Temperature      *float64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	Extra            map[string]json.RawMessage // passed on to the provider as they are

	Enabled  bool // may be used; in lists also: and its model answers now
	Default  bool // it is used where none is named
	Platform bool // the installation's, not the customer's
	Created  time.Time
	Updated  time.Time
}

// Position is the place of a preset in lists.
func (p *Preset) Position() *page.Position { return page.At(p.Created, p.ID) }

// PresetList selects the presets to list, newest first, those of the platform last.
type PresetList struct {
	Limit int
	After *page.Position // the last one shown, nil for the first page
	LLM   string         // only those that this model answers, "" for all
	Match *regexp.Regexp // only those with a name or a description that it matches, nil for all
}

func (l *PresetList) shows(p *Preset) bool {
	return (l.LLM == "" || l.LLM == p.LLM) &&
		(l.Match == nil || l.Match.MatchString(p.Name) || l.Match.MatchString(p.Description))
}

// noPreset returns the fault of changing a preset that does not exist.
func noPreset(preset id.Preset) error {
	return fault.NotFound("generation_preset_not_found", string(preset), "generation preset %s does not exist", preset)
}

// readOnly returns the fault of changing a preset of the platform.
func readOnly(p Preset) error {
	return fault.Forbidden("the generation preset %s belongs to the platform and can't be changed or deleted; create one of your own, which may have the same name", p.Name)
}
