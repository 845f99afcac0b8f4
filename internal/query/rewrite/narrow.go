package rewrite

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/expr/filter"
)

// narrow returns the caller's filter joined with one that a model wrote. The model may have been talked into anything, so
// its text has to be a filter by itself: then it can't close the parenthesis around it and begin something else.
func (q *Query) narrow(extracted string) (combined string, w Warning) {
	schema, err := q.Corpus.Schema()
	if err != nil {
		return "", Failure
	}
	combined = strings.TrimSpace(extracted)
	f, err := filter.Parse(combined, schema, filter.Both)
	if err != nil {
		return "", Unreadable
	}
	if len(f.Attrs()) == 0 { // blank, or about no attribute, such as true
		return "", Nothing
	}
	if own := strings.TrimSpace(q.Filter); own != "" {
		combined = "(" + own + ") AND (" + combined + ")"
		if _, err := filter.Parse(combined, schema, filter.Both); err != nil { // too long or too deep together
			return "", Unreadable
		}
	}
	return combined, ""
}

// longest is the length of a query in characters that the contract allows.
const longest = 5000

// rest returns what to search for when a model leaves these words of the query.
func (q *Query) rest(words string) string {
	words = strings.TrimSpace(words)
	if words == "" || utf8.RuneCountInString(words) > longest {
		return q.Text
	}
	return words
}
