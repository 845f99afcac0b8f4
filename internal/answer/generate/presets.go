package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/page"
)

// PresetStore keeps the presets of the customer. Several processes use one store at once. A preset that does not exist
// is ErrNoPreset.
type PresetStore interface {
	// Create writes a preset: ErrPresetTaken when another has its name. A default one takes the place of the default.
	Create(ctx context.Context, p Preset) error
	// Get returns a preset.
	Get(ctx context.Context, preset id.Preset) (Preset, error)
	// Named returns the presets of these names, and the default one if there is one, each once, in no order.
	Named(ctx context.Context, names ...string) ([]Preset, error)
	// List returns up to limit presets that come after a place, newest first.
	List(ctx context.Context, after *page.Position, limit int) ([]Preset, error)
	// Replace writes all of a preset but its id and when it was created, which it gives: ErrPresetTaken when another has
	// its name.
	Replace(ctx context.Context, p Preset) (Preset, error)
	// Delete removes a preset.
	Delete(ctx context.Context, preset id.Preset) error
}

// The errors of preset stores.
var (
	ErrNoPreset    = errors.New("no such generation preset")
	ErrPresetTaken = errors.New("the name of the generation preset is taken")
)

// Presets manages the presets of the customer and of the platform. It is safe for concurrent use.
type Presets struct {
	store    PresetStore
	models   llm.Models
	platform []Preset
}

// NewPresets returns the presets of a store and of the platform.
func NewPresets(s PresetStore, m llm.Models) *Presets {
	return &Presets{store: s, models: m, platform: platformPresets()}
}

// platformPreset returns a preset of the platform by name or id.
func (s *Presets) platformPreset(ref string) (Preset, bool) {
	i := slices.IndexFunc(s.platform, func(p Preset) bool { return p.Name == ref || string(p.ID) == ref })
	if i < 0 {
		return Preset{}, false
	}
	return s.platform[i], true
}

// Find returns the preset of a name, the default one for "". A name that nothing has or whose preset is disabled is
// fault.KindInvalid without a field.
func (s *Presets) Find(ctx context.Context, name string) (Preset, error) {
	wanted := cmp.Or(name, DefaultPreset)
	rows, err := s.store.Named(ctx, wanted)
	if err != nil {
		return Preset{}, fmt.Errorf("look up generation preset: %w", err)
	}
	if name == "" {
		return s.preferred(rows), nil
	}
	found, ok := byName(rows, wanted)
	if !ok {
		if found, ok = s.platformPreset(canonicalName(wanted)); !ok || found.Name != canonicalName(wanted) {
			return Preset{}, unusable("there is no generation preset %q; GET /v2/generation_presets lists those there are", name)
		}
	}
	if !found.Enabled {
		return Preset{}, unusable("the generation preset %q is disabled", found.Name)
	}
	return found, nil
}

// unusable returns the fault of a name, without a field.
func unusable(format string, args ...any) error {
	f := fault.Invalid()
	f.Text = fmt.Sprintf(format, args...)
	return f
}

func byName(rows []Preset, name string) (Preset, bool) {
	i := slices.IndexFunc(rows, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return rows[i], true
}

// preferred returns the preset that is used where none is named, of rows with the customer's default one and the customer's
// one named like the platform's default. A disabled one does not count while it is.
func (s *Presets) preferred(rows []Preset) Preset {
	for _, p := range rows {
		if p.Default && p.Enabled {
			return p
		}
	}
	out, ok := byName(rows, DefaultPreset)
	if !ok || !out.Enabled {
		out, _ = s.platformPreset(DefaultPreset)
	}
	out.Default = true
	return out
}

// List returns a page of presets, newest first, those of the platform last, and where the next page begins, nil on the last
// one. A preset of the platform whose name the customer took is left out, unless it stands in for that one. Each has the
// model that answers it, Enabled only if that can be used now, and exactly one is the default.
func (s *Presets) List(ctx context.Context, l PresetList) (page []Preset, next *page.Position, err error) {
	names := make([]string, len(s.platform))
	for i, p := range s.platform {
		names[i] = p.Name
	}
	rows, err := s.store.Named(ctx, names...)
	if err != nil {
		return nil, nil, fmt.Errorf("look up generation presets: %w", err)
	}
	complete, preferred := s.completer(rows), s.preferred(rows).ID
	const batch = 100
	for after := l.After; len(page) <= l.Limit; {
		found, err := s.store.List(ctx, after, batch)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range found {
			after = p.Position()
			if p, err = complete(ctx, p); err != nil {
				return nil, nil, err
			}
			if l.shows(&p) {
				page = append(page, p)
			}
		}
		if len(found) < batch {
			break
		}
	}
	for _, p := range s.platform {
		_, overridden := byName(rows, p.Name)
		if overridden && p.ID != preferred || !l.After.Precedes(p.Position()) {
			continue
		}
		if p, err = complete(ctx, p); err != nil {
			return nil, nil, err
		}
		if l.shows(&p) {
			page = append(page, p)
		}
	}
	if len(page) > l.Limit {
		page = page[:l.Limit]
		next = page[l.Limit-1].Position()
	}
	return page, next, nil
}

// completer returns a function that completes a preset for clients. It looks up each language model once.
func (s *Presets) completer(rows []Preset) func(context.Context, Preset) (Preset, error) {
	preferred := s.preferred(rows).ID
	type answer struct {
		name string
		ok   bool
	}
	known := map[string]answer{}
	return func(ctx context.Context, p Preset) (Preset, error) {
		a, asked := known[p.LLM]
		if !asked {
			m, err := s.models.Model(ctx, p.LLM)
			if ctx.Err() != nil {
				return Preset{}, context.Cause(ctx)
			}
			if a.name, a.ok = p.LLM, err == nil; a.ok { // whatever keeps a model from answering keeps its presets from it
				a.name = m.Name
			}
			known[p.LLM] = a
		}
		if p.LLM == "" {
			p.LLM = a.name
		}
		p.Enabled = p.Enabled && a.ok
		p.Default = p.ID == preferred
		return p, nil
	}
}

// The bounds of what a preset holds.
const (
	maxPresetName        = 255    // characters
	maxPresetDescription = 10_000 // characters
	maxTemperature       = 2.0
	maxPenalty           = 1.0
)

// Create adds a preset of the customer; its id and times are set here. A name that another has, a language model that
// does not answer and a template that does not compile are faults of their fields.
func (s *Presets) Create(ctx context.Context, p Preset) (Preset, error) {
	if err := s.check(ctx, &p); err != nil {
		return Preset{}, err
	}
	p.ID, p.Platform = id.NewPreset(), false
	p.Created = clock.Now()
	p.Updated = p.Created
	err := s.store.Create(ctx, p)
	if errors.Is(err, ErrPresetTaken) {
		return Preset{}, nameTaken(p.Name)
	}
	if err != nil {
		return Preset{}, err
	}
	return s.describe(ctx, p)
}

func nameTaken(name string) error {
	return fault.InvalidField("name", "another generation preset has the name %q", name)
}

// Replace writes all of a preset but its id and when it was created. See Create.
func (s *Presets) Replace(ctx context.Context, p Preset) (Preset, error) {
	if err := s.own(ctx, p.ID); err != nil {
		return Preset{}, err
	}
	if err := s.check(ctx, &p); err != nil {
		return Preset{}, err
	}
	p.Platform, p.Updated = false, clock.Now()
	out, err := s.store.Replace(ctx, p)
	switch {
	case errors.Is(err, ErrPresetTaken):
		return Preset{}, nameTaken(p.Name)
	case errors.Is(err, ErrNoPreset):
		return Preset{}, noPreset(p.ID)
	case err != nil:
		return Preset{}, err
	}
	return s.describe(ctx, out)
}

// Delete removes a preset of the customer. The platform's one of its name is there again, and its place as the default is
// the platform's.
func (s *Presets) Delete(ctx context.Context, preset id.Preset) error {
	if err := s.own(ctx, preset); err != nil {
		return err
	}
	err := s.store.Delete(ctx, preset)
	if errors.Is(err, ErrNoPreset) {
		return noPreset(preset)
	}
	return err
}

// own returns an error unless the preset exists and belongs to the customer.
func (s *Presets) own(ctx context.Context, preset id.Preset) error {
	if p, ok := s.platformPreset(string(preset)); ok && p.ID == preset {
		return readOnly(p)
	}
	_, err := s.store.Get(ctx, preset)
	if errors.Is(err, ErrNoPreset) {
		return noPreset(preset)
	}
	return err
}

// describe returns a preset as clients see it.
func (s *Presets) describe(ctx context.Context, p Preset) (Preset, error) {
	rows, err := s.store.Named(ctx, DefaultPreset)
	if err != nil {
		return Preset{}, fmt.Errorf("look up the default generation preset: %w", err)
	}
	return s.completer(rows)(ctx, p)
}

// check reports everything that is wrong with a preset at once.
func (s *Presets) check(ctx context.Context, p *Preset) error {
	bad := fault.Invalid()
	switch n := utf8.RuneCountInString(p.Name); {
	case strings.TrimSpace(p.Name) == "":
		bad.Field("name", "must not be empty")
	case n > maxPresetName:
		bad.Field("name", "must be at most %d characters long, it has %d", maxPresetName, n)
	}
	if n := utf8.RuneCountInString(p.Description); n > maxPresetDescription {
		bad.Field("description", "must be at most %d characters long, it has %d", maxPresetDescription, n)
	}
	if p.LLM == "" {
		bad.Field("llm_name", "must not be empty; GET /v2/llms lists the language models")
	} else if _, err := s.models.Model(ctx, p.LLM); err != nil {
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid {
			return err
		}
		join(bad, err, "llm_name")
	}
	if _, err := CompilePrompt(p.Template); err != nil {
		join(bad, err, "prompt_template")
	}
	within := func(field string, v *float64, most float64) {
		if v != nil && (*v < 0 || *v > most) {
			bad.Field(field, "must be 0 to %g", most)
		}
	}
	within("temperature", p.Temperature, maxTemperature)
	within("frequency_penalty", p.FrequencyPenalty, maxPenalty)
	within("presence_penalty", p.PresencePenalty, maxPenalty)
	if len(bad.Fields) > 0 {
		return bad
	}
	return nil
}

// join adds the text of an error to the faults, as the fault of a field.
func join(bad *fault.Fault, err error, field string) {
	if f, ok := fault.As(err); ok {
		bad.Field(field, "%s", f.Text)
	}
}
