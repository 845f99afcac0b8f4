package userfn

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
	}
	return nothing
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
	b := n.right.eval(r)
	switch n.op {
	case "==", "===":
		return equal(a, b)
	case "!=", "!==":
		if same := equal(a, b); same.kind != null {
			return truth(!same.holds())
		}
		return nothing
	case "<", "<=", ">", ">=":
		return less(n.op, a, b)
	}
	return arithmetic(n.op, a, b)
}

type conditional struct{ when, then, otherwise node }

func (n conditional) eval(r *run) value {
	if n.when.eval(r).holds() {
		return n.then.eval(r)
	}
	return n.otherwise.eval(r)
}

type call struct {
	function *function
	args     []node
}

func (n call) eval(r *run) value {
	args := make([]value, len(n.args))
	for i, a := range n.args {
		args[i] = a.eval(r)
	}
	return n.function.apply(r, args)
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

// eval returns the score of the result if it is kept, else null. Which scores are kept is computed once per batch.
func (n knee) eval(r *run) value {
	kept, ok := r.knees[n]
	if !ok {
		kept = n.kept(r.scores)
		r.knees[n] = kept
	}
	if i := r.result.Index; i < 0 || i >= len(kept) || !kept[i] {
		return nothing
	}
	return double(r.scores[r.result.Index])
}
