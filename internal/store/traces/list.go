package traces

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/store"
	"quarry/internal/trace"
)

// A list reads the rows of one mark, or of several, in the order of the list, and judges what else is asked for by those rows: a
// driver. The driver is the condition that the fewest traces meet, as far as that is worth counting. So a list costs about as many rows
// as it shows where it asks for one thing, however rare that is, and where it asks for several things, at most the rows of the rarest.

// countTo is how far traces are counted to find the rarest condition.
const countTo = 1000

// term is a condition on a trace: it has one of the marks.
type term struct {
	marks []string
	check func(c *conditions) // adds the same condition on the row of another mark
}

// List returns traces. See trace.Records.
func (s *Store) List(ctx context.Context, l trace.List) (found []trace.Trace, more bool, err error) {
	if l.Limit <= 0 || !l.Reader.All && len(l.Reader.Agents) == 0 {
		return nil, false, nil
	}
	err = s.db.Read(ctx, func(q store.Querier) error {
		terms, none, err := termsOf(q, &l)
		if err != nil || none {
			return err
		}
		driver, err := rarest(q, &l, terms)
		if err != nil {
			return err
		}
		places, err := read(q, &l, terms, driver)
		if err != nil {
			return err
		}
		places, more = store.Cut(places, l.Limit)
		found, err = heads(q, places)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return found, more, nil
}

// termsOf returns the conditions of a list, those first that are rare as a rule. none reports that no trace can meet one.
func termsOf(q store.Querier, l *trace.List) (out []term, none bool, err error) {
	add := func(mark string, check func(*conditions)) { out = append(out, term{[]string{mark}, check}) }
	flag := func(mark string, bit int64) { add(mark, func(c *conditions) { c.flags |= bit }) }
	if l.Session != "" {
		m := sessionMark(store.Text(l.Session))
		add(m, func(c *conditions) { c.marked = append(c.marked, m) })
	}
	if l.ToolClass != "" {
		flag(toolClassMark(l.ToolClass), toolClassFlag(l.ToolClass))
	}
	if l.Class != "" {
		flag(classMark(l.Class), classFlag(l.Class))
	}
	if l.Tool != "" {
		m := toolMark(store.Text(l.Tool))
		add(m, func(c *conditions) { c.marked = append(c.marked, m) })
	}
	if !l.Reader.All || l.Agent != "" {
		t, err := agentTerm(q, l)
		if err != nil || len(t.marks) == 0 {
			return nil, true, err
		}
		out = append(out, t)
	}
	if l.Shortest != nil || l.Longest != nil {
		t, err := durationTerm(q, l)
		if err != nil || len(t.marks) == 0 {
			return nil, true, err
		}
		out = append(out, t)
	}
	if want := kindOf(l); want != 0 {
		t, err := kindTerm(q, want)
		if err != nil || len(t.marks) == 0 {
			return nil, true, err
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		add(every, func(*conditions) {})
	}
	return out, false, nil
}

// agentTerm returns the condition on the entry's agent.
func agentTerm(q store.Querier, l *trace.List) (t term, err error) {
	var nos []int64
	if !l.Reader.All {
		keys := l.Reader.Agents
		if l.Agent != "" {
			keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k != l.Agent })
		}
		mine, err := subjects(q, keys)
		if err != nil {
			return term{}, err
		}
		for _, a := range mine {
			t.marks, nos = append(t.marks, agentMark(a.Key, a.No)), append(nos, a.No)
		}
	} else {
		folder := agentFolder(store.Text(l.Agent))
		if t.marks, err = within(q, folder, folder[:len(folder)-1]+"0"); err != nil { // 0 is the byte after the slash
			return term{}, err
		}
		for _, m := range t.marks {
			no, err := strconv.ParseInt(strings.TrimPrefix(m, folder), 10, 64)
			if err != nil {
				continue // a key with a slash, which no agent has
			}
			nos = append(nos, no)
		}
	}
	t.check = func(c *conditions) { c.agents = nos }
	return t, nil
}

// subjects returns the agents with keys, as far as there are such.
func subjects(q store.Querier, keys []string) ([]trace.Subject, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	scan := func(r store.Row) (s trace.Subject, err error) { return s, r.Scan(&s.No, &s.Key) }
	return store.Select(q, "find agents", scan, `SELECT no, key FROM agents WHERE deleted = 0 AND key IN (`+store.List(1, len(keys))+`)`, store.Args(nil, keys)...)
}

// kindOf returns the flags that a list asks for of a kind; every trace has a turn.
func kindOf(l *trace.List) (want int64) {
	if l.Failed != nil {
		want |= statusFlag(*l.Failed)
	}
	if l.Operation != trace.InvokeAgent {
		want |= operationFlag(l.Operation)
	}
	return want
}

// kindTerm returns the condition on status and operation: the kinds that there are with these flags.
func kindTerm(q store.Querier, want int64) (t term, err error) {
	all, err := within(q, kindFolder, kindFolder+"~") // above all digits
	if err != nil {
		return t, err
	}
	for _, m := range all {
		flags, err := strconv.ParseInt(strings.TrimPrefix(m, kindFolder), 10, 64)
		if err != nil {
			return t, err
		}
		if flags&want == want {
			t.marks = append(t.marks, m)
		}
	}
	t.check = func(c *conditions) { c.flags |= want }
	return t, nil
}

// durationTerm returns the condition on the duration. The classes at both ends hold others, too, so that it is checked in any case.
func durationTerm(q store.Querier, l *trace.List) (t term, err error) {
	from, to := durationMark(0), durationFolder+"~" // above all digits
	if l.Shortest != nil {
		from = durationMark(*l.Shortest)
	}
	if l.Longest != nil {
		if *l.Longest < 0 {
			return term{}, nil
		}
		to = durationMark(*l.Longest) + "~"
	}
	t.marks, err = within(q, from, to)
	t.check = func(*conditions) {} // conditionsOf has it
	return t, err
}

// within returns the marks that there are between two, the second excluded, each found by a step of its own.
func within(q store.Querier, from, to string) ([]string, error) {
	return store.Select(q, "find marks of traces", store.One[string], `WITH RECURSIVE found (mark) AS (
			SELECT MIN(mark) FROM trace_marks WHERE mark >= $1 AND mark < $2
			UNION ALL SELECT (SELECT MIN(mark) FROM trace_marks WHERE mark > found.mark AND mark < $3) FROM found WHERE found.mark IS NOT NULL
		) SELECT mark FROM found WHERE mark IS NOT NULL`, from, to, to)
}

// rarest returns the place of the term that the fewest traces meet, the first one among those that many do.
func rarest(q store.Querier, l *trace.List, terms []term) (at int, err error) {
	if len(terms) == 1 {
		return 0, nil
	}
	after, before := span(l)
	least := countTo
	for i, t := range terms {
		n := 0
		for _, m := range t.marks {
			if n >= least {
				break
			}
			var some int
			if err := q.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM trace_marks WHERE mark = $1 AND started > $2 AND started < $3 LIMIT $4) found`,
				m, after, before, least-n).Scan(&some); err != nil {
				return 0, store.Wrap(err, "count traces")
			}
			n += some
		}
		if n < least {
			at, least = i, n
		}
	}
	return at, nil
}

// span returns the bounds of a list's time in microseconds, both excluded.
func span(l *trace.List) (after, before int64) {
	after, before = math.MinInt64, math.MaxInt64
	if !l.StartedAfter.IsZero() {
		after = l.StartedAfter.UnixMicro()
	}
	if !l.StartedBefore.IsZero() {
		before = ceilMicro(l.StartedBefore)
	}
	return after, before
}

// ceilMicro rounds up, since a time within a microsecond is after that microsecond's start.
func ceilMicro(t time.Time) int64 {
	n := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		n++
	}
	return n
}

// place is where a trace stands in lists.
type place struct{ started, no int64 }

// before reports whether p is shown before o.
func (p place) before(o place) bool {
	return p.started > o.started || p.started == o.started && p.no > o.no
}

// read returns the first places of a list, one more than its limit.
func read(q store.Querier, l *trace.List, terms []term, driver int) (out []place, err error) {
	c, err := conditionsOf(l, terms, driver)
	if err != nil {
		return nil, err
	}
	scan := func(r store.Row) (p place, err error) { return p, r.Scan(&p.started, &p.no) }
	for _, m := range terms[driver].marks {
		query, args := c.query(m, l.Limit+1)
		found, err := store.Select(q, "list traces", scan, query, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
		slices.SortFunc(out, func(a, b place) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		if len(out) > l.Limit {
			out = out[:l.Limit+1]
			c.from = out[l.Limit] // nothing behind it is shown, whatever mark it has
		}
	}
	return out, nil
}

// conditions are what a list asks of the rows of its driver.
type conditions struct {
	from, to place // exclusive; from is the older one
	shortest int64 // microseconds
	longest  int64 // exclusive
	flags    int64
	agents   []int64 // any of them; nil for all
	marked   []string
}

// conditionsOf returns the conditions of a list but that of its driver.
func conditionsOf(l *trace.List, terms []term, driver int) (*conditions, error) {
	after, before := span(l)
	c := &conditions{from: place{after, math.MaxInt64}, to: place{before, math.MinInt64}, shortest: math.MinInt64, longest: math.MaxInt64}
	if l.After != nil {
		no, err := strconv.ParseInt(l.After.ID, 10, 64)
		if err != nil {
			return nil, err
		}
		if p := (place{l.After.Created, no}); c.to.before(p) {
			c.to = p
		}
	}
	const most = math.MaxInt64 / 1000
	if l.Shortest != nil {
		c.shortest = max(min(*l.Shortest, most), 0) * 1000
	}
	if l.Longest != nil && *l.Longest < most-1 {
		c.longest = (*l.Longest + 1) * 1000
	}
	for i, t := range terms {
		if i != driver {
			t.check(c)
		}
	}
	return c, nil
}

// query returns the statement that reads places with a mark.
func (c *conditions) query(mark string, limit int) (text string, args []any) {
	var b strings.Builder
	arg := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	b.WriteString(`SELECT m.started, m.trace_no FROM trace_marks m WHERE m.mark = ` + arg(mark) +
		` AND (m.started, m.trace_no) > (` + arg(c.from.started) + `, ` + arg(c.from.no) + `)` +
		` AND (m.started, m.trace_no) < (` + arg(c.to.started) + `, ` + arg(c.to.no) + `)`)
	if c.flags != 0 {
		b.WriteString(` AND m.flags & ` + arg(c.flags) + ` = ` + arg(c.flags))
	}
	if c.shortest > math.MinInt64 || c.longest < math.MaxInt64 {
		b.WriteString(` AND m.duration >= ` + arg(c.shortest) + ` AND m.duration < ` + arg(c.longest))
	}
	if c.agents != nil {
		from := len(args) + 1
		args = store.Args(args, c.agents)
		b.WriteString(` AND m.agent_no IN (` + store.List(from, len(c.agents)) + `)`)
	}
	for _, other := range c.marked {
		b.WriteString(` AND EXISTS (SELECT 1 FROM trace_marks x WHERE x.mark = ` + arg(other) + ` AND x.started = m.started AND x.trace_no = m.trace_no)`)
	}
	b.WriteString(` ORDER BY m.started DESC, m.trace_no DESC LIMIT ` + arg(limit))
	return b.String(), args
}

const headColumns = `no, id, started, duration, agent_no, agent_key, session_no, session_key, failed, input_tokens, output_tokens`

func scanHead(r store.Row) (t trace.Trace, err error) {
	var duration int64
	err = r.Scan(&t.No, &t.ID, store.Micros(&t.Started), &duration, &t.Agent.No, &t.Agent.Key, &t.Session.No, &t.Session.Key, &t.Failed, &t.Input, &t.Output)
	t.Duration = time.Duration(duration) * time.Microsecond
	return t, err
}

// heads returns the traces at places, in their order.
func heads(q store.Querier, at []place) ([]trace.Trace, error) {
	if len(at) == 0 {
		return nil, nil
	}
	args := make([]any, len(at))
	for i, p := range at {
		args[i] = p.no
	}
	return store.Select(q, "read traces", scanHead, `SELECT `+headColumns+` FROM traces WHERE no IN (`+store.List(1, len(args))+`) ORDER BY started DESC, no DESC`, args...)
}
