package query

import "strings"

// Scope is embedded by the commands that ask: which passages they ask.
type Scope struct {
	Filter string `help:"Metadata filter, for example: doc.year >= 2024" placeholder:"FILTER" wire:"search.corpora[].metadata_filter"`
	Titles bool   `help:"Let headings be results of their own, among the passages; by default they lead to the text below them."`
}

// withTitles is a filter that every part passes. As it names headings, they are results like any other.
const withTitles = "part.is_title IN (true, false)"

// Corpora returns the corpora of a query from their keys, which commas separate.
func (s *Scope) Corpora(keys string) []map[string]any {
	filter := s.Filter
	switch {
	case !s.Titles || strings.Contains(filter, "is_title"):
	case strings.TrimSpace(filter) == "":
		filter = withTitles
	default:
		filter = "(" + filter + ") AND " + withTitles
	}
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
