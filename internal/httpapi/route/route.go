// Package route finds the operation that a request names, on the raw path: an escaped slash stays inside its segment and
// each segment is decoded exactly once.
package route

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"quarry/internal/api"
)

// Table is a tree of path segments with the operations at their ends. It is filled before its first use.
type Table struct {
	root node
}

// node is one path segment.
type node struct {
	static map[string]*node
	param  *node
	name   string // of the parameter that leads here
	ops    map[string]*api.Operation
}

// restParam may span segments, since published clients don't escape it (contract: documents, Identifier).
const restParam = "document_id"

// Add adds an operation. A parameter that has another name in a path with the same segments before it is an error.
func (t *Table) Add(op *api.Operation) error {
	n := &t.root
	for _, segment := range split(op.Path) {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			if n.param == nil {
				n.param = &node{name: name}
			}
			if n = n.param; n.name != name {
				return fmt.Errorf("path %s of %s: parameter %s is %s elsewhere", op.Path, op.ID, name, n.name)
			}
			continue
		}
		if n.static == nil {
			n.static = map[string]*node{}
		}
		if n.static[segment] == nil {
			n.static[segment] = &node{}
		}
		n = n.static[segment]
	}
	if n.ops == nil {
		n.ops = map[string]*api.Operation{}
	}
	n.ops[op.Method] = op
	return nil
}

// height returns the most segments that may follow.
func (n *node) height() int {
	h := 0
	for _, next := range n.static {
		h = max(h, 1+next.height())
	}
	if n.param != nil {
		h = max(h, 1+n.param.height())
	}
	return h
}

// match is what a path leads to, with the values of its parameters.
type match struct {
	ops    map[string]*api.Operation
	params map[string]string
}

// split returns the segments of a path, none for "/".
func split(path string) []string {
	if path == "/" {
		return nil
	}
	return strings.Split(path, "/")[1:]
}

// Find returns the operation of a method and an escaped path, and its path parameters. Without one, allow lists the
// methods that the path takes: none for an unknown path.
func (t *Table) Find(method, escaped string) (op *api.Operation, params map[string]string, allow []string) {
	segments := split(escaped)
	if n := len(segments); n > 1 && segments[n-1] == "" { // one slash at the end changes nothing
		segments = segments[:n-1]
	}
	if !strings.HasPrefix(escaped, "/") {
		return nil, nil, nil
	}
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments[i] = decoded
	}
	var found []match
	t.root.match(segments, map[string]string{}, &found)
	if method == http.MethodHead {
		method = http.MethodGet
	}
	methods := map[string]bool{}
	for _, r := range found {
		if op := r.ops[method]; op != nil {
			return op, r.params, nil
		}
		for m := range r.ops {
			methods[m] = true
		}
	}
	if methods[http.MethodGet] {
		methods[http.MethodHead] = true
	}
	return nil, nil, slices.Sorted(maps.Keys(methods))
}

// match collects the routes of segments, those with literal segments first.
func (n *node) match(segments []string, params map[string]string, found *[]match) {
	if len(segments) == 0 {
		if n.ops != nil {
			*found = append(*found, match{n.ops, maps.Clone(params)})
		}
		return
	}
	if next := n.static[segments[0]]; next != nil {
		next.match(segments[1:], params, found)
	}
	switch {
	case n.param == nil:
	case n.param.name == restParam:
		n.matchRest(segments, params, found)
	case segments[0] != "":
		params[n.param.name] = segments[0]
		n.param.match(segments[1:], params, found)
		delete(params, n.param.name)
	}
}

// matchRest collects the sub-resources of a parameter that may span segments, those after the shortest value first. If
// there is none, the whole rest is the value.
func (n *node) matchRest(segments []string, params map[string]string, found *[]match) {
	defer delete(params, n.param.name)
	before := len(*found)
	for i := max(1, len(segments)-n.param.height()); i < len(segments); i++ {
		if params[n.param.name] = strings.Join(segments[:i], "/"); params[n.param.name] != "" {
			n.param.match(segments[i:], params, found)
		}
	}
	if len(*found) > before {
		return
	}
	if params[n.param.name] = strings.Join(segments, "/"); params[n.param.name] != "" {
		n.param.match(nil, params, found)
	}
}
