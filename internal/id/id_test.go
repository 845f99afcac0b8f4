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
		`^[0-9a-f]{32}$`:        id.NewRequest,
		`^[0-9A-Za-z]{38}$`:     func() string { return id.Text(38) },
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
