package job_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain proves that no worker, heartbeat or waiter outlives its queue.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
