package store

// Batch is work that the writes of one commit do together: rows that many of them add to the same tables cost less in few statements
// than in many. Whoever adds to a batch does not see the work in its own transaction.
type Batch[T any] struct {
	run func(tx *Tx, all []T) error
}

// NewBatch returns a batch. run does the work of all that was added, in its order, right before the commit; its error fails the writes.
func NewBatch[T any](run func(tx *Tx, all []T) error) *Batch[T] { return &Batch[T]{run} }

// Add adds to the work of the commit of tx, unless tx is rolled back.
func (b *Batch[T]) Add(tx *Tx, all ...T) {
	for _, p := range tx.rest {
		if p.of == any(b) {
			p.all = append(p.all, anys(all)...)
			return
		}
	}
	tx.rest = append(tx.rest, &pending{b, anys(all), func(tx *Tx, boxed []any) error {
		plain := make([]T, len(boxed))
		for i := range boxed {
			plain[i] = boxed[i].(T)
		}
		return b.run(tx, plain)
	}})
}

func anys[T any](all []T) []any {
	out := make([]any, len(all))
	for i := range all {
		out[i] = all[i]
	}
	return out
}

// pending is what was added to a batch.
type pending struct {
	of  any // the batch
	all []any
	run func(*Tx, []any) error
}

// rest is what is left of writes for the end of their commit.
type rest []*pending

// join adds what another write has left.
func (r *rest) join(other rest) {
	for _, o := range other {
		known := false
		for _, p := range *r {
			if known = p.of == o.of; known {
				p.all = append(p.all, o.all...)
				break
			}
		}
		if !known {
			*r = append(*r, o)
		}
	}
}

// run does the work.
func (r rest) run(tx *Tx) error {
	return call(func(tx *Tx) error {
		for _, p := range r {
			if err := p.run(tx, p.all); err != nil {
				return err
			}
		}
		return nil
	}, tx)
}
