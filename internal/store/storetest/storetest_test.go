package storetest_test

import (
	"testing"

	"quarry/internal/identity/token"
	"quarry/internal/identity/token/tokentest"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/jobs"
	"quarry/internal/store/queries"
	"quarry/internal/store/signing"
	"quarry/internal/store/storetest"
	"quarry/internal/store/usages"
	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"
)

// TestSQLite proves that the SQL stores keep their interfaces' promises on SQLite.
func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t testing.TB) store.Config { return store.Config{Dir: t.TempDir()} })
}

// TestPostgres proves that the same stores keep the same promises on PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t) // skips here rather than in every case
	run(t, func(t testing.TB) store.Config { return store.Config{URL: storetest.Postgres(t)} })
}

// TestMemorySigning proves that the signing keys in memory, which other tests trust, keep the promises of the SQL ones.
func TestMemorySigning(t *testing.T) {
	t.Parallel()
	tokentest.Conform(t, func(testing.TB) token.Store { return new(tokentest.Memory) })
}

// TestMemoryJobs proves that the queue in memory, which other tests trust, keeps the promises of the SQL one.
func TestMemoryJobs(t *testing.T) {
	t.Parallel()
	jobtest.Conform(t, func(testing.TB) job.Store { return new(jobtest.Memory) })
}

// TestMemoryUsage proves that the counts in memory, which other tests trust, keep the promises of the SQL ones.
func TestMemoryUsage(t *testing.T) {
	t.Parallel()
	usagetest.Conform(t, func(testing.TB) usage.Store { return new(usagetest.Memory) })
}

// run holds the stores over databases of a kind to every suite.
func run(t *testing.T, at func(testing.TB) store.Config) {
	stores := func(t testing.TB) storetest.Stores { return open(t, at(t)) }
	storetest.Run(t, stores)
	tokentest.Conform(t, func(t testing.TB) token.Store { return keys(t, at(t)) })
	usagetest.Conform(t, func(t testing.TB) usage.Store { return usages.New(storetest.Open(t, at(t))) })
}

func open(t testing.TB, c store.Config) storetest.Stores {
	t.Helper()
	db := storetest.Open(t, c)
	return storetest.Stores{Accounts: accounts.New(db), Corpora: corpora.New(db), Documents: documents.New(db), Jobs: jobs.New(db), Queries: queries.New(db)}
}

func keys(t testing.TB, c store.Config) token.Store {
	t.Helper()
	db := storetest.Open(t, c)
	return signing.New(db, storetest.Secrets(t, db))
}
