package documents

// Bounds of the sweeper, for tests that go beyond them.
const (
	SweepStep   = sweepStep
	KeptChanges = keptChanges
)
