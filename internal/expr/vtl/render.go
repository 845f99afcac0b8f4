package vtl

import (
	"maps"
	"strings"
)

// Render writes the template with the variables. The error is a *LimitError. The maps and lists given are not changed.
func (t *Template) Render(vars map[string]Value, l Limits) (string, error) {
	l = l.filled()
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

// run is one rendering. Once failed is set nothing more is evaluated.
type run struct {
	vars   map[string]Value
	out    output
	limits Limits
	loops  int // turns so far
	steps  int
	memory int
	line   int  // of the reference or loop evaluated last
	left   bool // #break was met and its loop not yet ended
	failed error
}

func (r *run) exceed(limit string, most int) {
	if r.failed == nil {
		r.failed = &LimitError{Limit: limit, Most: most, Line: r.line}
	}
}

// step counts work; false ends the rendering.
func (r *run) step(n int) bool {
	if r.steps += n; r.steps > r.limits.Steps {
		r.exceed("step", r.limits.Steps)
	}
	return r.failed == nil
}

// made counts memory that lives on in values; false ends the rendering.
func (r *run) made(bytes int) bool {
	if r.memory += bytes; r.memory > r.limits.Memory {
		r.exceed("memory", r.limits.Memory)
	}
	return r.failed == nil
}

func (r *run) block(nodes []node) {
	for _, n := range nodes {
		if r.left || !r.step(1) {
			return
		}
		switch n := n.(type) {
		case text:
			r.out.template(string(n))
		case backslashes:
			if !r.out.asJSON {
				n /= 2
			}
			r.out.template(strings.Repeat(`\`, int(n)))
		case *reference:
			r.print(n)
		case set:
			if v := r.eval(n.value); v == nil {
				delete(r.vars, n.name)
			} else {
				r.vars[n.name] = v
			}
		case choice:
			r.choice(n)
		case loop:
			r.loop(n)
		case leave:
			r.left = true
		}
		if r.out.full {
			r.exceed("output", r.limits.Output)
		}
	}
}

// print writes a reference: what is undefined as it stands in the template, unless it is quiet.
func (r *run) print(n *reference) {
	v := r.reference(n)
	if v == nil && !n.quiet {
		v = n.source
	}
	if r.failed == nil {
		r.out.value(v)
	}
}

func (r *run) choice(n choice) {
	for _, b := range n.branches {
		if b.condition == nil || truth(r.eval(b.condition)) {
			if r.failed == nil {
				r.block(b.block)
			}
			return
		}
	}
}

func (r *run) loop(n loop) {
	r.line = n.line
	items := r.items(r.eval(n.list))
	if len(items) == 0 || r.failed != nil {
		return
	}
	around, state := r.keep("foreach"), &turn{total: len(items)}
	state.parent, _ = around.value.(*turn)
	name, count := r.keep(n.name), r.keep("velocityCount")
	for i, item := range items {
		if r.loops++; r.loops > r.limits.Loops {
			r.line = n.line
			r.exceed("loop", r.limits.Loops)
			break
		}
		state.index = i
		r.vars["foreach"], r.vars["velocityCount"], r.vars[n.name] = state, int64(i+1), item
		r.block(n.block)
		if r.left || r.failed != nil {
			break
		}
	}
	r.left = false
	for _, k := range []kept{name, count, around} {
		r.restore(k)
	}
}

// kept is a variable as it was before a loop.
type kept struct {
	name  string
	value Value
	was   bool
}

func (r *run) keep(name string) kept {
	v, ok := r.vars[name]
	return kept{name, v, ok}
}

func (r *run) restore(k kept) {
	if k.was {
		r.vars[k.name] = k.value
	} else {
		delete(r.vars, k.name)
	}
}

// items are what a loop goes through: a list, or the values of a map.
func (r *run) items(v Value) List {
	switch v := v.(type) {
	case List:
		return v
	case *Map:
		if r.step(v.Len()) && r.made(slot*v.Len()) {
			return values(v)
		}
	case Object:
		l, _ := r.ask(v, "values", nil).(List)
		return l
	}
	return nil
}

// turn is $foreach.
type turn struct {
	index, total int
	parent       *turn
}

// Call gives the properties of $foreach.
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

// JSON is the number of the turn.
func (t *turn) JSON() []byte { return []byte(number(float64(t.index + 1))) }
