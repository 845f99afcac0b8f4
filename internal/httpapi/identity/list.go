package identity

import (
	"quarry/internal/api"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// start reads the filters named and the page key of a list; no position is the first page. With a page key, filters that
// the request leaves out are those of the page before.
func (a *Area) start(c *httpapi.Call, filters ...string) (scope page.Scope, after *page.Position, err error) {
	scope = c.Scope(filters...)
	after, err = c.After(a.Cursors, &scope)
	return scope, after, err
}

// placed is an item with a position in its list.
type placed interface{ Position() *page.Position }

// listed maps a page of items to their wire forms, with the key of the next page if there is one.
func listed[T placed, W any](a *Area, scope page.Scope, found []T, more bool, wire func(T) W) ([]W, *api.ListMetadata) {
	out := make([]W, len(found))
	for i, one := range found {
		out[i] = wire(one)
	}
	metadata := &api.ListMetadata{}
	if more {
		metadata.PageKey = a.Cursors.Next(scope, found[len(found)-1].Position())
	}
	return out, metadata
}
