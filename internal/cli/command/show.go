package command

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// Listing is how the items of a list operation are shown to people: T is the part of an item that the table needs.
type Listing[T any] struct {
	Path, Member string     // of the operation, and of the items in its answer
	Query        url.Values // filters; those with an empty value are left out
	Limit        int        // at most this many items, 0 for all
	Empty        string     // what is said when there are none; a header alone when empty
	Header       []string
	Row          func(v *T) []string
}

// Print prints the items, newest page first as the service gives them, or with --json all of them as one array.
func (l Listing[T]) Print(e *Env, r Remote) error {
	cl, err := r.Connect()
	if err != nil {
		return err
	}
	query := url.Values{}
	for name, values := range l.Query {
		for _, v := range values {
			if v != "" {
				query.Add(name, v)
			}
		}
	}
	raw, err := cl.List(e.Ctx, l.Path, l.Member, query, l.Limit)
	if err != nil {
		return err
	}
	if r.JSON {
		PrintJSON(e.Out, raw)
		return nil
	}
	var all []T
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	if len(all) == 0 && l.Empty != "" {
		fmt.Fprintln(e.Out, l.Empty)
		return nil
	}
	rows := make([][]string, len(all))
	for i := range all {
		rows[i] = l.Row(&all[i])
	}
	Table(e.Out, l.Header, rows)
	return nil
}

// Show reads what stands at path and has show print the part of it that people look for, or with --json all of it.
func Show[T any](e *Env, r Remote, path string, show func(v *T)) error {
	cl, err := r.Connect()
	if err != nil {
		return err
	}
	var v T
	raw, err := cl.Call(e.Ctx, "GET", path, nil, &v)
	if err != nil {
		return err
	}
	if r.JSON {
		PrintJSON(e.Out, raw)
		return nil
	}
	show(&v)
	return nil
}

// Fields prints names and values, one on a line.
func Fields(e *Env, rows [][]string) { Table(e.Out, []string{"FIELD", "VALUE"}, rows) }

// State puts into words whether something is enabled.
func State(enabled bool) string {
	if enabled {
		return "enabled"
	}
	return "disabled"
}
