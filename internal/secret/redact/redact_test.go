package redact_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"quarry/internal/secret/redact"
)

const (
	body  = "0aB9cD8eF7gH6iJ5kL4mN3oP2qR1sT0uV-wX_y"
	token = "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiJhcHBfMSJ9.c2lnbmF0dXJlLW9mLXRoaXM"
)

// TestText proves that Text takes secrets out wherever they stand, and nothing else.
func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "nothing here": "nothing here",
		"key zut_" + body + " is unknown":                "key zut_**** is unknown",
		"zqt_" + body:                                    "zqt_****",
		"#code=zsi_" + body:                              "#code=zsi_****",
		"/v2/corpora/zwt_" + body + "/documents":         "/v2/corpora/zwt_****/documents",
		"%2Fzcs_" + body + "%2F":                         "%2Fzcs_****%2F",
		"qsk_" + body + "ABCDE,qsk_" + body:              "qsk_****,qsk_****",
		"Bearer " + token + ";":                          "Bearer ****;",
		"half a token " + token[:60]:                     "half a token ****",
		"postgres://quarry:hunter2@db:5432/q?x=1":        "postgres://quarry:****@db:5432/q?x=1",
		"postgres://quarry@db/q?password=hunter2&a":      "postgres://quarry@db/q?password=****&a",
		"host=db password='a b' user=q":                  "host=db password=**** user=q",
		`{"u":"https://a:b@c/d","v":"zut_` + body + `"}`: `{"u":"https://a:****@c/d","v":"zut_****"}`,
		"zut_short and zqt_****hdiA":                     "zut_short and zqt_****hdiA",
		"see http://host:8080/a@b":                       "see http://host:8080/a@b",
		"a corpus named jazz_and_blues_of_the_fifties":   "a corpus named jazz_and_blues_of_the_fifties",
		"usr_0aB9cD8eF7gH6iJ5kL4m aky_0aB9cD8eF7gH6iJ5":  "usr_0aB9cD8eF7gH6iJ5kL4m aky_0aB9cD8eF7gH6iJ5",
	} {
		if got := redact.Text(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// TestLog proves that whatever way a secret comes into a record, the log doesn't show it.
func TestLog(t *testing.T) {
	t.Parallel()
	key := "zut_" + body
	for name, handler := range map[string]func(*strings.Builder) slog.Handler{
		"text": func(b *strings.Builder) slog.Handler { return slog.NewTextHandler(redact.Writer(b), nil) },
		"json": func(b *strings.Builder) slog.Handler { return slog.NewJSONHandler(redact.Writer(b), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			log := slog.New(handler(&out))
			log.Info("started with "+key, "kept", "value")
			log.With("key", key).WithGroup("g").Info("x", "a", "b "+token)
			log.Info("x", "error", fmt.Errorf("read: %w", errors.New(key)), "map", map[string]any{"k": []string{key}},
				"struct", struct{ K *string }{&[]string{token}[0]}, slog.Group("h", "i", key), key, 1)
			if got := out.String(); strings.Contains(got, body) || strings.Contains(got, token[40:]) || !strings.Contains(got, "value") {
				t.Errorf("the log says %s", got)
			}
			if n := strings.Count(out.String(), "\n"); n != 3 {
				t.Errorf("%d records, want 3", n)
			}
		})
	}
}

// FuzzText proves that a text without a secret comes back as it is, and what was taken out stays out.
func FuzzText(f *testing.F) {
	f.Add("key zut_" + body)
	f.Add(token)
	f.Add("postgres://a:b@c/d?password=e")
	f.Fuzz(func(t *testing.T, in string) {
		once := redact.Text(in)
		if again := redact.Text(once); again != once {
			t.Fatalf("%q gives %q and then %q", in, once, again)
		}
		if strings.Contains(redact.Text(in+" zut_"+body+" "), body) {
			t.Fatalf("a key after %q stays", in)
		}
	})
}
