// Package skill is guidance that the model of an agent loads when it needs it: it sees what skills there are and reads the
// content of those that are loaded, by its own call of Tool or by an input.
package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Field is the member of an agent that holds skills; faults name fields in it.
const Field = "skills"

// Tool is the name of the tool by which the model loads a skill. No configuration of a tool may have it.
const Tool = "invoke_skill"

// argument is what the tool takes.
const argument = "skill_name"

// Skill is one piece of guidance. The JSON names are those of the store.
type Skill struct {
	Description string `json:"description"`
	WhenToUse   string `json:"when_to_use,omitempty"`
	Content     string `json:"content"`
}

// The bounds of a skill, in characters.
const (
	maxName    = 64
	maxAbout   = 500
	maxContent = 50_000
)

// Check adds what is wrong with skills to bad, under Field.
func Check(all map[string]Skill, bad *fault.Fault) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at, s := fault.Join(Field, name), all[name]
		if strings.TrimSpace(name) != name || name == "" || utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, unicode.IsControl) {
			bad.Field(at, "is no name of a skill: it has 1 to %d characters, no line breaks, and no blanks around it", maxName)
		}
		required(at, "description", s.Description, maxAbout, bad)
		length(at, "when_to_use", s.WhenToUse, maxAbout, bad)
		required(at, "content", s.Content, maxContent, bad)
	}
}

func required(at, member, text string, most int, bad *fault.Fault) {
	if strings.TrimSpace(text) == "" {
		bad.Field(fault.Join(at, member), "must not be empty")
	}
	length(at, member, text, most, bad)
}

func length(at, member, text string, most int, bad *fault.Fault) {
	if n := utf8.RuneCountInString(text); n > most {
		bad.Field(fault.Join(at, member), "must be at most %d characters long, it has %d", most, n)
	}
}

// Set is the skills that may be loaded, by name.
type Set map[string]Skill

// Allowed returns those of all skills that a step allows: with nil every one.
func Allowed(all map[string]Skill, names *[]string) Set {
	if names == nil {
		return all
	}
	out := Set{}
	for _, name := range *names {
		if s, ok := all[name]; ok {
			out[name] = s
		}
	}
	return out
}

func (s Set) names() []string { return slices.Sorted(maps.Keys(s)) }

// Prompt returns what the model is told of the skills, without their contents; "" for none.
func (s Set) Prompt() string {
	if len(s) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Skills are guidance for certain tasks. Before you do such a task, load its skill with the tool %s. Skills by name:", Tool)
	for _, name := range s.names() {
		fmt.Fprintf(&b, "\n- %s: %s", name, line(s[name].Description))
		if when := line(s[name].WhenToUse); when != "" {
			fmt.Fprintf(&b, " When to use: %s", when)
		}
	}
	return b.String()
}

// line returns a text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// Offer returns the tool that loads the skills, none where there are none.
func (s Set) Offer() []llm.Tool {
	if len(s) == 0 {
		return nil
	}
	type object = map[string]any
	schema, _ := json.Marshal(object{ // texts always encode
		"type":                 "object",
		"properties":           object{argument: object{"type": "string", "enum": s.names(), "description": "The skill to load."}},
		"required":             []string{argument},
		"additionalProperties": false,
	})
	return []llm.Tool{{Name: Tool, Description: "Loads a skill: its guidance follows as a message.", Parameters: schema}}
}

// Invoked returns the skill that a call of Tool asks for. The error is for the model.
func (s Set) Invoked(arguments json.RawMessage) (name string, found Skill, err error) {
	var sent struct {
		Name *string `json:"skill_name"`
	}
	if json.Unmarshal(arguments, &sent) != nil || sent.Name == nil {
		return "", Skill{}, fmt.Errorf("the arguments must be an object with the name of a skill as %s; %s", argument, s.choice())
	}
	found, ok := s[*sent.Name]
	if !ok {
		return "", Skill{}, fmt.Errorf("there is no skill %q here; %s", clip(*sent.Name), s.choice())
	}
	return *sent.Name, found, nil
}

// choice returns a sentence with the skills that there are.
func (s Set) choice() string {
	if len(s) == 0 {
		return "no skills can be loaded in this step"
	}
	return "there are: " + strings.Join(s.names(), ", ")
}

// clip returns the beginning of a name that is longer than names are.
func clip(name string) string {
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return name
}

// Unknown returns what is wrong with the name of a skill that all does not have.
func Unknown(name string, all map[string]Skill) string {
	if len(all) == 0 {
		return fmt.Sprintf("is %q, but the agent has no skills", clip(name))
	}
	return fmt.Sprintf("is %q, which is no skill of the agent; it has: %s", clip(name), strings.Join(Set(all).names(), ", "))
}
