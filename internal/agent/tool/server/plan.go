package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/clock"
	"quarry/internal/id"
)

// Bounds of what the catalogue takes of a server; more is cut.
const (
	maxToolName        = 50
	maxToolTitle       = 128   // characters
	maxToolDescription = 5_000 // characters
	maxReason          = 300   // characters
)

// plan is what a server has listed, ready for the catalogue.
type plan struct {
	server   *Server
	reserved func(string) bool
	tools    []catalog.Definition // in the order of the server
	broken   int                  // of them can't be used
}

// newPlan checks what a server has listed.
func newPlan(v *Server, listed []Listed, hide *mask.Mask, reserved func(string) bool) (*plan, error) {
	if len(listed) > MaxTools {
		return nil, failed("the tool server lists more than %d tools", MaxTools)
	}
	p := &plan{server: v, reserved: reserved}
	seen := map[string]bool{}
	for i := range listed {
		l := &listed[i]
		if l.Name == "" {
			return nil, failed("tool %d of the tool server has no name", i+1)
		}
		if n := l.size(); n > MaxDefinition {
			return nil, failed("the definition of the tool %s has %d bytes, more than the %d that are allowed", shorten(hide.Text(l.Name), maxToolName), n, MaxDefinition)
		}
		if seen[l.Name] {
			continue // listed twice: the first counts
		}
		seen[l.Name] = true
		d := l.definition(v, hide)
		if d.Remote.Broken != "" {
			p.broken++
		}
		p.tools = append(p.tools, d)
	}
	return p, nil
}

// size returns how many bytes a definition has.
func (l *Listed) size() int {
	return len(l.Name) + len(l.Title) + len(l.Description) + len(l.Input) + len(l.Output)
}

// definition returns the tool as the catalogue has it, without its name there.
func (l *Listed) definition(v *Server, hide *mask.Mask) catalog.Definition {
	d := catalog.Definition{
		Type: catalog.MCP, Title: shorten(strings.TrimSpace(hide.Text(l.Title)), maxToolTitle), Description: strings.TrimSpace(hide.Text(l.Description)), Enabled: true,
		Remote: &catalog.Remote{Server: v.ID, Name: l.Name, ReadOnly: l.ReadOnly, Destructive: l.Destructive, Idempotent: l.Idempotent, OpenWorld: l.OpenWorld},
	}
	if d.Description == "" {
		d.Description = d.Title
	}
	if d.Description == "" {
		d.Description = fmt.Sprintf("The tool %s of the tool server %s.", l.Name, v.Name)
	}
	var why string
	if d.Input, why = schemaOf(masked(hide, l.Input)); why != "" {
		d.Remote.Broken = "input schema " + why
	} else if d.Output, why = schemaOf(masked(hide, l.Output)); why != "" {
		d.Remote.Broken = "output schema " + why
	}
	if len(l.Output) == 0 || string(d.Output) == "{}" {
		d.Output = nil
	}
	if d.Remote.Broken != "" {
		d.Remote.Broken = shorten(d.Remote.Broken, maxReason)
		d.Description = "Disabled: the " + d.Remote.Broken + ". " + d.Description
	}
	d.Description = shorten(d.Description, maxToolDescription)
	return d
}

// masked returns a schema with secrets masked: as it was written, if it holds none.
func masked(hide *mask.Mask, raw json.RawMessage) json.RawMessage {
	if text := string(raw); hide.Text(text) == text {
		return raw
	}
	return hide.JSON(raw)
}

// schemaOf returns a schema as it is kept, {} if there is none or it is no object, and why it can't be used, "" if it can.
func schemaOf(raw json.RawMessage) (kept json.RawMessage, why string) {
	none := json.RawMessage(`{}`)
	if len(raw) == 0 || string(raw) == "null" {
		return none, ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil || b.Bytes()[0] != '{' {
		return none, "is no JSON Schema, which is an object"
	}
	return b.Bytes(), catalog.CheckSchema(b.Bytes())
}

// changes returns how the catalogue comes in step, given the tools of the server in it.
func (p *plan) changes(have []catalog.Tool) Changes {
	var c Changes
	now := clock.Now()
	known := map[string]*catalog.Tool{}
	for i := range have {
		known[have[i].Remote.Name] = &have[i]
	}
	change := func(t *catalog.Tool, d catalog.Definition) {
		if d.Name, d.Enabled = t.Name, t.Enabled; same(&d, &t.Definition) {
			return
		}
		next := *t
		next.Definition, next.Updated = d, now
		c.Changed = append(c.Changed, next)
	}
	listed := map[string]bool{}
	for i, d := range p.tools {
		listed[d.Remote.Name] = true
		if t := known[d.Remote.Name]; t != nil {
			change(t, d)
			continue
		}
		// Lists show the newest first, and so the tools of a server in its order.
		made := catalog.Tool{ID: id.NewTool(), Version: 1, Definition: d, Created: now.Add(-time.Duration(i) * time.Microsecond), Updated: now}
		c.Added = append(c.Added, Added{made, p.names(d.Remote.Name)})
	}
	gone := 0
	for i := range have {
		if t := &have[i]; !listed[t.Remote.Name] {
			gone++
			d, r := t.Definition, *t.Remote
			r.Gone, d.Remote = true, &r
			change(t, d)
		}
	}
	c.Message = p.message(len(c.Added), gone)
	return c
}

// message describes a sync for people.
func (p *plan) message(added, gone int) string {
	text := fmt.Sprintf("%d tools", len(p.tools))
	if len(p.tools) == 1 {
		text = "1 tool"
	}
	if added > 0 {
		text += fmt.Sprintf(", %d new", added)
	}
	if p.broken > 0 {
		text += fmt.Sprintf(", %d with a schema that can't be used", p.broken)
	}
	if gone > 0 {
		text += fmt.Sprintf("; %d that the server no longer lists are disabled", gone)
	}
	return text
}

// same reports whether two definitions are stored alike.
func same(a, b *catalog.Definition) bool {
	one, err1 := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(one, other)
}

// names returns the names that a new tool may have, the best first.
func (p *plan) names(own string) []string {
	plain := fitting(own)
	prefix := fitting(p.server.Name)
	prefix = prefix[:min(len(prefix), max(maxToolName-1-len(plain), maxToolName/2))]
	joined := fit(prefix + "_" + plain)
	sum := sha256.Sum256([]byte(string(p.server.ID) + "/" + own))
	const digits = 8
	last := joined[:min(len(joined), maxToolName-1-digits)] + "_" + hex.EncodeToString(sum[:])[:digits]
	return slices.DeleteFunc([]string{plain, joined, last}, p.reserved)
}

// fitting returns a name with _ in the place of what names in the catalogue can't have.
func fitting(own string) string {
	letters := false
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			letters = true
			return r
		case r == '-':
			return r
		}
		return '_'
	}, own)
	if !letters {
		return "tool"
	}
	return fit(name)
}

// fit returns the beginning of a name that may be too long.
func fit(name string) string { return name[:min(len(name), maxToolName)] }
