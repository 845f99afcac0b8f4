// Package configuration keeps configurations of tools that several agents refer to, and makes the tools of an agent out of what
// it has of its own and what it refers to.
package configuration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Configuration is a configuration of a tool that agents refer to by its key.
type Configuration struct {
	No      int64  `json:"no"` // the store's row number, which no later one of the key gets
	Key     string `json:"key"`
	Version int64  `json:"version"` // raised by every change, from 1
	Definition
	Created time.Time `json:"-"` // microseconds, UTC, like Updated
	Updated time.Time `json:"-"`
}

// Position returns the place of c in a list by age.
func (c *Configuration) Position() *page.Position { return page.At(c.Created, c.Key) }

// Definition is what a configuration is. The JSON names are those of the store, and of what a turn keeps.
type Definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Enabled     bool            `json:"enabled"`
	Metadata    json.RawMessage `json:"metadata"` // an object
	Entry       json.RawMessage `json:"entry"`    // as an agent has it inline
}

// Type returns the type of the tool.
func (d *Definition) Type() string {
	var e struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(d.Entry, &e) // "" for what is no entry
	return e.Type
}

// Types are those that a configuration can have.
var Types = slices.DeleteFunc(catalog.Types(), func(kind string) bool { return kind == catalog.Client })

// Change is what a client writes. In a change of what is there, what is absent stays and null clears.
type Change struct {
	Name        opt.Field[string]
	Description opt.Field[string]
	Enabled     opt.Field[bool]
	Metadata    opt.Field[json.RawMessage]
	Entry       map[string]json.RawMessage // members of the entry; each replaces the one that is there, null removes it
}

// noMetadata is the metadata of what has none.
const noMetadata = `{}`

// apply returns d with the change.
func (c *Change) apply(d Definition, bad *fault.Fault) (Definition, error) {
	d.Name, d.Enabled = c.Name.Or(d.Name), c.Enabled.Or(d.Enabled || c.Enabled.IsNull())
	if d.Description = c.Description.Or(d.Description); c.Description.IsNull() {
		d.Description = ""
	}
	if d.Metadata = c.Metadata.Or(d.Metadata); c.Metadata.IsNull() || d.Metadata == nil {
		d.Metadata = json.RawMessage(noMetadata)
	}
	d.check(bad)
	if len(c.Entry) == 0 {
		return d, nil
	}
	members := map[string]json.RawMessage{}
	if d.Entry != nil {
		if err := json.Unmarshal(d.Entry, &members); err != nil {
			return d, fmt.Errorf("read a configuration of a tool: %w", err)
		}
	}
	for name, v := range c.Entry {
		if members[name] = v; string(v) == "null" {
			delete(members, name)
		}
	}
	entry, err := encode(members)
	if err != nil {
		return d, err
	}
	if d.Entry = entry; len(entry) > maxEntry {
		bad.Field("", "has %d bytes, more than the %d of a configuration that is kept", len(entry), maxEntry)
	}
	return d, nil
}

// Bounds of a definition. An entry is written with every turn that begins with it.
const (
	maxName        = 50 // characters
	maxDescription = 5_000
	maxEntry       = 64 << 10 // bytes
)

// check adds to bad what is wrong beside the entry.
func (d *Definition) check(bad *fault.Fault) {
	if strings.TrimSpace(d.Name) == "" {
		bad.Field("name", "must not be empty")
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"name", d.Name, maxName}, {"description", d.Description, maxDescription}} {
		if n := utf8.RuneCountInString(text.value); n > text.most {
			bad.Field(text.field, "must be at most %d characters long, it has %d", text.most, n)
		}
	}
}

// same reports whether two definitions are the same, however the JSON in them is written.
func same(a, b *Definition) bool {
	x, first := encode(a)
	y, second := encode(b)
	return first == nil && second == nil && bytes.Equal(x, y)
}

// encode returns a value as compact JSON.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a configuration of a tool: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

var keyPattern = regexp.MustCompile(fmt.Sprintf(`^[0-9a-zA-Z_-]{1,%d}$`, id.MaxKey))

// Missing returns the fault of a configuration that does not exist.
func Missing(key string) error {
	return fault.NotFound("tool_configuration_not_found", key, "tool configuration %s does not exist", key)
}

// taken is the code of Taken.
const taken = "tool_configuration_exists"

// Taken returns the fault of a key that another configuration has.
func Taken(key string) error {
	return fault.Conflict(taken, "tool configuration %s already exists; choose another key", key)
}
