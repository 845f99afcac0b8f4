package id_test

import (
	"regexp"
	"testing"

	"quarry/internal/id"
)

// TestPatterns proves that identifiers match the contract's patterns and do not repeat.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for pattern, make := range map[string]func() string{
		`^crp_[1-9][0-9]{14}$`:  func() string { return string(id.NewCorpus()) },
		`^usr_[0-9A-Za-z]{20}$`: func() string { return string(id.NewUser()) },
		`^aky_[0-9A-Za-z]{20}$`: func() string { return string(id.NewAPIKey()) },
		`^qry_[0-9A-Za-z]{20}$`: func() string { return string(id.NewQuery()) },
		`^trn_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`: func() string { return string(id.NewTurn()) },
		`^cht_.{36} trn_.{36}$`: func() string {
			c, turn := id.NewChat()
			if c[len("cht_"):] != id.Chat(turn[len("trn_"):]) {
				t.Errorf("chat %s begins with turn %s", c, turn)
			}
			return string(c) + " " + string(turn)
		},
		`^[0-9a-f]{32}$`:    id.NewRequest,
		`^[0-9A-Za-z]{38}$`: func() string { return id.Text(38) },
	} {
		seen := map[string]bool{}
		for range 200 {
			v := make()
			if !regexp.MustCompile(pattern).MatchString(v) || seen[v] {
				t.Fatalf("%q does not match %s, or came twice", v, pattern)
			}
			seen[v] = true
		}
	}
}
