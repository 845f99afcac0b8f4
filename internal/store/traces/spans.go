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

// Get returns a trace. See trace.Records.
func (s *Store) Get(ctx context.Context, r trace.Reader, id string) (trace.Trace, error) {
	var t trace.Trace
	err := s.db.Read(ctx, func(q store.Querier) (err error) {
		t, _, err = get(q, r, id)
		return err
	})
	if err != nil {
		return trace.Trace{}, err
	}
	return t, nil
}

// get returns a trace that the reader may see, and the numbers of the agents whose texts it may see, nil for all.
func get(q store.Querier, r trace.Reader, id string) (t trace.Trace, mine []int64, err error) {
	t, err = scanHead(q.QueryRow(`SELECT `+headColumns+` FROM traces WHERE id = $1`, store.Text(id)))
	if err != nil {
		return trace.Trace{}, nil, store.OrNone(err, trace.NoTrace(id), "read trace")
	}
	if r.All {
		return t, nil, nil
	}
	found, err := subjects(q, r.Agents)
	if err != nil {
		return trace.Trace{}, nil, err
	}
	mine = make([]int64, len(found))
	for i, a := range found {
		mine[i] = a.No
	}
	if !slices.Contains(mine, t.Agent.No) {
		return trace.Trace{}, nil, trace.NoTrace(id)
	}
	return t, mine, nil
}

// found is a span as it is read, with the block that it stands in.
type found struct {
	trace.Shown
	block *Block
}

const blockShown = `no, trace, id, began, agent_no, agent_key, session_no, session_key, spans`

func scanBlock(r store.Row) (*Block, error) {
	b := new(Block)
	return b, r.Scan(&b.no, &b.trace, &b.id, &b.began, &b.agent.No, &b.agent.Key, &b.session.No, &b.session.Key, &b.spans)
}

// blocksStep is how many blocks are read at a time.
const blocksStep = 64

// page returns the first spans of a list, one more than its limit: it goes through the blocks by their first spans, up to one that begins
// behind the page.
func page(q store.Querier, t *trace.Trace, l *trace.Spans) (out []found, err error) {
	after := &trace.Span{Started: time.UnixMicro(math.MinInt64)}
	if l.After != nil {
		after.Started, after.ID = time.UnixMicro(l.After.Created), l.After.ID
	}
	only, args := conditionsOn(t, l)
	last := &Block{began: math.MinInt64}
	for {
		blocks, err := store.Select(q, "list spans", scanBlock, `SELECT `+blockShown+` FROM trace_blocks
			WHERE trace = $1 AND ended >= $2 AND (began, id) > ($3, $4)`+only+` ORDER BY began, id LIMIT $5`,
			append([]any{t.ID, after.Started.UnixMicro(), last.began, last.id, blocksStep}, args...)...)
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			if len(out) > l.Limit && b.began > out[l.Limit].Started.UnixMicro() {
				return out, nil
			}
			spans, err := b.unpack()
			if err != nil {
				return nil, err
			}
			for _, one := range spans {
				if byStart(one, *after) > 0 && (l.Operation == "" || one.Operation == l.Operation) && (l.Parent == "" || one.Parent == l.Parent) {
					out = append(out, found{trace.Shown{Span: one}, b})
				}
			}
			if len(out) > l.Limit {
				sortFound(out)
				out = out[:l.Limit+1]
			}
		}
		if len(blocks) < blocksStep {
			sortFound(out)
			return out, nil
		}
		last = blocks[len(blocks)-1]
	}
}

func sortFound(all []found) {
	slices.SortFunc(all, func(a, b found) int { return byStart(a.Span, b.Span) })
}

// conditionsOn returns what is asked of blocks, behind five arguments.
func conditionsOn(t *trace.Trace, l *trace.Spans) (only string, args []any) {
	add := func(condition string, v any) {
		args = append(args, v)
		only += ` AND ` + strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(5+len(args)))
	}
	if l.Operation != "" {
		add(`(flags IS NULL OR flags & ? <> 0)`, operationFlag(l.Operation))
	}
	if l.Parent != "" {
		add(`parents LIKE ?`, "%"+l.Parent+"%")
	}
	if l.Own {
		add(`session_no = ?`, t.Session.No) // no other turn of that session runs meanwhile
	}
	return only, args
}

// parental sets which of the spans have children.
func parental(q store.Querier, of string, spans []found) error {
	if len(spans) == 0 {
		return nil
	}
	has := map[string]bool{}
	err := store.Each(q, "read parents of spans", func(r store.Row) error {
		var parents string
		err := r.Scan(&parents)
		for id := range strings.SplitSeq(parents, ",") {
			has[id] = true
		}
		return err
	}, `SELECT parents FROM trace_blocks WHERE trace = $1`, of)
	for i := range spans {
		spans[i].Parental = has[spans[i].ID]
	}
	return err
}

// isSpan reports whether a text has the form of the id of a span.
func isSpan(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// Spans returns spans of a trace. See trace.Records.
func (s *Store) Spans(ctx context.Context, l trace.Spans) (shown []trace.Shown, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	var all []found
	err = s.db.Read(ctx, func(q store.Querier) error {
		t, mine, err := get(q, l.Reader, l.Trace)
		if err != nil || l.Parent != "" && !isSpan(l.Parent) {
			return err
		}
		if all, err = page(q, &t, &l); err != nil {
			return err
		}
		all, more = store.Cut(all, l.Limit)
		if err := parental(q, t.ID, all); err != nil || !l.Content {
			return err
		}
		whole, err := s.contents(ctx, q, all, mine)
		if whole < len(all) {
			all, more = all[:whole], true
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	for i := range all {
		shown = append(shown, all[i].Shown)
	}
	return shown, more, nil
}

// Span returns a span of a trace. See trace.Records.
func (s *Store) Span(ctx context.Context, r trace.Reader, of, id string, content bool) (out trace.Shown, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		t, mine, err := get(q, r, of)
		if err != nil {
			return err
		}
		one, err := find(q, &t, id)
		if err != nil {
			return err
		}
		if err = parental(q, t.ID, one); err == nil && content {
			_, err = s.contents(ctx, q, one, mine)
		}
		out = one[0].Shown
		return err
	})
	if err != nil {
		return trace.Shown{}, err
	}
	return out, nil
}

// find returns the span with an id, alone in a list.
func find(q store.Querier, t *trace.Trace, id string) ([]found, error) {
	if !isSpan(id) {
		return nil, trace.NoSpan(t.ID, id)
	}
	blocks, err := store.Select(q, "read span", scanBlock, `SELECT `+blockShown+` FROM trace_blocks WHERE trace = $1 AND spans LIKE $2`, t.ID, "%"+id+"%")
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		spans, err := b.unpack()
		if err != nil {
			return nil, err
		}
		for _, one := range spans {
			if one.ID == id {
				return []found{{trace.Shown{Span: one}, b}}, nil
			}
		}
	}
	return nil, trace.NoSpan(t.ID, id)
}
