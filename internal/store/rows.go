package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Row is one row of a result.
type Row interface{ Scan(dest ...any) error }

// Each hands the rows of a query to scan. Its error begins with doing, such as "list users".
func Each(q Querier, doing string, scan func(Row) error, query string, args ...any) error {
	rows, err := q.Query(query, args...)
	if err != nil {
		return Wrap(err, doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err below reports what matters
	for rows.Next() {
		if err := scan(rows); err != nil {
			return Wrap(err, doing)
		}
	}
	return Wrap(rows.Err(), doing)
}

// Select returns the rows of a query; see Each.
func Select[T any](q Querier, doing string, scan func(Row) (T, error), query string, args ...any) (out []T, err error) {
	err = Each(q, doing, func(r Row) error {
		v, err := scan(r)
		out = append(out, v)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Micros returns a destination for a column of microseconds since 1970, which sets t in UTC; 0 and NULL are the zero time.
func Micros(t *time.Time) sql.Scanner { return (*micros)(t) }

type micros time.Time

// Scan sets the time.
func (m *micros) Scan(src any) error {
	var n sql.NullInt64
	if err := n.Scan(src); err != nil {
		return err
	}
	*m = micros{}
	if n.Int64 != 0 {
		*m = micros(time.UnixMicro(n.Int64).UTC())
	}
	return nil
}

// Text returns s with U+FFFD in place of what a text of PostgreSQL can't hold, such as a NUL that a model wrote.
func Text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// JSON returns a value as both databases can hold it (see Text). what names it in errors.
func JSON(v any, what string) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", what, err)
	}
	return Text(string(raw)), nil
}

// One scans a row of one column.
func One[T any](r Row) (v T, err error) { return v, r.Scan(&v) }

// Args appends values to the arguments of a statement.
func Args[T any](args []any, values []T) []any {
	for _, v := range values {
		args = append(args, v)
	}
	return args
}

// List returns "$from,$from+1,…" for n values of an IN list.
func List(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(from + i))
	}
	return b.String()
}

// Cut returns the first limit rows and whether there are more.
func Cut[T any](all []T, limit int) (page []T, more bool) {
	if len(all) > limit {
		return all[:limit], true
	}
	return all, false
}

// matchBatch is how many rows Matching reads at a time when not all of them are kept.
const matchBatch = 500

// Matching returns the first limit rows that match, and whether there are more; with a nil match all rows do. read returns
// up to n rows that follow a row, or the first ones if that is nil.
func Matching[T any](limit int, match func(*T) bool, read func(after *T, n int) ([]T, error)) (page []T, more bool, err error) {
	batch := limit + 1
	if match != nil {
		batch = max(batch, matchBatch)
	}
	for last := (*T)(nil); ; {
		found, err := read(last, batch)
		if err != nil {
			return nil, false, err
		}
		for i := range found {
			if match == nil || match(&found[i]) {
				page = append(page, found[i])
			}
		}
		if len(page) > limit || len(found) < batch {
			page, more = Cut(page, limit)
			return page, more, nil
		}
		last = &found[len(found)-1]
	}
}
