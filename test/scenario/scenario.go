// Package scenario runs black-box scenarios against the service: data files that name an operation, what to send and
// what must come back. Every response is checked against the contract. What ran is the evidence of the ledger
// (docs/reference/operations.md). It is called by its own test.
package scenario

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// Scenario is one file.
type Scenario struct {
	Name  string `yaml:"name"`
	Alone bool   `yaml:"alone"` // it changes what holds for all callers, or looks at it: it gets a service of its own
	Steps []Step `yaml:"steps"`
}

// Step is one call and what must come back. Strings may hold ${name} of a value saved by an earlier step, and of a value of the target:
// ${provider} is the address of a scripted provider of language models; ${web} and ${other} are sites of package site, and so is ${safe},
// whose certificate nobody has signed; ${tools} is that of the tool servers of package toolserver. ${an_hour_ago}, ${in_an_hour} and
// ${thirty_one_days_ago} are moments.
type Step struct {
	Call    string            `yaml:"call"`    // operation id
	Path    map[string]string `yaml:"path"`    // path parameters, encoded by the runner
	RawPath string            `yaml:"rawpath"` // instead of call's path: sent exactly as it stands
	Query   map[string]any    `yaml:"query"`   // a list repeats the parameter
	Headers map[string]string `yaml:"headers"`
	Key     string            `yaml:"key"`    // owner (default), powerless (no role), none, bad, or a saved secret as ${name}
	Bearer  string            `yaml:"bearer"` // instead of key: a saved token as ${name}, sent as Authorization: Bearer
	Basic   string            `yaml:"basic"`  // instead of key: ${client_id}:${client_secret}, sent as Authorization: Basic
	Body    any               `yaml:"body"`
	Raw     *string           `yaml:"raw"`    // body sent exactly as it stands
	Repeat  *Repeat           `yaml:"repeat"` // body made of a repeated text
	Form    []FormPart        `yaml:"form"`
	Encoded map[string]string `yaml:"encoded"` // members of an application/x-www-form-urlencoded body
	Expect  Expect            `yaml:"expect"`
	Save    map[string]string `yaml:"save"`  // name → path in the response, such as search_results.0.score
	Race    *Race             `yaml:"race"`  // instead of everything above
	Times   int               `yaml:"times"` // in a race: how often at once
	Waits   bool              `yaml:"waits"` // the call is made again until it meets what is expected, which comes about by itself
}

// Repeat describes a long body: Before, then Text Times times, then After.
type Repeat struct {
	Before string `yaml:"before"`
	Text   string `yaml:"text"`
	Times  int    `yaml:"times"`
	After  string `yaml:"after"`
}

// FormPart is one part of a multipart body.
type FormPart struct {
	Name     string  `yaml:"name"`
	Filename string  `yaml:"filename"`
	Type     string  `yaml:"type"`
	Text     string  `yaml:"text"`
	JSON     any     `yaml:"json"`
	Repeat   *Repeat `yaml:"repeat"`
	Binary   string  `yaml:"binary"` // as !!binary
}

// Expect is what must come back.
type Expect struct {
	Status   int               `yaml:"status"`
	OneOf    []int             `yaml:"one_of"`   // instead of status, in a race
	Body     any               `yaml:"body"`     // subset: maps by member, lists in full, each element a subset
	Contains []string          `yaml:"contains"` // texts somewhere in the body
	Lacks    []string          `yaml:"lacks"`    // texts that must stand nowhere in the body
	Absent   []string          `yaml:"absent"`   // paths that must not exist
	Lengths  map[string]int    `yaml:"lengths"`  // path → number of elements
	Headers  map[string]string `yaml:"headers"`  // "*" stands for any value
	Events   []any             `yaml:"events"`   // of a stream, in full, each a subset; chunks in a row are one
}

// Read reads a scenario; a member that does not exist is an error.
func Read(name string) (*Scenario, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var s Scenario
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Name == "" || len(s.Steps) == 0 {
		return nil, fmt.Errorf("%s: a scenario needs a name and steps", name)
	}
	return &s, nil
}
