package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"quarry/internal/api"
)

// node is one path segment of the route table. The table works on the raw path: an escaped slash stays inside its
// segment and each segment is decoded exactly once.
type node struct {
	static map[string]*node
	param  *node
	name   string // of the parameter that leads here
	ops    map[string]*api.Operation
}

// restParam may span segments, since published clients don't escape it (contract: documents, Identifier).
const restParam = "document_id"

func (n *node) add(op *api.Operation) error {
	for _, segment := range strings.Split(op.Path, "/")[1:] {
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

// height is the most segments that may follow.
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

// route is what a path leads to, with the values of its parameters.
type route struct {
	ops    map[string]*api.Operation
	params map[string]string
}

// find gives the operation and its path parameters. Without one, allow lists the methods that the path takes: none
// for an unknown path.
func (n *node) find(method, escaped string) (op *api.Operation, params map[string]string, allow []string) {
	trimmed := strings.TrimSuffix(escaped, "/")
	if !strings.HasPrefix(trimmed, "/") {
		return nil, nil, nil
	}
	segments := strings.Split(trimmed, "/")[1:]
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments[i] = decoded
	}
	var found []route
	n.match(segments, map[string]string{}, &found)
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
func (n *node) match(segments []string, params map[string]string, found *[]route) {
	if len(segments) == 0 {
		if n.ops != nil {
			*found = append(*found, route{n.ops, maps.Clone(params)})
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

// matchRest looks for a sub-resource of the parameter, the shortest value first; if there is none, the whole rest is
// the value.
func (n *node) matchRest(segments []string, params map[string]string, found *[]route) {
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
