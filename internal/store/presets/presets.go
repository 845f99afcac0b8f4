// Package presets keeps generation presets in SQL: the generate.PresetStore of the service. Package app creates it.
package presets

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/id"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/named"
)

// Store is the generate.PresetStore over a database.
type Store struct {
	db   *store.DB
	rows named.Table[generate.Preset]
}

var _ generate.PresetStore = (*Store)(nil)

// New returns a store over db.
func New(db *store.DB) *Store {
	return &Store{db, named.Table[generate.Preset]{
		DB: db, Kind: "preset", Columns: columns, What: "generation preset", None: generate.ErrNoPreset, Taken: generate.ErrPresetTaken,
		Write: row, Read: scan,
	}}
}

// columns is what row writes, in its order.
const columns = `id, name, description, llm, template, max_results, max_tokens, temperature, frequency_penalty, presence_penalty, extra, enabled, created, updated`

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

func scan(r store.Row) (p generate.Preset, err error) {
	var extra string
	if err = r.Scan(&p.ID, &p.Name, &p.Description, &p.LLM, &p.Template, &p.MaxResults, &p.MaxTokens, &p.Temperature, &p.FrequencyPenalty, &p.PresencePenalty,
		&extra, &p.Enabled, store.Micros(&p.Created), store.Micros(&p.Updated), &p.Default); err != nil {
		return p, err
	}
	if err := json.Unmarshal([]byte(extra), &p.Extra); err != nil {
		return p, fmt.Errorf("read the parameters of generation preset %s: %w", p.ID, err)
	}
	return p, nil
}

// Create writes a preset. See generate.PresetStore.
func (s *Store) Create(ctx context.Context, p generate.Preset) error {
	return s.db.Write(ctx, func(tx *store.Tx) error { return s.rows.Insert(tx, &p, p.Default) })
}

// Get returns a preset. See generate.PresetStore.
func (s *Store) Get(ctx context.Context, preset id.Preset) (generate.Preset, error) {
	return s.rows.Get(ctx, string(preset))
}

// Named returns the presets of these names and the default one. See generate.PresetStore.
func (s *Store) Named(ctx context.Context, names ...string) ([]generate.Preset, error) {
	return s.rows.Named(ctx, names...)
}

// List returns presets after a place, newest first. See generate.PresetStore.
func (s *Store) List(ctx context.Context, after *page.Position, limit int) ([]generate.Preset, error) {
	return s.rows.After(ctx, after, limit)
}

// Replace writes all of a preset but id and age. See generate.PresetStore.
func (s *Store) Replace(ctx context.Context, p generate.Preset) (generate.Preset, error) {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		// Deleted and inserted rather than updated: ON CONFLICT reports a taken name without an error, which would end the
		// transaction on PostgreSQL.
		created, err := s.rows.Delete(tx, string(p.ID))
		if err != nil {
			return err
		}
		p.Created = time.UnixMicro(created).UTC()
		return s.rows.Insert(tx, &p, p.Default)
	})
	if err != nil {
		return generate.Preset{}, err
	}
	return p, nil
}

// Delete removes a preset. See generate.PresetStore.
func (s *Store) Delete(ctx context.Context, preset id.Preset) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
		_, err := s.rows.Delete(tx, string(preset))
		return err
	})
}
