// Package instructions is the HTTP handlers of instructions; wire.go is the only place where their wire types meet package
// instruction, which has the rules. Package app makes the area.
package instructions

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"quarry/internal/agent/instruction"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/page"
)

// Area answers the operations of instructions.
type Area struct {
	instructions *instruction.Service
	cursors      *page.Cursors
}

// New returns the area; cursors sign its page keys.
func New(s *instruction.Service, cursors *page.Cursors) *Area { return &Area{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"createInstruction": a.create, "listInstructions": a.list, "getInstruction": a.get, "updateInstruction": a.update,
		"deleteInstruction": a.delete, "deleteInstructionVersion": a.deleteVersion, "testInstruction": a.test,
	}
}

// Resolver returns a resolver that reads the instruction in the path, in its latest version.
func Resolver(s *instruction.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) error {
		found, err := s.Get(ctx, id.Instruction(c.Path["instruction_id"]), 0)
		c.Found = found
		return err
	}
}

// found returns what the resolver has read.
func found(c *httpapi.Call) instruction.Instruction {
	in, _ := c.Found.(instruction.Instruction)
	return in
}

// asked returns what the resolver has read, in the version that the query asks for.
func (a *Area) asked(ctx context.Context, c *httpapi.Call) (instruction.Instruction, error) {
	in, given := found(c), c.Query.Get("version")
	if given == "" {
		return in, nil
	}
	version, err := number(in.ID, given)
	if err != nil || version == in.Version {
		return in, err
	}
	return a.instructions.Get(ctx, in.ID, version)
}

// number returns the number of a version, of which the text has digits alone. One that is too large is that of none.
func number(of id.Instruction, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.NotFound("instruction_version_not_found", string(of), "instruction %s has no version %s", of, text)
	}
	return n, nil
}

func (a *Area) create(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	made, err := a.instructions.Create(r.Context(), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	c.Named = map[string]string{"instruction_id": string(made.ID)}
	return httpapi.WriteJSON(w, http.StatusCreated, wireInstruction(&made))
}

func (a *Area) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("filter", "type", "enabled")
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	l := instruction.List{After: after, Limit: c.Limit(), Enabled: httpapi.Bool(scope.Filters, "enabled")}
	l.Match, err = httpapi.Match(scope.Filters, func(in *instruction.Instruction) []string { return []string{in.Name, in.Description} })
	if err != nil {
		return err
	}
	found, next, err := a.instructions.List(r.Context(), l)
	if err != nil {
		return err
	}
	out := listBody{Instructions: make([]instructionBody, len(found))}
	for i := range found {
		out.Instructions[i] = wireInstruction(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

func (a *Area) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	is, err := a.asked(r.Context(), c)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireInstruction(&is))
}

func (a *Area) update(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	change, err := parse(c.Body)
	if err != nil {
		return err
	}
	changed, err := a.instructions.Update(r.Context(), found(c), change)
	if err != nil {
		return fault.Under(err, "body")
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireInstruction(&changed))
}

func (a *Area) delete(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	return httpapi.NoContent(w, a.instructions.Delete(r.Context(), found(c)))
}

func (a *Area) deleteVersion(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	text := c.Path["version"]
	if strings.Trim(text, "0123456789") != "" || strings.Trim(text, "0") == "" {
		return fault.InvalidField("path.version", "must be an integer of at least 1, not %q", text)
	}
	version, err := number(found(c).ID, text)
	if err != nil {
		return err
	}
	return httpapi.NoContent(w, a.instructions.DeleteVersion(r.Context(), found(c), version))
}

func (a *Area) test(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	with, err := sample(c.Body)
	if err != nil {
		return err
	}
	in, err := a.asked(r.Context(), c)
	if err != nil {
		return err
	}
	text, err := a.instructions.Test(in, with)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, testBody{text})
}
