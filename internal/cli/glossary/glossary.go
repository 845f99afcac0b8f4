// Package glossary holds the commands about glossaries: terms that agents are told the meaning of.
package glossary

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"quarry/internal/cli/command"
)

// Cmd holds the commands about glossaries.
type Cmd struct {
	Create createCmd `cmd:"" help:"Create a glossary."`
	List   listCmd   `cmd:"" help:"List the glossaries, newest first."`
	Get    getCmd    `cmd:"" help:"Read what is known about a glossary."`
	Update updateCmd `cmd:"" help:"Change name and description of a glossary."`
	Delete deleteCmd `cmd:"" help:"Delete a glossary with its terms."`
	Set    setCmd    `cmd:"" help:"Write what a term stands for."`
	Remove removeCmd `cmd:"" help:"Remove terms from a glossary."`
	Import importCmd `cmd:"" help:"Write the terms of a CSV file to a glossary."`
	Export exportCmd `cmd:"" help:"Print the terms of a glossary as CSV."`
}

// glossaries is the path of all glossaries.
const glossaries = "/v2/glossaries"

// view is the part of a glossary that people look for.
type view struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Entries     int64  `json:"num_entries"`
	Created     string `json:"created_at"`
	Updated     string `json:"updated_at"`
}

type createCmd struct {
	command.Remote
	Name        string  `arg:"" help:"Name, at most 100 characters." wire:"name"`
	As          string  `help:"Key that agents name it by; default: one made of the name." placeholder:"KEY" wire:"key"`
	Description *string `help:"What it is about." wire:"description"`
}

func (createCmd) Help() string {
	return "Steps of agents name it by its key: {\"type\": \"glossary_expansion\", \"glossary_key\": \"plant\"} among their reminders.\n\n" +
		"Example: quarry glossary create 'Plant vocabulary' --as plant"
}

func (c *createCmd) Run(e *command.Env) error {
	body := map[string]any{"name": c.Name}
	if c.As != "" {
		body["key"] = c.As
	}
	if c.Description != nil {
		body["description"] = *c.Description
	}
	_, err := command.Send(e, c.Remote, http.MethodPost, glossaries, body, func(v *view) {
		fmt.Fprintf(e.Out, "created glossary %s\n", v.Key)
	})
	return err
}

type listCmd struct {
	command.Remote
	command.Paging
	Filter string `help:"A part of name or description, in whatever case." wire:"filter"`
}

func (listCmd) Help() string { return "Example: quarry glossary list --filter plant" }

func (c *listCmd) Run(e *command.Env) error {
	return command.Listing[view]{
		Path: glossaries, Member: "glossaries", Query: url.Values{"filter": {c.Filter}}, Paging: c.Paging,
		Empty:  "no glossaries; make one with: quarry glossary create NAME",
		Header: []string{"KEY", "TERMS", "AGE", "NAME", "DESCRIPTION"},
		Row: func(v *view) []string {
			return []string{v.Key, strconv.FormatInt(v.Entries, 10), command.Age(v.Created), v.Name, v.Description}
		},
	}.Print(e, c.Remote)
}

// one is embedded by the commands on one glossary.
type one struct {
	command.Remote
	Glossary string `arg:"" help:"Key of the glossary." wire:"glossary_key"`
}

func (c *one) path() string { return glossaries + "/" + command.Segment(c.Glossary) }

func (c *one) entries() string { return c.path() + "/entries" }

type getCmd struct{ one }

func (getCmd) Help() string { return "Example: quarry glossary get plant" }

func (c *getCmd) Run(e *command.Env) error {
	return command.Show(e, c.Remote, c.path(), func(v *view) {
		command.FieldsGiven(e, [][]string{
			{"key", v.Key}, {"name", v.Name}, {"description", v.Description}, {"terms", strconv.FormatInt(v.Entries, 10)},
			{"created", command.Second(v.Created)}, {"updated", command.Second(v.Updated)},
		})
	})
}

type updateCmd struct {
	one
	Name        *string `help:"New name." wire:"name"`
	Description *string `help:"What it is about." wire:"description"`
}

func (updateCmd) Help() string {
	return "What is not given stays.\n\nExample: quarry glossary update plant --description 'Abbreviations of all manuals'"
}

func (c *updateCmd) Run(e *command.Env) error {
	body := map[string]any{}
	if c.Name != nil {
		body["name"] = *c.Name
	}
	if c.Description != nil {
		body["description"] = *c.Description
	}
	if len(body) == 0 {
		return command.Failed(command.ExitUsage, "say what to change: --name, --description")
	}
	return c.Do(e, http.MethodPatch, c.path(), body, "updated glossary "+c.Glossary)
}

type deleteCmd struct {
	one
	command.Sure
}

func (deleteCmd) Help() string {
	return "Asks first, on a terminal. Elsewhere it needs --yes.\n\nExample: quarry glossary delete plant --yes"
}

func (c *deleteCmd) Run(e *command.Env) error {
	err := c.Confirm(e, "delete glossary "+c.Glossary, func() (string, error) {
		cl, err := c.Connect()
		if err != nil {
			return "", err
		}
		var v view
		_, err = cl.Call(e.Ctx, http.MethodGet, c.path(), nil, &v)
		return command.Count(v.Entries, "term") + ", which agents are told no more", err
	})
	if err != nil {
		return err
	}
	return c.Do(e, http.MethodDelete, c.path(), nil, "deleted glossary "+c.Glossary)
}

type setCmd struct {
	one
	Term      string `arg:"" help:"The term, at most 200 characters." wire:"entries"`
	Expansion string `arg:"" help:"What it stands for, at most 1,000 characters."`
}

func (setCmd) Help() string {
	return "A term that the glossary has gets the new text. One that differs in case alone is another term.\n\n" +
		"Example: quarry glossary set plant HPU 'hydraulic power unit'"
}

func (c *setCmd) Run(e *command.Env) error {
	body := map[string]any{"entries": map[string]string{c.Term: c.Expansion}}
	return c.Do(e, http.MethodPost, c.entries(), body, fmt.Sprintf("%s of glossary %s stands for: %s", c.Term, c.Glossary, c.Expansion))
}

type removeCmd struct {
	one
	Terms []string `arg:"" name:"term" help:"Terms, each as it is written in the glossary." wire:"terms"`
}

func (removeCmd) Help() string {
	return "Terms that the glossary doesn't have are left out.\n\nExample: quarry glossary remove plant HPU PM"
}

func (c *removeCmd) Run(e *command.Env) error {
	return c.Do(e, http.MethodDelete, c.entries(), map[string]any{"terms": c.Terms}, "glossary "+c.Glossary+" has these terms no more")
}
