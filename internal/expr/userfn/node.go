package userfn

import "slices"

// node is a node of a program's syntax tree.
type node interface{ eval(r *run) value }

type constant struct{ value value }

func (n constant) eval(*run) value { return n.value }

type unary struct {
	op string
	of node
}

func (n unary) eval(r *run) value {
	v := n.of.eval(r)
	if n.op == "!" {
		return truth(!v.holds())
	}
	switch v = asNumber(v); v.kind {
	case number, duration:
		if n.op == "-" {
			v.num = -v.num
		}
		return v
	case null:
		return nothing
	}
	return r.mismatched(n.op, v)
}

type binary struct {
	op          string
	left, right node
}

func (n binary) eval(r *run) value {
	a := n.left.eval(r)
	switch n.op {
	case "&&":
		return truth(a.holds() && n.right.eval(r).holds())
	case "||":
		return truth(a.holds() || n.right.eval(r).holds())
	}
	return n.of(r, a, n.right.eval(r))
}

// of applies the operator, unless it is && or ||, to the values of both sides.
func (n binary) of(r *run, a, b value) value {
	v := n.apply(a, b)
	if v == mismatch {
		return r.mismatched(n.op, a, b)
	}
	return v
}

func (n binary) apply(a, b value) value {
	switch n.op {
	case "==", "===":
		return equal(a, b)
	case "!=", "!==":
		same := equal(a, b)
		if same.kind != null {
			return truth(!same.holds())
		}
		return same
	case "<", "<=", ">", ">=":
		return less(n.op, a, b)
	}
	return arithmetic(n.op, a, b)
}

// comparison reports whether op compares values.
func comparison(op string) bool {
	return slices.Contains(levels[2], op) || slices.Contains(levels[3], op)
}

// present is a comparison that is false if one of its sides is null.
type present struct{ binary }

func (n present) eval(r *run) value {
	a, b := n.left.eval(r), n.right.eval(r)
	if a.kind == null || b.kind == null {
		return truth(false)
	}
	return n.binary.of(r, a, b)
}

// isNull reports whether n is the literal null.
func isNull(n node) bool {
	c, ok := n.(constant)
	return ok && c.value.kind == null
}

type conditional struct{ when, then, otherwise node }

func (n conditional) eval(r *run) value {
	if n.when.eval(r).holds() {
		return n.then.eval(r)
	}
	return n.otherwise.eval(r)
}

type call struct {
	name     string
	function *function
	args     []node
}

func (n call) eval(r *run) value {
	args := make([]value, len(n.args))
	for i, a := range n.args {
		args[i] = a.eval(r)
	}
	v := n.function.apply(r, args)
	if v == mismatch {
		return r.mismatched(n.name, args...)
	}
	return v
}

type get struct {
	path     path
	fallback node // used if the path has no value; may be nil
}

func (n get) eval(r *run) value {
	v := n.path.eval(r)
	if v.kind == null && n.fallback != nil {
		return n.fallback.eval(r)
	}
	return v
}

// eval returns the score of the result if it is kept, else null. Which scores are kept is computed once per band.
func (n knee) eval(r *run) value {
	kept, ok := r.knees[n]
	if !ok {
		kept = n.keptOf(r.scores, r.bands)
		r.knees[n] = kept
	}
	if i := r.result.Index; i < 0 || i >= len(kept) || !kept[i] {
		return nothing
	}
	return double(r.scores[r.result.Index])
}
