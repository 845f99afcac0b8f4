package identity

import (
	"strconv"

	"quarry/internal/account"
	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// defaultLimit is the contract's for the lists of users, keys and clients.
const defaultLimit = 10

// limitOf gives the size of the page asked for; the chain has checked it.
func limitOf(c *httpapi.Call) int {
	if v := c.Query.Get("limit"); v != "" {
		n, _ := strconv.Atoi(v)
		return n
	}
	return defaultLimit
}

// start reads the filters named and the page key of a list; no position is the first page. With a page key, filters that
// the request leaves out are those of the page before.
func (a *Area) start(c *httpapi.Call, filters ...string) (scope page.Scope, after *account.Position, err error) {
	scope = page.Scope{Operation: c.Op.ID, Filters: map[string]string{}}
	for _, name := range filters {
		if v := c.Query.Get(name); v != "" {
			scope.Filters[name] = v
		}
	}
	parts, err := a.cursors.Decode(&scope, c.Query.Get("page_key"))
	if err != nil || parts == nil {
		return scope, nil, err
	}
	bad := fault.InvalidField("query.page_key", "is not a token of this list; start again without page_key")
	if len(parts) != 2 {
		return scope, nil, bad
	}
	created, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return scope, nil, bad
	}
	return scope, &account.Position{Created: created, ID: parts[1]}, nil
}

// placed is what stands at a place of a list.
type placed interface{ Position() account.Position }

// listed maps what was found to what clients see, with the key of the next page if there is one.
func listed[T placed, W any](a *Area, scope page.Scope, found []T, more bool, wire func(T) W) ([]W, *api.ListMetadata) {
	out := make([]W, len(found))
	for i, one := range found {
		out[i] = wire(one)
	}
	metadata := &api.ListMetadata{}
	if more {
		last := found[len(found)-1].Position()
		key := a.cursors.Encode(scope, strconv.FormatInt(last.Created, 10), last.ID)
		metadata.PageKey = &key
	}
	return out, metadata
}
