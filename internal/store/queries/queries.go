// Package queries keeps the history of queries in SQL: the history.Store of the service. Package app creates it.
package queries

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/query/history"
	"quarry/internal/store"
)

// Store is the history.Store over a database.
type Store struct{ db *store.DB }

var _ history.Store = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// Save writes r. See history.Store.
func (s *Store) Save(ctx context.Context, r history.Record) error {
	body, err := pack(r)
	if err != nil {
		return err
	}
	generation := r.Generation
	if generation != nil {
		generation = new(store.Text(*generation))
	}
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var no int64
		err := tx.QueryRow(`INSERT INTO queries (id, started, latency, query, chat_id, agent_key, session_key, generation, consistency, evidence, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING no`, string(r.ID), r.Started.UnixMicro(),
			r.Latency.Microseconds(), r.Text, r.ChatID, r.AgentKey, r.SessionKey, generation, r.Consistency, r.Evidence, body).Scan(&no)
		if err != nil {
			return fmt.Errorf("write query: %w", err)
		}
		for i, c := range r.Corpora {
			err := tx.Exec(`INSERT INTO query_corpora (query_no, ord, corpus_no, corpus_key) VALUES ($1, $2, $3, $4)`, no, i, c.No, c.Key)
			if err != nil {
				return fmt.Errorf("write corpus of query: %w", err)
			}
		}
		return nil
	})
}

// columns of queries q that scan reads.
const columns = `q.no, q.id, q.started, q.latency, q.query, q.chat_id, q.agent_key, q.session_key, q.generation, q.consistency, q.evidence`

func scan(r store.Row, more ...any) (no int64, s history.Summary, err error) {
	var latency int64
	dest := append([]any{&no, (*string)(&s.ID), store.Micros(&s.Started), &latency, &s.Text, &s.ChatID, &s.AgentKey, &s.SessionKey,
		&s.Generation, &s.Consistency, &s.Evidence}, more...)
	err = r.Scan(dest...)
	s.Latency = time.Duration(latency) * time.Microsecond
	return no, s, err
}

// Get returns a record that the reader may see. See history.Store.
func (s *Store) Get(ctx context.Context, queryID string, reader history.Reader) (out history.Record, err error) {
	c := conditions{}
	c.add(`q.id = `, queryID)
	c.readable(reader)
	err = s.db.Read(ctx, func(q store.Querier) error {
		var body []byte
		no, head, err := scan(q.QueryRow(`SELECT `+columns+`, q.body FROM queries q WHERE `+c.text(), c.args...), &body)
		if err != nil {
			missing := fault.NotFound("query_not_found", queryID, "query %s does not exist", queryID)
			return store.OrNone(err, missing, "read query")
		}
		if out, err = unpack(body); err != nil {
			return fmt.Errorf("read query %s: %w", queryID, err)
		}
		out.Summary = head
		of, err := corpora(q, []int64{no})
		out.Corpora = of[no]
		return err
	})
	return out, err
}

// List returns up to l.Limit records and whether more follow. See history.Store.
func (s *Store) List(ctx context.Context, l history.List) (page []history.Summary, more bool, err error) {
	if l.Limit <= 0 {
		return nil, false, nil
	}
	c := listed(l)
	where, args := c.text(), append(c.args, l.Limit+1)
	err = s.db.Read(ctx, func(q store.Querier) error {
		var nos []int64
		page, err = store.Select(q, "list queries", func(r store.Row) (history.Summary, error) {
			no, s, err := scan(r)
			nos = append(nos, no)
			return s, err
		}, `SELECT `+columns+` FROM queries q WHERE `+where+`
			ORDER BY q.started DESC, q.id DESC LIMIT $`+strconv.Itoa(len(args)), args...)
		if err != nil {
			return err
		}
		of, err := corpora(q, nos)
		for i, no := range nos {
			page[i].Corpora = of[no]
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	page, more = store.Cut(page, l.Limit)
	return page, more, nil
}

// listed returns the conditions of a list.
func listed(l history.List) *conditions {
	c := &conditions{}
	started, id := l.After.Bound()
	c.all = append(c.all, fmt.Sprintf(`(q.started, q.id) < ($%d, $%d)`, len(c.args)+1, len(c.args)+2))
	c.args = append(c.args, started, id)
	if l.Corpus != "" {
		c.args = append(c.args, l.Corpus)
		c.all = append(c.all, fmt.Sprintf(`EXISTS (SELECT 1 FROM query_corpora qc WHERE qc.query_no = q.no AND qc.corpus_key = $%d)`, len(c.args)))
	}
	if l.ID != "" {
		c.add(`q.id = `, l.ID)
	}
	if l.Chat != "" {
		c.add(`q.chat_id = `, l.Chat)
		c.all = append(c.all, `q.chat_id <> ''`) // for the index over chats
	}
	if !l.StartedAfter.IsZero() {
		c.add(`q.started > `, l.StartedAfter.UnixMicro())
	}
	if !l.StartedBefore.IsZero() {
		c.add(`q.started < `, beforeMicro(l.StartedBefore))
	}
	c.readable(l.Reader)
	return c
}

// beforeMicro rounds up, since a time within a microsecond is after that microsecond's start.
func beforeMicro(t time.Time) int64 {
	n := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		n++
	}
	return n
}

// conditions builds a WHERE clause.
type conditions struct {
	all  []string
	args []any
}

func (c *conditions) add(text string, arg any) {
	c.args = append(c.args, arg)
	c.all = append(c.all, text+"$"+strconv.Itoa(len(c.args)))
}

func (c *conditions) text() string { return strings.Join(c.all, " AND ") }

// readable keeps the records whose corpora all exist under a key of the reader's. One without corpora is nobody's.
func (c *conditions) readable(r history.Reader) {
	if r.All {
		return
	}
	if len(r.Keys) == 0 {
		c.all = append(c.all, `1 = 0`)
		return
	}
	from := len(c.args) + 1
	c.args = store.Args(c.args, r.Keys)
	c.all = append(c.all, `EXISTS (SELECT 1 FROM query_corpora qc WHERE qc.query_no = q.no)`, `NOT EXISTS (SELECT 1 FROM query_corpora qc LEFT JOIN corpora c ON c.no = qc.corpus_no
		WHERE qc.query_no = q.no AND (c.no IS NULL OR c.key NOT IN (`+store.List(from, len(r.Keys))+`)))`)
}

// corpora reads which corpora queries searched, by row number of the query.
func corpora(q store.Querier, nos []int64) (map[int64][]history.Corpus, error) {
	out := map[int64][]history.Corpus{}
	if len(nos) == 0 {
		return out, nil
	}
	err := store.Each(q, "read corpora of queries", func(r store.Row) error {
		var no int64
		var c history.Corpus
		err := r.Scan(&no, &c.No, &c.Key)
		out[no] = append(out[no], c)
		return err
	}, `SELECT query_no, corpus_no, corpus_key FROM query_corpora
		WHERE query_no IN (`+store.List(1, len(nos))+`) ORDER BY query_no, ord`, store.Args(nil, nos)...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Expire removes the oldest records that started before a moment. See history.Store.
func (s *Store) Expire(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		gone, err := store.Select(tx, "remove old queries", store.One[int64],
			`DELETE FROM queries WHERE no IN (SELECT no FROM queries WHERE started < $1 ORDER BY started, id LIMIT $2)
			RETURNING no`, beforeMicro(before), limit)
		if err != nil {
			return err
		}
		removed = len(gone)
		return nil
	})
	return removed, err
}
