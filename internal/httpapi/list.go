package httpapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/page"
)

// Scope returns the list that was asked for, of this caller, with those filters among names that the request has.
func (c *Call) Scope(names ...string) page.Scope {
	scope := page.Scope{Operation: c.Op.ID, Caller: string(c.Principal.Kind) + " " + c.Principal.ID, Filters: map[string]string{}}
	for _, name := range names {
		if v := c.Query.Get(name); v != "" {
			scope.Filters[name] = v
		}
	}
	return scope
}

// After returns the place after which the page asked for begins, nil for the first page. Filters that the request
// leaves out are taken from its page key into scope.
func (c *Call) After(cursors *page.Cursors, scope *page.Scope) (*page.Position, error) {
	after, err := cursors.After(scope, c.Query.Get("page_key"))
	return after, fault.Under(err, "query")
}

// Position is After for lists with a sort key of their own.
func (c *Call) Position(cursors *page.Cursors, scope *page.Scope) ([]string, error) {
	position, err := cursors.Decode(scope, c.Query.Get("page_key"))
	return position, fault.Under(err, "query")
}

// DefaultLimit is the size of a page, where a request asks for none, in most lists of the contract.
const DefaultLimit = 10

// Limit returns the page size of the request, which the chain has checked.
func (c *Call) Limit() int { return c.LimitOr(DefaultLimit) }

// LimitOr is Limit for lists with a default of their own.
func (c *Call) LimitOr(most int) int {
	if v := c.Query.Get("limit"); v != "" {
		most, _ = strconv.Atoi(v)
	}
	return most
}

// Pattern compiles the filter of a list, a regular expression. An empty one is nil, which matches all.
func Pattern(filter string) (*regexp.Regexp, error) {
	if filter == "" {
		return nil, nil
	}
	match, err := regexp.Compile(filter)
	if err != nil {
		return nil, fault.InvalidField("query.filter", "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return match, nil
}

// Match returns what reports whether one of the texts of an item matches the filter of a list, nil if the list has none.
func Match[T any](filters map[string]string, texts func(*T) []string) (func(*T) bool, error) {
	match, err := Pattern(filters["filter"])
	if match == nil {
		return nil, err
	}
	return func(one *T) bool { return slices.ContainsFunc(texts(one), match.MatchString) }, nil
}

// Bool returns a filter of a list that is true or false, nil if it has none.
func Bool(filters map[string]string, name string) *bool {
	v, given := filters[name]
	if !given {
		return nil
	}
	is := v == "true"
	return &is
}

// Time parses a filter of a list, a date and time. An empty one is the zero time.
func Time(filters map[string]string, name string) (time.Time, error) {
	v, ok := filters[name]
	if !ok {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return t, fault.InvalidField("query."+name, "must be a date-time such as 2030-01-31T00:00:00Z")
	}
	return t, nil
}
