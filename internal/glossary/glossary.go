// Package glossary keeps terms and what they stand for, and says which of them a text has. Agents name glossaries in reminders
// (agent/reminder); how terms are found in a text is text/glossary.
package glossary

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/page"
	matcher "quarry/internal/text/glossary"
)

// Glossary is a list of terms under a key.
type Glossary struct {
	No          int64 // the store's row number, which no later glossary gets; never shown
	Key         string
	Name        string
	Description string
	Entries     int64 // how many terms it has
	Version     int64 // raised by every change of the entries, from 0
	Created     time.Time
	Updated     time.Time // the last change, also of the entries; microseconds, UTC, like Created
}

// Position returns the place of g in a list by age.
func (g *Glossary) Position() *page.Position { return page.At(g.Created, g.Key) }

// Entry is a term and what it stands for.
type Entry = matcher.Entry

// The bounds of the contract; lengths are in characters.
const (
	MaxEntries     = 100_000
	maxName        = 100
	maxDescription = 500
	maxTerm        = 200
	maxExpansion   = 1000
	maxBatch       = 1000 // terms of one call
)

var keyPattern = regexp.MustCompile(fmt.Sprintf(`^[a-zA-Z0-9_=-]{1,%d}$`, id.MaxKey))

// Missing returns the fault of a glossary that does not exist.
func Missing(key string) error {
	return fault.NotFound("glossary_not_found", key, "glossary %s does not exist", key)
}

// taken is the code of Taken.
const taken = "glossary_exists"

// Taken returns the fault of a key that another glossary has.
func Taken(key string) error { return fault.Conflict(taken, "glossary %s already exists", key) }

// Full returns the fault of entries that a glossary has no room for.
func Full(has, more int64) error {
	return fault.InvalidField("entries", "has %d terms that are new, too many for a glossary that has %d of at most %d; nothing was stored", more, has, MaxEntries)
}

// check adds what is wrong with name and description.
func (g *Glossary) check(bad *fault.Fault) {
	if strings.TrimSpace(g.Name) == "" {
		bad.Field("name", "must not be empty")
	}
	checkText("name", g.Name, maxName, "", bad)
	checkText("description", g.Description, maxDescription, lines, bad)
}

// lines are the control characters that texts of several lines may have.
const lines = "\t\n\r"

// checkText adds what is wrong with a text of a bounded length.
func checkText(at, text string, most int, allowed string, bad *fault.Fault) {
	if n := utf8.RuneCountInString(text); n > most {
		bad.Field(at, "must be at most %d characters long, it has %d", most, n)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(allowed, r) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		bad.Field(at, "must not have control characters, it has %U", r)
	}
}

// place returns the field of a term of a map. A long term is cut, so that an answer does not repeat what is too long.
func place(term string) string {
	if utf8.RuneCountInString(term) > maxTerm {
		term = string([]rune(term)[:maxTerm]) + "…"
	}
	return fault.Join("entries", term)
}

// checkEntries returns what is wrong with entries that are to be written.
func checkEntries(entries map[string]string) error {
	bad := fault.Invalid()
	if n := len(entries); n < 1 || n > maxBatch {
		bad.Field("entries", "must have 1 to %d terms, it has %d", maxBatch, n)
	}
	for term, expansion := range entries {
		at := place(term)
		checkTerm(at, "the term ", term, bad)
		if strings.TrimSpace(expansion) == "" {
			bad.Field(at, "must not be empty")
		}
		checkText(at, expansion, maxExpansion, lines, bad)
	}
	return bad.Err()
}

// Wrong returns what is wrong with an entry, "" if it may be written.
func Wrong(e Entry) string {
	f, ok := fault.As(checkEntries(map[string]string{e.Term: e.Expansion}))
	if !ok {
		return ""
	}
	return f.Fields[f.Paths()[0]]
}

// checkTerm adds what is wrong with a term. what begins the reason where the field does not stand for the term.
func checkTerm(at, what, term string, bad *fault.Fault) {
	own := fault.Invalid()
	checkText(at, term, maxTerm, "", own)
	if len(own.Fields) == 0 && !matcher.Findable(term) {
		own.Field(at, "must have a character that can be seen")
	}
	for path, reason := range own.Fields {
		bad.Field(path, "%s%s", what, reason)
	}
}
