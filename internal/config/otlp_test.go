package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/config"
)

// TestHeaders proves how headers for a collector are written, and that a refusal names the place and never a value.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]map[string]string{
		"":                                {},
		"Authorization=Bearer%20hush":     {"Authorization": "Bearer hush"},
		" x-team = a b ,api-key=cGk9PQ==": {"x-team": "a b", "api-key": "cGk9PQ=="},
		"x=a%2Cb%25+c,y=":                 {"x": "a,b%+c", "y": ""},
	} {
		c := config.Config{OTLPHeaders: given}
		got, err := c.Headers()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, %s", given, err, diff)
		}
	}
	for given, says := range map[string]string{
		"a=b,hush": "entry 2", "=hush": "entry 1", "a b=hush": "entry 1", "a=hush%zz": "value of a", "a=hush%0d%0ab": "value of a", "Authorization: Bearer hush": "entry 1",
	} {
		c := config.Default()
		c.OTLPHeaders = given
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %s", given, err, says)
		}
	}
}
