package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Paging is embedded by the commands that list.
type Paging struct {
	Limit int  `help:"At most this many; 0 lists all." default:"100" wire:"limit"`
	All   bool `help:"Every one, however many."`
}

// limit returns how many items are wanted at most, 0 for all.
func (p Paging) limit() (int, error) {
	switch {
	case p.Limit < 0:
		return 0, Failed(ExitUsage, "--limit must be at least 0, which means all")
	case p.All:
		return 0, nil
	}
	return p.Limit, nil
}

// Listing is how the items of a list operation are shown to people: T is the part of an item that the table needs.
type Listing[T any] struct {
	Path, Member string     // of the operation, and of the items in its answer
	Query        url.Values // filters; those with an empty value are left out
	Paging       Paging     // how many items are wanted
	Empty        string     // printed when there are none; without it the header alone
	Header       []string
	Row          func(v *T) []string
}

// Print prints the items in the order of the service, or with --json all of them as one array.
func (l Listing[T]) Print(e *Env, r Remote) error {
	limit, err := l.Paging.limit()
	if err != nil {
		return err
	}
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
	items, more, err := cl.List(e.Ctx, l.Path, l.Member, query, limit)
	if err != nil {
		return err
	}
	if err := l.print(e, r, items); err != nil || !more {
		return err
	}
	fmt.Fprintf(e.Err, "there are more than %d; --all shows every one\n", len(items))
	return nil
}

func (l Listing[T]) print(e *Env, r Remote, items []json.RawMessage) error {
	raw, err := json.Marshal(items)
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

// Send sends a request, decodes the answer and has show print what people look for in it, or prints all of it with
// --json.
func Send[T any](e *Env, r Remote, method, path string, body any, show func(v *T)) (v T, err error) {
	cl, err := r.Connect()
	if err != nil {
		return v, err
	}
	raw, err := cl.Call(e.Ctx, method, path, body, &v)
	switch {
	case err != nil:
	case !r.JSON:
		show(&v)
	case len(raw) == 0:
		PrintJSON(e.Out, []byte("{}"))
	default:
		PrintJSON(e.Out, raw)
	}
	return v, err
}

// Show reads what is at path and prints it as Send does.
func Show[T any](e *Env, r Remote, path string, show func(v *T)) error {
	_, err := Send(e, r, "GET", path, nil, show)
	return err
}

// Given returns body without the texts, numbers and lists that no flag set.
func Given(body map[string]any) map[string]any {
	maps.DeleteFunc(body, func(_ string, v any) bool {
		switch v := v.(type) {
		case string:
			return v == ""
		case int:
			return v == 0
		case []string:
			return v == nil
		}
		return false
	})
	return body
}

// Fields prints names and values, one on a line; on a terminal long values go on in the next.
func Fields(e *Env, rows [][]string) {
	widest := 0
	for _, row := range rows {
		widest = max(widest, columns(row[0]))
	}
	rows = append([][]string{{"FIELD", "VALUE"}}, rows...)
	widest = max(widest, columns("FIELD"))
	for _, row := range rows {
		value := harmless(strings.Join(strings.Fields(row[1]), " "))
		if value == "" {
			fmt.Fprintln(e.Out, row[0])
			continue
		}
		WrapAfter(e.Out, fmt.Sprintf("%-*s%s", widest, row[0], gap), value)
	}
}

// FieldsGiven prints names and values as Fields does, without those that have no value.
func FieldsGiven(e *Env, rows [][]string) {
	Fields(e, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

// State returns the word for an enabled or disabled thing.
func State(enabled bool) string {
	if enabled {
		return "enabled"
	}
	return "disabled"
}
