package query

import (
	"net/http"
	"strings"

	"quarry/internal/cli/command"
)

// Scope is embedded by the commands that ask: which passages they ask.
type Scope struct {
	Filter string `help:"Metadata filter, for example: doc.year >= 2024" placeholder:"FILTER" wire:"search.corpora[].metadata_filter"`
	Titles bool   `help:"Let titles be results of their own; by default they are found with the passages below them."`
}

// noTitles is the filter that leaves out the parts that are nothing but a title.
const noTitles = "part.is_title <> true"

// Ask calls fn with the corpora of a query from their keys, which commas separate: first without titles, and once more as the user
// asked when nothing else is found, or when the service refuses the filter, so that it judges what the user wrote. fn returns
// how many results came.
func (s *Scope) Ask(keys string, fn func(corpora []map[string]any) (int, error)) error {
	if s.Titles || strings.Contains(s.Filter, "is_title") {
		_, err := fn(corporaOf(keys, s.Filter))
		return err
	}
	filter := noTitles
	if strings.TrimSpace(s.Filter) != "" {
		filter = "(" + s.Filter + ") AND " + noTitles
	}
	n, err := fn(corporaOf(keys, filter))
	if err == nil && n == 0 || command.Status(err) == http.StatusBadRequest {
		_, err = fn(corporaOf(keys, s.Filter))
	}
	return err
}

// corporaOf returns the corpora of a query.
func corporaOf(keys, filter string) []map[string]any {
	var out []map[string]any
	for key := range strings.SplitSeq(keys, ",") {
		one := map[string]any{"corpus_key": strings.TrimSpace(key)}
		if filter != "" {
			one["metadata_filter"] = filter
		}
		out = append(out, one)
	}
	return out
}
