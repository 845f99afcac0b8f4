package audit_test

import (
	"encoding/json"
	"testing"
	"time"

	"quarry/internal/id"
	"quarry/internal/identity/audit"
	"quarry/internal/identity/authz"
	"quarry/internal/store"
	sqlaudit "quarry/internal/store/audit"
)

func benchmarkEvent() audit.Event {
	now := time.Now()
	return audit.Event{
		ID: id.NewAudit(now), At: now, Action: "updateUser", Address: "192.0.2.1", RequestID: id.NewRequest(),
		Actor:   audit.Actor{Kind: authz.User, ID: "usr_0123456789abcdefghij", Name: "ann@example.com", Credential: "aky_0123456789abcdefghij"},
		Target:  map[string]string{"username": "bob@example.com"},
		Changes: json.RawMessage(`{"description":"of the garden","api_roles":["viewer"]}`),
	}
}

func openFor(b *testing.B) (*store.DB, audit.Store) {
	b.Helper()
	db, err := store.Open(b.Context(), store.Config{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() }) // after the measurement
	return db, sqlaudit.New(db)
}

// BenchmarkRecord is what the audit adds to one change, alone and with eight callers at once who share commits; and
// beside it the smallest write there is, for the share of the disk.
func BenchmarkRecord(b *testing.B) {
	record := func(b *testing.B, s audit.Store) {
		e := benchmarkEvent()
		if err := s.Add(b.Context(), e); err != nil {
			b.Error(err)
		}
		if err := s.SetOutcome(b.Context(), e.ID, 200, nil); err != nil {
			b.Error(err)
		}
	}
	b.Run("alone", func(b *testing.B) {
		_, s := openFor(b)
		for b.Loop() {
			record(b, s)
		}
	})
	b.Run("together", func(b *testing.B) {
		_, s := openFor(b)
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				record(b, s)
			}
		})
	})
	b.Run("smallest write", func(b *testing.B) {
		db, _ := openFor(b)
		for n := 0; b.Loop(); n++ {
			if err := db.Write(b.Context(), func(tx *store.Tx) error {
				return tx.Exec(`INSERT INTO meta (name, value) VALUES ('bench', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte{byte(n), byte(n >> 8)})
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkList is a page of 100 of 200,000 events: all of them, and those of an actor who did little.
func BenchmarkList(b *testing.B) {
	db, s := openFor(b)
	const batch = 1000
	for range 200 {
		if err := db.Write(b.Context(), func(tx *store.Tx) error {
			for range batch {
				e := benchmarkEvent()
				if err := tx.Exec(`INSERT INTO audit_events (id, kind, actor_id, actor_name, credential, action, target, changes, address, request_id, status)
					VALUES ($1, 'user', $2, $3, $4, $5, '{}', $6, $7, $8, 200)`, string(e.ID), e.Actor.ID, e.Actor.Name, e.Actor.Credential,
					e.Action, string(e.Changes), e.Address, e.RequestID); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	rare := benchmarkEvent()
	rare.Actor.Name = "rare"
	if err := s.Add(b.Context(), rare); err != nil {
		b.Fatal(err)
	}
	for name, l := range map[string]audit.List{
		"all": {Limit: 100}, "actor": {Limit: 100, Actor: "ann@example.com"}, "rare actor": {Limit: 100, Actor: "rare"},
		"rare action": {Limit: 100, Action: "deleteUser"}, "actor and action": {Limit: 100, Actor: "ann@example.com", Action: "deleteUser"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.List(b.Context(), l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
