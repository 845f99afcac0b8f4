package app_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/app"
	"quarry/internal/config"
	"quarry/internal/store/storetest"
)

// TestRecover proves that an installation whose owners have no key that works gets one, of the owner made first and
// known to the audit, that a key that works is left alone, and that nothing is made beside a server or where nothing is.
func TestRecover(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			cfg.Data, cfg.Listen, cfg.Database = t.TempDir(), "", database(t)
			var lost string
			serving(t, cfg, func(a *app.App, key string) {
				want(t, a, key, "POST", "/v2/users", `{"email": "late@x.test", "api_roles": ["owner"]}`, http.StatusCreated)
				var held *app.HeldError
				if _, err := app.Recover(t.Context(), cfg, slog.New(slog.DiscardHandler)); !errors.As(err, &held) {
					t.Errorf("beside a server: %v, want that it holds the folder", err)
				}
				lost = key
			})
			if r := recovered(t, cfg); r.Key != "" {
				t.Errorf("a key was made though that of the file works: %+v", r)
			}
			serving(t, cfg, func(a *app.App, key string) {
				list := want(t, a, key, "GET", "/v2/api_keys", "", http.StatusOK)
				want(t, a, key, "POST", "/v2/api_keys", `{"name": "spare", "api_roles": ["owner"]}`, http.StatusCreated)
				want(t, a, key, "PATCH", "/v2/api_keys/aky_"+between(list, `"aky_`, `"`), `{"enabled": false}`, http.StatusOK)
				want(t, a, key, "GET", "/v2/users", "", http.StatusUnauthorized)
			})
			r := recovered(t, cfg)
			if r.Key == "" || r.User != "owner" {
				t.Fatalf("recovered %+v, want a key of the owner made first", r)
			}
			serving(t, cfg, func(a *app.App, key string) {
				if key == lost {
					t.Error("the file has the key from before")
				}
				want(t, a, key, "GET", "/v2/users", "", http.StatusOK)
				if events := want(t, a, key, "GET", "/v2/audit_events?action=createApiKey", "", http.StatusOK); !strings.Contains(events, string(r.Key)) || strings.Contains(events, key) {
					t.Errorf("the audit does not name the key, or shows its secret: %s", events)
				}
			})
		})
	}
	cfg := config.Default()
	cfg.Data = filepath.Join(t.TempDir(), "nowhere")
	if _, err := app.Recover(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key was made where there is no folder")
	}
	cfg.Data = t.TempDir()
	if _, err := app.Recover(t.Context(), cfg, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a key was made where there is no owner")
	}
	if left, err := filepath.Glob(filepath.Join(cfg.Data, "*.db*")); len(left) > 0 || err != nil {
		t.Errorf("a database was made where there was none: %v, %v", left, err)
	}
}

// serving opens an installation, gives it and the key of its file to f, and closes it.
func serving(t *testing.T, cfg config.Config, f func(a *app.App, key string)) {
	t.Helper()
	a, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error("close:", err)
		}
	}()
	raw, err := os.ReadFile(a.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	f(a, strings.TrimSpace(string(raw)))
}

func recovered(t *testing.T, cfg config.Config) app.Recovered {
	t.Helper()
	r, err := app.Recover(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want sends a request that is answered with a status, and gives the body of the answer.
func want(t *testing.T, a *app.App, key, method, path, body string, status int) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", key)
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w.Body.String()
}

// between gives what stands in s between two texts.
func between(s, before, after string) string {
	_, rest, _ := strings.Cut(s, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}
