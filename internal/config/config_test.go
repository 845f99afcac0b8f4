package config_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/config"
	"quarry/internal/secret/seal"
)

// TestPrecedence proves that the environment beats the file and the file beats the default.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "q.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:1\nmax_json: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	if err := c.ReadFile(file); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"QUARRY_LISTEN": "127.0.0.1:2", "QUARRY_DATA": ""}
	if err := c.ReadEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:2" || c.MaxJSON != 5 || c.Data != "./quarry-data" {
		t.Errorf("got listen %q, max_json %d, data %q", c.Listen, c.MaxJSON, c.Data)
	}
}

// TestRefusals proves that a wrong setting is refused by name.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ env, value, want string }{
		{"QUARRY_KERNEL", "sse9", "kernel"},
		{"QUARRY_LOG_LEVEL", "loud", "log_level"},
		{"QUARRY_MAX_JSON", "many", "QUARRY_MAX_JSON"},
		{"QUARRY_MAX_UPLOAD", "0", "max_upload"},
		{"QUARRY_RATE_LIMIT", "-1", "rate_limit"},
		{"QUARRY_RATE_LIMIT", "1000001", "rate_limit"},
		{"QUARRY_RATE_BURST", "10", "rate_burst"},
		{"QUARRY_MAX_EXPENSIVE", "0", "max_expensive"},
		{"QUARRY_MAX_EXPENSIVE_WAITING", "-1", "max_expensive_waiting"},
		{"QUARRY_MAX_EXPENSIVE_TOTAL", "-1", "max_expensive_total"},
		{"QUARRY_EXPENSIVE_WAIT", "3601", "expensive_wait"},
		{"QUARRY_MAX_BODIES", "0", "max_bodies"},
		{"QUARRY_DATABASE", "mysql://x", "postgres://"},
		{"QUARRY_PUBLIC_URL", "search.example.com", "public_url"},
		{"QUARRY_PUBLIC_URL", "javascript:alert(1)", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://ann:pw@search.example.com", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://search.example.com/?a", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://", "public_url"},
		{"QUARRY_SECRET_KEY", "qsk_short", "secret_key"},
		{"QUARRY_SECRET_KEY", "correct horse", "secret_key"},
	} {
		c := config.Default()
		err := c.ReadEnv(func(k string) (string, bool) { return tc.value, k == tc.env })
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s=%s: got %v, want an error that names %s", tc.env, tc.value, err, tc.want)
		}
	}
}

// TestUnknownKey proves that a misspelt key in the file is an error and not silently ignored.
func TestUnknownKey(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "q.yaml")
	if err := os.WriteFile(file, []byte("lissten: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	if err := c.ReadFile(file); err == nil || !strings.Contains(err.Error(), "lissten") {
		t.Errorf("got %v, want an error that names lissten", err)
	}
}

// TestReferenceIsCurrent proves that docs/reference/config.md is what the code says; rewrite it with make generate.
func TestReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	const page = "../../docs/reference/config.md"
	if os.Getenv("QUARRY_GENERATE") != "" {
		if err := os.WriteFile(page, []byte(config.Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != config.Reference() {
		t.Errorf("%s is stale: run make generate", page)
	}
}

// TestSecretsStayInside proves that no way of printing the settings shows one that is secret.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	key := seal.NewKey().Text()
	c := config.Default()
	c.SecretKey, c.Database = key, "postgres://quarry:hunter2@db/quarry"
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "pointer", &c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "pointer", &c)
	out := log.String() + fmt.Sprint(c, &c) + fmt.Sprintf("%+v %#v %s %v", c, c, c, struct{ C config.Config }{c}) + config.Reference()
	for _, secret := range []string{key, "hunter2"} {
		if strings.Contains(out, secret) {
			t.Errorf("%q shows in %s", secret, out)
		}
	}
	bad := config.Default()
	bad.SecretKey = key[:40]
	if err := bad.Check(); err == nil || strings.Contains(err.Error(), key[5:30]) {
		t.Errorf("the refusal of a key is %v", err)
	}
	bad.SecretKey, bad.Database = "", "mysql://quarry:hunter2@db/quarry"
	if err := bad.Check(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the refusal of a database is %v", err)
	}
}
