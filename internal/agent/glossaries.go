package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/fault"
)

// Glossaries knows which glossaries there are; glossary.Service does.
type Glossaries interface {
	// Unknown returns those keys that no glossary has.
	Unknown(ctx context.Context, keys []string) ([]string, error)
}

// Glossaries returns the keys of the glossaries that the reminders of all steps name, each once.
func (d *Definition) Glossaries() []string {
	var out []string
	for _, s := range d.Steps {
		for i := range s.Reminders {
			if key := s.Reminders[i].Glossary; key != "" {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// glossaries returns the keys of the glossaries that a change names, by the fields that do.
func (c *Change) glossaries() map[string]string {
	out := map[string]string{}
	add := func(at string, s *StepChange) {
		if s == nil {
			return
		}
		for i, r := range s.Reminders.Or(nil) {
			if r.Glossary != "" {
				out[fmt.Sprintf("%s.reminders[%d].glossary_key", at, i)] = r.Glossary
			}
		}
	}
	add("first_step", c.First)
	for name, s := range c.Steps.Or(nil) {
		add("steps."+name, s)
	}
	return out
}

// vocabulary adds to bad the glossaries that a change names and that there are not.
func (s *Service) vocabulary(ctx context.Context, c *Change, bad *fault.Fault) error {
	named := c.glossaries()
	if len(named) == 0 {
		return nil
	}
	unknown, err := s.glossaries.Unknown(ctx, slices.Compact(slices.Sorted(maps.Values(named))))
	if err != nil {
		return err
	}
	for at, key := range named {
		if slices.Contains(unknown, key) {
			bad.Field(at, "there is no glossary %q", key)
		}
	}
	return nil
}
