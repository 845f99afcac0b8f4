//go:build !amd64

package lists

// cpu never chooses a path that needs these.

const unreachable = "lists: no assembly on this architecture"

func sums512(_, _ *byte, _, _ int, _ *uint16) { panic(unreachable) }
func sums256(_, _ *byte, _, _ int, _ *uint16) { panic(unreachable) }

func reach256(*uint16, *byte, int, *bar, *uint32) { panic(unreachable) }
