// Package testkit holds helpers that the tests of several packages share. Only tests import it.
package testkit

import (
	"os"
	"testing"
)

// Skip skips the test because the machine lacks something. With QUARRY_TEST_STRICT=1, as in .ci/run, it fails the test
// instead, so that every test runs there.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("QUARRY_TEST_STRICT") == "1" {
		t.Fatalf("QUARRY_TEST_STRICT=1 allows no skipped test: %s", reason)
	}
	t.Skip(reason)
}
