package scenario_test

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	contract "quarry/api"
	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/provider/scripted"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/test/ledger"
	"quarry/test/scenario"
	"quarry/test/site"
	"quarry/test/toolserver"
)

const (
	folder     = "testdata"
	ledgerPage = "../../docs/reference/operations.md"
)

// start starts the service in process, on SQLite or on the database given.
func start(t *testing.T, database string) (*app.App, scenario.Target) {
	a, target, _ := startTapped(t, database, func(*config.Config) {})
	return a, target
}

// startTapped is start with other settings, and a tap on the log and on what the target's client sends and gets.
func startTapped(t *testing.T, database string, set func(*config.Config)) (*app.App, scenario.Target, func()) {
	t.Helper()
	listener := newTap()
	cfg := config.Default()
	cfg.Data, cfg.Listen, cfg.Database = t.TempDir(), "", database
	cfg.MaxJSON = 2 << 20            // so that scenarios of too large bodies stay small
	cfg.TrustedProxies = "127.0.0.1" // so that scenarios of too many attempts come from elsewhere
	cfg.MaxDeletes = 2               // so that few calls at once are too many
	cfg.KeepFiles = true
	web, other, safe := site.Start(t, false), site.Start(t, false), site.Start(t, true)
	cfg.OutboundAllow, cfg.WebSearchURL, cfg.WebSearchKey = "127.0.0.1", web.URL, site.Key
	set(&cfg)
	a, err := app.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(listener, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	owner, err := os.ReadFile(a.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	models := scripted.Start(t)
	values := map[string]string{"provider": models.URL, "web": web.URL, "other": other.URL, "safe": safe.URL, "tools": toolserver.Start(t).URL}
	for name, after := range map[string]time.Duration{"an_hour_ago": -time.Hour, "in_an_hour": time.Hour, "thirty_one_days_ago": -31 * 24 * time.Hour} {
		values[name] = time.Now().Add(after).UTC().Format(time.RFC3339)
	}
	target := scenario.Target{URL: server.URL, Values: values, Client: &http.Client{Transport: listener, CheckRedirect: stays}, Keys: map[string]string{
		"owner":     strings.TrimSpace(string(owner)),
		"powerless": storetest.AddKey(t, store.Config{Dir: cfg.Data, URL: database}, "powerless"),
	}}
	return a, target, func() { listener.check(t, target, cfg.Data, database) }
}

func files(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// run runs every scenario, each with corpora of its own on one service, or alone on another. database creates a database.
func run(t *testing.T, database func(testing.TB) string) ([]string, []ledger.Evidence) {
	t.Helper()
	a, target, lookForSecrets := startTapped(t, database(t), func(*config.Config) {})
	c, err := scenario.NewContract(contract.YAML)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []ledger.Evidence
	t.Run("scenarios", func(t *testing.T) {
		for _, name := range files(t) {
			t.Run(filepath.ToSlash(name), func(t *testing.T) {
				t.Parallel()
				s, err := scenario.Read(name)
				if err != nil {
					t.Fatal(err)
				}
				target := target
				if s.Alone {
					_, target, _ = startTapped(t, database(t), func(*config.Config) {})
				}
				rel, err := filepath.Rel(folder, name)
				if err != nil {
					t.Fatal(err)
				}
				evidence, err := c.Run(t.Context(), target, filepath.ToSlash(rel), s)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, evidence...)
			})
		}
	})
	lookForSecrets()
	return a.Built(), seen
}

// TestSQLite proves every scenario on the default database, that each built operation has a scenario for its success
// and every refusal that the contract lists, and that docs/reference/operations.md is what was seen.
func TestSQLite(t *testing.T) {
	t.Parallel()
	built, seen := run(t, func(testing.TB) string { return "" })
	if t.Failed() {
		return
	}
	l, err := ledger.New(built, seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, gap := range l.Missing() {
		t.Error(gap)
	}
	page := l.Markdown()
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile(ledgerPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(ledgerPage); err != nil || string(got) != page {
		t.Errorf("%s is stale: run make ledger (%v)", ledgerPage, err)
	}
}

// TestPostgres proves every scenario on PostgreSQL.
func TestPostgres(t *testing.T) {
	t.Parallel()
	run(t, storetest.Postgres)
}

// TestLimited proves what callers see of limits, each scenario on a service whose settings make them narrow.
func TestLimited(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*config.Config){
		"rate":  func(c *config.Config) { c.RateLimit, c.RateBurst = 1, 10 },
		"calls": func(c *config.Config) { c.MaxExpensive, c.MaxExpensiveWaiting = 1, 0 },
		"turns": func(c *config.Config) { c.MaxTurns = 2 },
		// not narrow, but without what others have
		"search": func(c *config.Config) { c.WebSearchKey = "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := scenario.NewContract(contract.YAML)
			if err != nil {
				t.Fatal(err)
			}
			s, err := scenario.Read(filepath.Join("limited", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			_, target, _ := startTapped(t, "", set) // too little passes here to look for secrets in
			if _, err := c.Run(t.Context(), target, name, s); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBuilt proves that the operations of the main job are built.
func TestBuilt(t *testing.T) {
	t.Parallel()
	a, _ := start(t, "")
	for _, id := range []string{
		"createCorpus", "listCorpora", "getCorpus", "updateCorpus", "deleteCorpus", "resetCorpus", "createCorpusDocument",
		"listCorpusDocuments", "getCorpusDocument", "deleteCorpusDocument", "uploadFile", "searchCorpus", "queryCorpus", "query",
		"listJobs", "getJob", "bulkDeleteCorpusDocuments", "bulkUpdateCorpusDocumentMetadata",
	} {
		if !slices.Contains(a.Built(), id) {
			t.Errorf("%s answers 501", id)
		}
	}
}

// stays keeps a client at an answer that leads elsewhere: the redirect is what a step asks for.
func stays(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
