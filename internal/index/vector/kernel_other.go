//go:build !amd64

package vector

// cpu never chooses a path that needs these.

const unreachable = "vector: no assembly on this architecture"

func scan512(*int8, *byte, int, *int32)       { panic(unreachable) }
func scan256(*int16, *byte, int, int, *int32) { panic(unreachable) }

func fine256(*int32, *byte, *byte, int) int64 { panic(unreachable) }

func prefetch(*byte, int) {}
