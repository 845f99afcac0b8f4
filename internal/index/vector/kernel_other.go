//go:build !amd64

package vector

func supported(p path) bool { return p == portable }

const unreachable = "vector: no assembly on this architecture"

func scan512(*int8, *byte, int, *int32)       { panic(unreachable) }
func scan256(*int16, *byte, int, int, *int32) { panic(unreachable) }
