package sessions

import (
	"math"

	"quarry/internal/agent/session"
	"quarry/internal/store"
	"quarry/internal/store/sessions/rows"
	"quarry/internal/store/traces"
)

// expected is what a commit writes unless something else has happened to its session, with the spans that end with it. Making all this takes
// longer than writing it, and one transaction at a time writes, so that it is made before it.
type expected struct {
	session.Committed
	entries []rows.Event // of the commit's events
	blocks  []traces.Block
	thread  any // the column of the run, nil where it stays as it is
}

// expect returns what c is to write.
func (s *Store) expect(c *session.Commit) (e *expected, err error) {
	e = &expected{}
	if e.entries, err = rows.Of(c.Events...); err != nil {
		return nil, err
	}
	if c.Trace != nil {
		if e.thread, err = rows.EncodeThread(c.Trace); err != nil {
			return nil, err
		}
	}
	if s.Spans == nil || c.Record == nil {
		return e, nil
	}
	e.Ended, e.Parked = c.End != nil || c.Park != nil, c.Park != nil
	for i, one := range e.entries {
		one.Ord = math.MaxInt64 - int64(len(e.entries)-i) // behind what is there
		e.Events = append(e.Events, one.Event)
	}
	e.Spans = c.Record(&e.Committed)
	e.blocks, err = s.Spans.Pack(e.Spans)
	if n := len(e.entries); n > 0 {
		e.entries[n-1].Traced = traces.Point(e.blocks)
	}
	return e, err
}

// record writes the spans that end with a commit, which are those that were expected as a rule.
func (s *Store) record(tx *store.Tx, c *session.Commit, e *expected, out *session.Committed) error {
	if s.Spans == nil || c.Record == nil {
		return nil
	}
	if out.Ended == e.Ended && out.Parked == e.Parked && len(out.Events) == len(e.Events) {
		out.Spans = e.Spans
		s.Spans.Add(tx, e.blocks)
		return nil
	}
	out.Spans = c.Record(out)
	return s.Spans.Write(tx, out.Spans)
}
