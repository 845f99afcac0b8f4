// Package testkit holds what the tests of several packages share. Only tests import it.
package testkit

import (
	"os"
	"testing"
)

// Skip skips the test because of what the machine lacks. Under QUARRY_TEST_STRICT=1, as in .ci/run, a lack is a
// failure: there every test runs.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("QUARRY_TEST_STRICT") == "1" {
		t.Fatalf("QUARRY_TEST_STRICT=1 allows no skipped test: %s", reason)
	}
	t.Skip(reason)
}
