package vtl

import (
	"maps"
	"strings"

	"quarry/internal/expr/vtl/syntax"
)

// Render renders the template with the variables, which are not changed. Any error is a *LimitError.
func (t *Template) Render(vars map[string]Value, l Limits) (string, error) {
	l = l.withDefaults()
	r := &run{vars: maps.Clone(vars), limits: l, out: output{asJSON: t.json}}
	if r.vars == nil {
		r.vars = map[string]Value{}
	}
	r.out.most = l.Output
	r.block(t.root)
	if r.failed != nil {
		return "", r.failed
	}
	return r.out.out.String(), nil
}

// run is a rendering of a template. Once failed is set, nothing more is evaluated.
type run struct {
	vars   map[string]Value
	out    output
	limits Limits
	loops  int  // iterations so far
	steps  int  // so far
	memory int  // bytes so far
	line   int  // of the last reference or loop evaluated
	left   bool // after #break, until its loop has ended
	failed error
}

// exceed fails the rendering because of a limit, unless it has failed already.
func (r *run) exceed(limit string, most int) {
	if r.failed == nil {
		r.failed = &LimitError{Limit: limit, Most: most, Line: r.line}
	}
}

// step counts n steps and reports whether rendering may continue.
func (r *run) step(n int) bool {
	if r.steps += n; r.steps > r.limits.Steps {
		r.exceed("step", r.limits.Steps)
	}
	return r.failed == nil
}

// alloc counts bytes of memory that values keep and reports whether rendering may continue.
func (r *run) alloc(bytes int) bool {
	if r.memory += bytes; r.memory > r.limits.Memory {
		r.exceed("memory", r.limits.Memory)
	}
	return r.failed == nil
}

func (r *run) block(nodes []syntax.Node) {
	for _, n := range nodes {
		if r.left || !r.step(1) {
			return
		}
		switch n := n.(type) {
		case syntax.Text:
			r.out.template(string(n))
		case syntax.Backslashes:
			if !r.out.asJSON {
				n /= 2
			}
			r.out.template(strings.Repeat(`\`, int(n)))
		case *syntax.Reference:
			r.print(n)
		case syntax.Set:
			if v := r.eval(n.Value); v == nil {
				delete(r.vars, n.Name)
			} else {
				r.vars[n.Name] = v
			}
		case syntax.If:
			r.choice(n)
		case syntax.Foreach:
			r.loop(n)
		case syntax.Break:
			r.left = true
		}
		if r.out.full {
			r.exceed("output", r.limits.Output)
		}
	}
}

// print writes a reference. If it is undefined, its source text is written, or nothing if it is quiet.
func (r *run) print(n *syntax.Reference) {
	v := r.reference(n)
	if v == nil && !n.Quiet {
		v = n.Source
	}
	if r.failed == nil {
		r.out.value(v)
	}
}

func (r *run) choice(n syntax.If) {
	for _, b := range n.Branches {
		if b.Condition == nil || truth(r.eval(b.Condition)) {
			if r.failed == nil {
				r.block(b.Block)
			}
			return
		}
	}
}

func (r *run) loop(n syntax.Foreach) {
	r.line = n.Line
	items := r.items(r.eval(n.List))
	if len(items) == 0 || r.failed != nil {
		return
	}
	around, state := r.save("foreach"), &turn{total: len(items)}
	state.parent, _ = around.value.(*turn)
	name, count := r.save(n.Name), r.save("velocityCount")
	for i, item := range items {
		if r.loops++; r.loops > r.limits.Loops {
			r.line = n.Line
			r.exceed("loop", r.limits.Loops)
			break
		}
		state.index = i
		r.vars["foreach"], r.vars["velocityCount"], r.vars[n.Name] = state, int64(i+1), item
		r.block(n.Block)
		if r.left || r.failed != nil {
			break
		}
	}
	r.left = false
	for _, k := range []saved{name, count, around} {
		r.restore(k)
	}
}

// saved is the value of a variable before a loop.
type saved struct {
	name    string
	value   Value
	defined bool
}

func (r *run) save(name string) saved {
	v, ok := r.vars[name]
	return saved{name, v, ok}
}

func (r *run) restore(k saved) {
	if k.defined {
		r.vars[k.name] = k.value
	} else {
		delete(r.vars, k.name)
	}
}

// items returns the items of a loop: the elements of a list, or the values of a map.
func (r *run) items(v Value) List {
	switch v := v.(type) {
	case List:
		return v
	case *Map:
		if r.step(v.Len()) && r.alloc(slot*v.Len()) {
			return values(v)
		}
	case Object:
		l, _ := r.ask(v, "values", nil).(List)
		return l
	}
	return nil
}

// turn is the state of a loop, the value of $foreach.
type turn struct {
	index, total int
	parent       *turn
}

// Call returns the properties of $foreach.
func (t *turn) Call(name string, arguments []Value) (Value, bool) {
	if len(arguments) > 0 {
		return nil, false
	}
	switch name {
	case "index", "getIndex":
		return int64(t.index), true
	case "count", "getCount":
		return int64(t.index + 1), true
	case "first", "isFirst":
		return t.index == 0, true
	case "last", "isLast":
		return t.index == t.total-1, true
	case "hasNext":
		return t.index < t.total-1, true
	case "parent", "getParent":
		if t.parent != nil {
			return t.parent, true
		}
	}
	return nil, false
}

// JSON returns the number of the iteration, from 1.
func (t *turn) JSON() []byte { return []byte(number(float64(t.index + 1))) }
