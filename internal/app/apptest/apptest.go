// Package apptest starts a whole service inside a test, without a listener. Tests that speak HTTP to all of it call it.
package apptest

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"quarry/internal/app"
	"quarry/internal/config"
)

// Start opens a service over a folder of the test's own, with the default settings as change leaves them (nil: as they
// are), and closes it with the test. It gives the owner's key as well: empty on a node over a database that has users.
func Start(t testing.TB, change func(*config.Config)) (a *app.App, owner string) {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.Listen = t.TempDir(), ""
	if change != nil {
		change(&cfg)
	}
	a, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	key, err := os.ReadFile(a.KeyFile())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return a, strings.TrimSpace(string(key))
}
