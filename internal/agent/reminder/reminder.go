// Package reminder is texts that the model of an agent reads beside events of a session: what they are, when they are rendered
// and beside which events they stand.
package reminder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"quarry/internal/agent/instruction"
	"quarry/internal/expr/vtl"
	"quarry/internal/fault"
)

// Hook is a kind of events that reminders stand beside, in the contract's words.
type Hook string

// The hooks.
const (
	Input  Hook = "input_message"
	Output Hook = "tool_output"
)

// Reminder is a text beside events: a template, or what terms of a message stand for. The JSON names are those of the store.
type Reminder struct {
	// Glossary is the key of a glossary whose terms are told beside every input that has them; with it, the other members are empty.
	Glossary string `json:"glossary,omitempty"`

	Template string `json:"template"`
	Plain    bool   `json:"plain,omitempty"` // the template is a text and has no references
	Hooks    []Hook `json:"hooks"`
	Every    int    `json:"every"`          // at every how many events of a hook, from 1
	Skip     int    `json:"skip,omitempty"` // how many of them come before the first one with the reminder
}

// Check adds what is wrong with a reminder to bad, by the names of the contract under a place.
func (r *Reminder) Check(at string, bad *fault.Fault) {
	if r.Glossary != "" { // whether it exists was checked when it was written
		return
	}
	if len(r.Hooks) == 0 {
		bad.Field(fault.Join(at, "hooks"), "must name at least one of %s and %s", Input, Output)
	}
	for i, h := range r.Hooks {
		if h != Input && h != Output {
			bad.Field(fmt.Sprintf("%s.hooks[%d]", at, i), "must be %s or %s, not %q", Input, Output, h)
		}
	}
	if r.Every < 1 {
		bad.Field(fault.Join(at, "fire_every"), "must be at least 1, not %d", r.Every)
	}
	if r.Skip < 0 {
		bad.Field(fault.Join(at, "skip_first"), "must be at least 0, not %d", r.Skip)
	}
	if r.Plain {
		return
	}
	if _, err := vtl.ParseText(r.Template); err != nil {
		bad.Field(fault.Join(at, "template"), "%s", err)
	}
}

// Key returns what the rendered text of a reminder of a step is kept under in a session.
func (r *Reminder) Key(step string) string {
	sum := sha256.Sum256([]byte(step + "\x00" + r.Template))
	return hex.EncodeToString(sum[:12])
}

// Render returns the text of a reminder with the values of its references. A Plain one needs none.
func (r *Reminder) Render(values map[string]vtl.Value) (string, error) {
	text := instruction.Text{Template: r.Template, Plain: r.Plain}
	return text.Render(values)
}

// Ready is a reminder whose text was rendered, or whose glossary was opened.
type Ready struct {
	*Reminder
	Text string
	Note func(input string) string // of a glossary: what it says of an input, "" for nothing
}

// Beside returns what stands beside the event of a hook that n events of it come before, "" for nothing. input is the text of an input.
func (r *Ready) Beside(h Hook, n int, input string) string {
	switch {
	case r.Note != nil && h == Input:
		return r.Note(input)
	case r.Note == nil && r.Fires(h, n):
		return r.Text
	}
	return ""
}

// Fires reports whether the reminder stands beside the event of a hook that n events of it come before.
func (r *Reminder) Fires(h Hook, n int) bool {
	return slices.Contains(r.Hooks, h) && n >= r.Skip && (n-r.Skip)%max(r.Every, 1) == 0
}
