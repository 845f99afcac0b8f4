// Package presets keeps generation presets in SQL: the generate.PresetStore of the service. Package app makes it.
package presets

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"quarry/internal/generate"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
)

// Store is the generate.PresetStore over a database.
type Store struct{ db *store.DB }

var _ generate.PresetStore = (*Store)(nil)

// New gives a store over db.
func New(db *store.DB) *Store { return &Store{db} }

// columns is what row writes, in its order; shown is what scan reads.
const (
	columns = `id, name, description, llm, template, max_results, max_tokens, temperature, frequency_penalty, presence_penalty, extra, enabled, created, updated`
	shown   = columns + `, id IN (SELECT preset FROM default_preset)`
)

func row(p *generate.Preset) ([]any, error) {
	extra, err := json.Marshal(p.Extra)
	if err != nil {
		return nil, fmt.Errorf("encode generation preset: %w", err)
	}
	return []any{
		string(p.ID), p.Name, p.Description, p.LLM, p.Template, p.MaxResults, p.MaxTokens, p.Temperature, p.FrequencyPenalty, p.PresencePenalty,
		string(extra), p.Enabled, p.Created.UnixMicro(), p.Updated.UnixMicro(),
	}, nil
}

// scanner is one row, alone or among others.
type scanner interface{ Scan(into ...any) error }

func scanRows(r *sql.Rows) (generate.Preset, error) { return scan(r) }

func scan(r scanner) (p generate.Preset, err error) {
	var extra string
	var created, updated int64
	if err = r.Scan(&p.ID, &p.Name, &p.Description, &p.LLM, &p.Template, &p.MaxResults, &p.MaxTokens, &p.Temperature, &p.FrequencyPenalty, &p.PresencePenalty,
		&extra, &p.Enabled, &created, &updated, &p.Default); err != nil {
		return p, err
	}
	p.Created, p.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	if err := json.Unmarshal([]byte(extra), &p.Extra); err != nil {
		return p, fmt.Errorf("read the parameters of generation preset %s: %w", p.ID, err)
	}
	return p, nil
}

// Create writes a preset. See generate.PresetStore.
func (s *Store) Create(ctx context.Context, p generate.Preset) error {
	return s.db.Write(ctx, func(tx *store.Tx) error { return insert(tx, &p) })
}

func insert(tx *store.Tx, p *generate.Preset) error {
	values, err := row(p)
	if err != nil {
		return err
	}
	var made string
	err = tx.QueryRow(`INSERT INTO presets (`+columns+`) VALUES (`+store.List(1, len(values))+`) ON CONFLICT (name) DO NOTHING RETURNING id`,
		values...).Scan(&made)
	if errors.Is(err, sql.ErrNoRows) {
		return generate.ErrPresetTaken
	}
	if err != nil {
		return fmt.Errorf("write generation preset: %w", err)
	}
	return setDefault(tx, p)
}

// setDefault makes a preset the default one, or takes that from it.
func setDefault(tx *store.Tx, p *generate.Preset) error {
	query := `DELETE FROM default_preset WHERE preset = $1`
	if p.Default {
		query = `INSERT INTO default_preset (one, preset) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET preset = excluded.preset`
	}
	if err := tx.Exec(query, string(p.ID)); err != nil {
		return fmt.Errorf("set the default generation preset: %w", err)
	}
	return nil
}

// Get gives a preset. See generate.PresetStore.
func (s *Store) Get(ctx context.Context, preset id.Preset) (generate.Preset, error) {
	found, err := scan(s.db.Reader().QueryRowContext(ctx, `SELECT `+shown+` FROM presets WHERE id = $1`, string(preset)))
	if errors.Is(err, sql.ErrNoRows) {
		return generate.Preset{}, generate.ErrNoPreset
	}
	if err != nil {
		return generate.Preset{}, fmt.Errorf("read generation preset: %w", store.Translate(err))
	}
	return found, nil
}

// Named gives the presets of these names and the default one. See generate.PresetStore.
func (s *Store) Named(ctx context.Context, names ...string) ([]generate.Preset, error) {
	args := make([]any, len(names))
	for i, n := range names {
		args[i] = n
	}
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+shown+` FROM presets
		WHERE name IN (`+store.List(1, len(args))+`) OR id IN (SELECT preset FROM default_preset)`, args...)
	found, err := store.Collect(rows, err, scanRows)
	if err != nil {
		return nil, fmt.Errorf("read generation presets: %w", err)
	}
	return found, nil
}

// List gives presets after a place, newest first. See generate.PresetStore.
func (s *Store) List(ctx context.Context, after *page.Position, limit int) ([]generate.Preset, error) {
	created, last := after.Bound()
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+shown+` FROM presets WHERE (created, id) < ($1, $2)
		ORDER BY created DESC, id DESC LIMIT $3`, created, last, limit)
	found, err := store.Collect(rows, err, scanRows)
	if err != nil {
		return nil, fmt.Errorf("list generation presets: %w", err)
	}
	return found, nil
}

// Replace writes all of a preset but id and age. See generate.PresetStore.
func (s *Store) Replace(ctx context.Context, p generate.Preset) (generate.Preset, error) {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		// Written anew, since an insertion says that a name is taken without an error that ends the transaction.
		var created int64
		err := tx.QueryRow(`DELETE FROM presets WHERE id = $1 RETURNING created`, string(p.ID)).Scan(&created)
		if errors.Is(err, sql.ErrNoRows) {
			return generate.ErrNoPreset
		}
		if err != nil {
			return fmt.Errorf("read generation preset: %w", err)
		}
		p.Created = time.UnixMicro(created).UTC()
		return insert(tx, &p)
	})
	if err != nil {
		return generate.Preset{}, err
	}
	return p, nil
}

// Delete removes a preset. See generate.PresetStore.
func (s *Store) Delete(ctx context.Context, preset id.Preset) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		var gone string
		err := tx.QueryRow(`DELETE FROM presets WHERE id = $1 RETURNING id`, string(preset)).Scan(&gone)
		if errors.Is(err, sql.ErrNoRows) {
			return generate.ErrNoPreset
		}
		if err != nil {
			return fmt.Errorf("delete generation preset: %w", err)
		}
		return nil
	})
}
