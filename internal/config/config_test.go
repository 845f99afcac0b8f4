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
		{"QUARRY_LOG", "loud", "setting log is \"loud\": it must be one of warnings, requests, debug"},
		{"QUARRY_LISTEN", "localhost", "setting listen"},
		{"QUARRY_TLS_CERT", "cert.pem", "tls_key"},
		{"QUARRY_TLS_KEY", "key.pem", "tls_cert"},
		{"QUARRY_MAX_JSON", "many", "QUARRY_MAX_JSON"},
		{"QUARRY_MAX_UPLOAD", "0", "max_upload"},
		{"QUARRY_MAX_ARTIFACT", "0", "max_artifact"},
		{"QUARRY_PARSE_MEMORY", "1000000", "parse_memory"},
		{"QUARRY_PARSE_SECONDS", "0", "parse_seconds must be at least 67108864 bytes, and between 1 and 3600 seconds"},
		{"QUARRY_RATE_LIMIT", "-1", "rate_limit"},
		{"QUARRY_RATE_LIMIT", "1000001", "rate_limit"},
		{"QUARRY_RATE_BURST", "10", "rate_burst"},
		{"QUARRY_MAX_EXPENSIVE", "0", "max_expensive"},
		{"QUARRY_MAX_EXPENSIVE_WAITING", "-1", "max_expensive_waiting"},
		{"QUARRY_MAX_EXPENSIVE_TOTAL", "-1", "max_expensive_total"},
		{"QUARRY_EXPENSIVE_WAIT", "3601", "expensive_wait"},
		{"QUARRY_MAX_BODIES", "0", "max_bodies"},
		{"QUARRY_MAX_QUERY_CORPORA", "0", "max_query_corpora must be at least 1"},
		{"QUARRY_INDEX_REST_MINUTES", "0", "index_rest_minutes must be between 1 and 525600"},
		{"QUARRY_SIGN_IN_HOURS", "0", "sign_in_hours must be between 1 and 8760"},
		{"QUARRY_SIGN_IN_HOURS", "8761", "sign_in_hours"},
		{"QUARRY_DATABASE", "mysql://x", "postgres://"},
		{"QUARRY_PUBLIC_URL", "search.example.com", "public_url"},
		{"QUARRY_PUBLIC_URL", "javascript:alert(1)", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://ann:pw@search.example.com", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://search.example.com/?a", "public_url"},
		{"QUARRY_PUBLIC_URL", "https://", "public_url"},
		{"QUARRY_OUTBOUND_ALLOW", "wiki.internal, http://db.internal", `setting outbound_allow: "http://db.internal" is an address with a scheme`},
		{"QUARRY_OUTBOUND_ALLOW", "10.0.0.0/99", `setting outbound_allow: "10.0.0.0/99" is no network`},
		{"QUARRY_OTLP_ENDPOINT", "collector:4317", "setting otlp_endpoint must be an address such as"},
		{"QUARRY_OTLP_ENDPOINT", "grpc://collector:4317", "otlp_endpoint"},
		{"QUARRY_OTLP_ENDPOINT", "http://me:pw@collector:4318", "credentials are otlp_headers"},
		{"QUARRY_OTLP_ENDPOINT", "https://collector/?key=a", "otlp_endpoint"},
		{"QUARRY_OTLP_CONTENT", "some", "QUARRY_OTLP_CONTENT"},
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
	c.SecretKey, c.Database, c.OTLPHeaders = key, "postgres://quarry:hunter2@db/quarry", "Authorization=Bearer%20tiger7"
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", c, "pointer", &c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", c, "pointer", &c)
	out := log.String() + fmt.Sprint(c, &c) + fmt.Sprintf("%+v %#v %s %v", c, c, c, struct{ C config.Config }{c}) + config.Reference()
	for _, secret := range []string{key, "hunter2", "tiger7"} {
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

// TestFileRefused proves that a file that can't be is refused in words, with the line, and that nothing secret is
// repeated.
func TestFileRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ file, want string }{
		{"listen: 1\n# a\noutbound_privat: true\n", "line 3: there is no setting outbound_privat"},
		{"llm-privat: true\n", "line 1: there is no setting llm-privat; did you mean llm_private?"},
		{"lissten: x\n", "did you mean listen?"},
		{"xyzzy_plugh: 1\n", "there is no setting xyzzy_plugh; docs/reference/config.md lists them"},
		{"listen: 1\nlisten: 2\n", "line 2: the setting listen stands in line 1 already"},
		{"max_json: many\n", `line 1: setting max_json is "many": it must be a whole number`},
		{"audit_content: perhaps\n", `setting audit_content is "perhaps": it must be true or false`},
		{"allowed_origins:\n  - https://a.example\n", "setting allowed_origins takes one value"},
		{"secret_key: [qsk_hush]\n", "setting secret_key takes one value"},
		{"- listen\n", "line 1: write one setting a line"},
		{"just words\n", "line 1: write one setting a line"},
		{"data: [\n", "is not YAML: line"},
		{"data: \"a\n", "is not YAML"},
		{"\tlisten: 1\n", "is not YAML"},
	} {
		file := filepath.Join(t.TempDir(), "quarry.yaml")
		if err := os.WriteFile(file, []byte(tc.file), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config.Default()
		err := c.ReadFile(file)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v, want %q and the file", tc.file, err, tc.want)
		}
		if err != nil && (strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "yaml:")) {
			t.Errorf("%q: %v", tc.file, err)
		}
	}
}

// TestFileTaken proves that files without a setting change nothing, and that numbers pass for texts.
func TestFileTaken(t *testing.T) {
	t.Parallel()
	for text, listen := range map[string]string{
		"": "127.0.0.1:8080", "# nothing\n": "127.0.0.1:8080", "---\n": "127.0.0.1:8080", "listen: 9000\n": "9000", "listen: \"[::1]:9\"\nmax_json: 1_000\n": "[::1]:9", "listen:\n": "127.0.0.1:8080",
	} {
		file := filepath.Join(t.TempDir(), "quarry.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := config.Default()
		if err := c.ReadFile(file); err != nil || c.Listen != listen {
			t.Errorf("%q: listen is %q, want %q (%v)", text, c.Listen, listen, err)
		}
	}
}

// TestAddress proves what the setting listen may be: a port alone is one of this machine.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ listen, want, refused string }{
		{"", "", ""},
		{"9000", "127.0.0.1:9000", ""},
		{"0", "127.0.0.1:0", ""},
		{":9000", ":9000", ""},
		{"0.0.0.0:9000", "0.0.0.0:9000", ""},
		{"localhost:9000", "localhost:9000", ""},
		{"[::1]:9000", "[::1]:9000", ""},
		{"::1", "", "brackets"},
		{"::1:9000", "", "brackets"},
		{"localhost", "", "no port"},
		{"localhost:", "", "no port"},
		{"90000", "", "no port, which is a number up to 65535"},
		{"127.0.0.1:-1", "", "up to 65535"},
		{"127.0.0.1:9000x", "", "up to 65535"},
		{"http://127.0.0.1:9000", "", "not a URL"},
		{"9000 ", "", "no port"},
	} {
		c := config.Default()
		c.Listen = tc.listen
		got, err := c.Address()
		if got != tc.want || (tc.refused == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tc.refused) {
			t.Errorf("%q: got %q, %v; want %q, %q", tc.listen, got, err, tc.want, tc.refused)
		}
		if checked := c.Check(); (checked == nil) != (err == nil) {
			t.Errorf("%q: Check says %v", tc.listen, checked)
		}
	}
}

// TestLevel proves what the log shows: log beats log_level, and without both it depends on where it is written.
func TestLevel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		log, level            string
		onTerminal, elsewhere slog.Level
	}{
		{"", "", slog.LevelWarn, slog.LevelInfo},
		{"warnings", "", slog.LevelWarn, slog.LevelWarn},
		{"requests", "", slog.LevelInfo, slog.LevelInfo},
		{"debug", "", slog.LevelDebug, slog.LevelDebug},
		{"", "error", slog.LevelError, slog.LevelError},
		{"", "info", slog.LevelInfo, slog.LevelInfo},
		{"requests", "error", slog.LevelInfo, slog.LevelInfo},
	} {
		c := config.Default()
		c.Log, c.LogLevel = tc.log, tc.level
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		if got, other := c.Level(true), c.Level(false); got != tc.onTerminal || other != tc.elsewhere {
			t.Errorf("log %q, log_level %q: got %v on a terminal and %v elsewhere", tc.log, tc.level, got, other)
		}
	}
}
