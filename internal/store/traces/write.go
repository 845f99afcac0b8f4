package traces

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/store"
	"quarry/internal/trace"
)

// Write writes spans in the transaction of the events that they have ended with; see Add.
func (s *Store) Write(tx *store.Tx, spans []trace.Span) error {
	all, err := s.Pack(spans)
	if err == nil {
		s.Add(tx, all)
	}
	return err
}

// Add writes blocks in the transaction of the events that their spans have ended with, sums up traces that end with them, and sums up
// anew those that had ended before a turn within them. A block that is there already stays as it is. All this is done at the end of
// the transaction.
func (s *Store) Add(tx *store.Tx, all []Block) { s.blocks.Add(tx, all...) }

// write is Add for all transactions of a commit.
func (s *Store) write(tx *store.Tx, all []Block) error {
	texts := map[textsOf]bool{}
	var entries []trace.Span
	var late []string
	for i := range all {
		b := &all[i]
		if b.content != nil {
			if err := s.sealed(tx, b); err != nil {
				return err
			}
			if !b.pointed {
				texts[textsOf{b.session.No, b.trace}] = true
			}
		}
		if b.entry != nil {
			entries = append(entries, *b.entry)
		}
		if b.late {
			late = append(late, b.trace)
		}
	}
	if err := inRows(all, func(some []Block) error { return insertBlocks(tx, some) }); err != nil {
		return err
	}
	if err := inRows(slices.Collect(maps.Keys(texts)), func(some []textsOf) error { return insertTexts(tx, some) }); err != nil {
		return err
	}
	for _, id := range late { // before those of entries, which sum up what is written now
		if err := amend(tx, id); err != nil {
			return err
		}
	}
	return inRows(entries, func(some []trace.Span) error { return end(tx, some) })
}

// mostRows is how many rows one statement writes at most.
const mostRows = 32

// inRows hands rows on in parts of as many as one statement writes: powers of two, so that few different statements are prepared.
func inRows[T any](all []T, f func(some []T) error) error {
	for len(all) > 0 {
		n := mostRows
		for n > len(all) {
			n /= 2
		}
		if err := f(all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// inserts are the texts of insert that were made: the values are strings, by insertion.
var inserts sync.Map

type insertion struct {
	rows int
	into string
}

// insert returns an INSERT of n rows into a table with its columns in brackets.
func insert(n, columns int, into string) string {
	key := insertion{n, into}
	if text, ok := inserts.Load(key); ok {
		return text.(string)
	}
	text := "INSERT INTO " + into + " VALUES " + tuples(n, columns)
	inserts.Store(key, text)
	return text
}

// tuples returns the parameters of n rows.
func tuples(n, columns int) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = "(" + store.List(1+i*columns, columns) + ")"
	}
	return strings.Join(rows, ", ")
}

const blockColumns = 15

// insertBlocks writes rows of blocks that are not there yet.
func insertBlocks(tx *store.Tx, blocks []Block) error {
	args := make([]any, 0, len(blocks)*blockColumns)
	for i := range blocks {
		b := &blocks[i]
		var sealed any
		if b.sealed {
			sealed = b.content
		}
		args = append(args, b.trace, b.began, b.id, b.ended, b.agent.No, b.agent.Key, b.session.No, b.session.Key, b.flags, strings.Join(b.tools, "\n"),
			b.input, b.output, b.parents, b.spans, sealed)
	}
	return store.Wrap(tx.Exec(insert(len(blocks), blockColumns, `trace_blocks (trace, began, id, ended, agent_no, agent_key, session_no, session_key, flags, tools,
		input_tokens, output_tokens, parents, spans, sealed)`)+` ON CONFLICT DO NOTHING`, args...), "write spans")
}

// end writes the rows of traces whose entries have ended.
func end(tx *store.Tx, entries []trace.Span) error {
	ids := make([]string, len(entries))
	for i := range entries {
		ids[i] = entries[i].Trace
	}
	sums, err := summarize(tx, ids)
	if err != nil {
		return err
	}
	const columns = 11
	args, ended := make([]any, 0, len(entries)*columns), map[string]marked{}
	for i := range entries {
		e := &entries[i]
		h := head{
			started: e.Started.UnixMicro(), duration: max(0, e.Ended.Sub(e.Started)), agent: e.Agent, session: store.Text(e.Session.Key), failed: e.Failed,
		}
		h.agent.Key = store.Text(h.agent.Key)
		m := marked{h, sums[e.Trace], marks(h, sums[e.Trace])}
		ended[e.Trace] = m
		args = append(args, e.Trace, h.started, h.duration.Microseconds(), h.agent.No, h.agent.Key, e.Session.No, h.session, h.failed, m.input, m.output, strings.Join(m.all, "\n"))
	}
	var found []marked
	err = store.Each(tx, "write traces", func(r store.Row) error {
		var id string
		var no int64
		if err := r.Scan(&id, &no); err != nil {
			return err
		}
		m := ended[id]
		m.no = no
		found = append(found, m)
		return nil
	}, insert(len(entries), columns, `traces (id, started, duration, agent_no, agent_key, session_no, session_key, failed, input_tokens, output_tokens, marks)`)+
		` ON CONFLICT (id) DO NOTHING RETURNING id, no`, args...)
	if err != nil {
		return err
	}
	return insertMarks(tx, found)
}

// marked is a trace with its marks.
type marked struct {
	head
	sum
	all []string
}

// amend sums up a trace anew in which a turn has ended behind its entry, as one does that nobody waited for.
func amend(tx *store.Tx, id string) error {
	var h head
	var duration int64
	var was string
	err := tx.QueryRow(`UPDATE traces SET id = id WHERE id = $1 RETURNING no, started, duration, agent_no, agent_key, session_key, failed, marks`, id).
		Scan(&h.no, &h.started, &duration, &h.agent.No, &h.agent.Key, &h.session, &h.failed, &was)
	if err != nil {
		return store.OrNone(err, nil, "read trace")
	}
	h.duration = time.Duration(duration) * time.Microsecond
	sums, err := summarize(tx, []string{id})
	if err != nil {
		return err
	}
	sum := sums[id]
	if err := deleteMarks(tx, h.no, h.started, was); err != nil {
		return err
	}
	all := marks(h, sum)
	if err := tx.Exec(`UPDATE traces SET input_tokens = $2, output_tokens = $3, marks = $4 WHERE no = $1`, h.no, sum.input, sum.output, strings.Join(all, "\n")); err != nil {
		return store.Wrap(err, "write trace")
	}
	return insertMarks(tx, []marked{{h, sum, all}})
}

// summarize returns what the spans of traces come to.
func summarize(tx *store.Tx, ids []string) (map[string]sum, error) {
	found := map[string]sum{}
	err := store.Each(tx, "sum up traces", func(r store.Row) error {
		var b Block
		var flags sql.NullInt64
		var tools string
		if err := r.Scan(&b.trace, &flags, &tools, &b.input, &b.output, &b.spans); err != nil {
			return err
		}
		if b.flags = flags.Int64; tools != "" {
			b.tools = strings.Split(tools, "\n")
		}
		if !flags.Valid { // it was written before there were blocks
			spans, err := b.unpack()
			if err != nil {
				return err
			}
			for i := range spans {
				b.sum.add(&spans[i])
			}
		}
		out := found[b.trace]
		out.join(b.sum)
		found[b.trace] = out
		return nil
	}, `SELECT trace, flags, tools, input_tokens, output_tokens, CASE WHEN flags IS NULL THEN spans ELSE '' END FROM trace_blocks
		WHERE trace IN (`+store.List(1, len(ids))+`)`, store.Args(nil, ids)...)
	return found, err
}

// mark is a row of trace_marks.
type mark struct {
	name string
	of   *marked
	bits int64
}

const markColumns = 6

func insertMarks(tx *store.Tx, traces []marked) error {
	var rows []mark
	for i := range traces {
		m := &traces[i]
		bits := m.flags | statusFlag(m.failed)
		for _, name := range m.all {
			rows = append(rows, mark{name, m, bits})
		}
	}
	slices.SortFunc(rows, func(a, b mark) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.of.started, b.of.started))
	}) // rows that lie together
	return inRows(rows, func(some []mark) error {
		args := make([]any, 0, len(some)*markColumns)
		for _, m := range some {
			args = append(args, m.name, m.of.started, m.of.no, m.bits, m.of.duration.Microseconds(), m.of.agent.No)
		}
		return store.Wrap(tx.Exec(insert(len(some), markColumns, `trace_marks (mark, started, trace_no, flags, duration, agent_no)`), args...), "write marks of traces")
	})
}

// deleteMarks removes the marks of a trace, which was has as lines.
func deleteMarks(tx *store.Tx, no, started int64, was string) error {
	all := strings.Split(was, "\n")
	args := store.Args([]any{started, no}, all)
	return store.Wrap(tx.Exec(`DELETE FROM trace_marks WHERE mark IN (`+store.List(3, len(all))+`) AND started = $1 AND trace_no = $2`, args...), "remove marks of trace")
}
