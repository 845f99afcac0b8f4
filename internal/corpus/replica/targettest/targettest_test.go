package targettest_test

import (
	"testing"

	"quarry/internal/corpus/replica"
	"quarry/internal/corpus/replica/targettest"
	"quarry/internal/index"
)

// TestTargets holds our own index to the suite: in memory, on files, and behind a pipe that makes text of everything.
func TestTargets(t *testing.T) {
	t.Parallel()
	memory := func(cfg index.Config) (replica.Target, error) {
		cfg.Dir = ""
		return replica.Local(cfg)
	}
	t.Run("memory", func(t *testing.T) { targettest.Run(t, memory) })
	t.Run("files", func(t *testing.T) { targettest.Run(t, replica.Local) })
	t.Run("pipe", func(t *testing.T) { targettest.Run(t, targettest.Piped(replica.Local)) })
}
