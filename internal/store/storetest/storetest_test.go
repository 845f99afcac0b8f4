package storetest_test

import (
	"testing"

	"quarry/internal/job"
	"quarry/internal/job/jobtest"
	"quarry/internal/store"
	"quarry/internal/store/accounts"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/jobs"
	"quarry/internal/store/queries"
	"quarry/internal/store/storetest"
)

// The SQL stores keep their interfaces' promises on SQLite.
func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB) storetest.Stores { return open(t, store.Config{Dir: t.TempDir()}) })
}

// The same stores keep the same promises on PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t) // skips here rather than in every case
	storetest.Run(t, func(t testing.TB) storetest.Stores { return open(t, store.Config{URL: storetest.Postgres(t)}) })
}

// The queue in memory, which other tests trust, keeps the promises of the SQL one.
func TestMemoryJobs(t *testing.T) {
	t.Parallel()
	storetest.Jobs(t, func(testing.TB) job.Store { return new(jobtest.Memory) })
}

func open(t testing.TB, c store.Config) storetest.Stores {
	t.Helper()
	db, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return storetest.Stores{Accounts: accounts.New(db), Corpora: corpora.New(db), Documents: documents.New(db), Jobs: jobs.New(db), Queries: queries.New(db)}
}
