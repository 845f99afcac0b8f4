package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/store"
	"quarry/internal/store/storetest/pgserver"
	"quarry/internal/testkit"
)

// Postgres returns the URL of a fresh database that has the schema and no rows, on a server that this test program runs for itself
// in a temporary folder. Without a PostgreSQL on the machine it skips the test.
func Postgres(t testing.TB) string {
	t.Helper()
	s := running(t)
	if err := migrated(); err != nil {
		t.Fatalf("write the schema: %v", err)
	}
	return database(t, s, " TEMPLATE "+template+strategy(s))
}

// Empty is Postgres for a test of the schema itself: its database has none.
func Empty(t testing.TB) string {
	t.Helper()
	return database(t, running(t), "")
}

// running returns the server of the test program.
func running(t testing.TB) *pgserver.Server {
	t.Helper()
	s, err := server()
	if errors.Is(err, pgserver.ErrMissing) {
		testkit.Skip(t, err.Error())
	}
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return s
}

// template is the database that those with a schema are copied from, which takes a fifth of the time of its migrations.
const template = "migrated"

// migrated writes template, once.
var migrated = sync.OnceValue(func() error {
	s, err := server()
	if err == nil {
		err = s.Exec(context.Background(), "CREATE DATABASE "+template)
	}
	if err != nil {
		return err
	}
	return begin(store.Config{URL: s.URL(template)})
})

// strategy returns how a database is copied: as files, where PostgreSQL has the choice (15). It flushes nothing here, and takes a quarter of
// the time that the log takes.
func strategy(s *pgserver.Server) string {
	if s.Version < 15 {
		return ""
	}
	return " STRATEGY FILE_COPY"
}

// database creates a database for a test.
func database(t testing.TB, s *pgserver.Server, how string) string {
	t.Helper()
	name := fmt.Sprintf("q%d", databases.Add(1))
	if err := s.Exec(t.Context(), "CREATE DATABASE "+name+how); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop database: %v", err)
		}
	})
	return s.URL(name)
}

// Restartable returns the URL of an empty database on a server of the test's own, and what restarts the server; see
// pgserver.Server.Restart.
func Restartable(t testing.TB) (text string, restart func(crash bool)) {
	t.Helper()
	s, err := pgserver.Start(true)
	if errors.Is(err, pgserver.ErrMissing) {
		testkit.Skip(t, err.Error())
	}
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.URL("postgres"), func(crash bool) {
		t.Helper()
		if err := s.Restart(crash); err != nil {
			t.Fatalf("restart PostgreSQL: %v", err)
		}
	}
}

var (
	server    = sync.OnceValues(func() (*pgserver.Server, error) { return pgserver.Start(false) })
	databases atomic.Int64
)
