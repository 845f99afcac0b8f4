package main

import (
	"fmt"
	"os"
	"strings"
)

// clearReferenced forgets which pages of a process were touched.
func clearReferenced(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("1"), 0)
}

// referenced returns the bytes of the pages that a process has touched since.
func referenced(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, "Referenced: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
