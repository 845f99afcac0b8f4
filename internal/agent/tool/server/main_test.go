package server_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain proves that no sync outlives its service.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
