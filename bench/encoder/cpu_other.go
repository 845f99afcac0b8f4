//go:build !unix

package main

// cpuSeconds returns 0: processor time is not known on this platform.
func cpuSeconds() float64 { return 0 }
