// Package named keeps in SQL the rows of aggregates that have an id, a unique name and an age, and of which at most one is
// the default. It knows no other columns. The stores of language models and of presets use it.
package named

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"quarry/internal/page"
	"quarry/internal/store"
)

// Table is the rows of one kind. Those of the kind "llm" are in the table llms; the table default_llm has at most one row,
// whose column llm is the id of the default.
type Table[T any] struct {
	DB      *store.DB
	Kind    string
	Columns string // those that Write returns: id first, with name and created (microseconds since 1970) among them
	What    string // the noun for errors, which add an s for the plural
	None    error  // no row has the id
	Taken   error  // another row has the name
	// Write returns the values of Columns.
	Write func(*T) ([]any, error)
	// Read scans Columns and, after them, whether the row is the default.
	Read func(store.Row) (T, error)
}

func (t *Table[T]) read() string {
	return `SELECT ` + t.Columns + `, ` + t.preferred() + ` FROM ` + t.Kind + `s `
}

func (t *Table[T]) preferred() string {
	return `id IN (SELECT ` + t.Kind + ` FROM default_` + t.Kind + `)`
}

func (t *Table[T]) several(ctx context.Context, query string, args ...any) ([]T, error) {
	return store.Select(t.DB.Reader(ctx), "read "+t.What+"s", t.Read, t.read()+query, args...)
}

// Get returns the row with an id.
func (t *Table[T]) Get(ctx context.Context, id string) (found T, err error) {
	found, err = t.Read(t.DB.Reader(ctx).QueryRow(t.read()+`WHERE id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return found, t.None
	}
	if err != nil {
		return found, fmt.Errorf("read %s: %w", t.What, store.Translate(err))
	}
	return found, nil
}

// Named returns the rows with these names and the default, each once, in no order.
func (t *Table[T]) Named(ctx context.Context, names ...string) ([]T, error) {
	args := store.Args(nil, names)
	return t.several(ctx, `WHERE name IN (`+store.List(1, len(args))+`) OR `+t.preferred(), args...)
}

// After returns at most limit rows that follow a position, newest first.
func (t *Table[T]) After(ctx context.Context, after *page.Position, limit int) ([]T, error) {
	created, last := after.Bound()
	return t.several(ctx, `WHERE (created, id) < ($1, $2) ORDER BY created DESC, id DESC LIMIT $3`, created, last, limit)
}

// Insert writes a new row, as the default or not.
func (t *Table[T]) Insert(tx *store.Tx, v *T, preferred bool) error {
	values, err := t.Write(v)
	if err != nil {
		return err
	}
	var made string
	err = tx.QueryRow(`INSERT INTO `+t.Kind+`s (`+t.Columns+`) VALUES (`+store.List(1, len(values))+`)
		ON CONFLICT (name) DO NOTHING RETURNING id`, values...).Scan(&made)
	if errors.Is(err, sql.ErrNoRows) {
		return t.Taken
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", t.What, err)
	}
	return t.SetDefault(tx, made, preferred)
}

// SetDefault sets the row with an id as the default, or as no default.
func (t *Table[T]) SetDefault(tx *store.Tx, id string, preferred bool) error {
	query := `DELETE FROM default_` + t.Kind + ` WHERE ` + t.Kind + ` = $1`
	if preferred {
		query = `INSERT INTO default_` + t.Kind + ` (one, ` + t.Kind + `) VALUES (1, $1)
			ON CONFLICT (one) DO UPDATE SET ` + t.Kind + ` = excluded.` + t.Kind
	}
	if err := tx.Exec(query, id); err != nil {
		return fmt.Errorf("set the default %s: %w", t.What, err)
	}
	return nil
}

// Delete removes the row with an id, also as the default, and returns when it was created.
func (t *Table[T]) Delete(tx *store.Tx, id string) (created int64, err error) {
	err = tx.QueryRow(`DELETE FROM `+t.Kind+`s WHERE id = $1 RETURNING created`, id).Scan(&created)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, t.None
	}
	if err != nil {
		return 0, fmt.Errorf("delete %s: %w", t.What, err)
	}
	return created, nil
}
