package testkit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Children returns the processes that this one has started and that run, none on systems without /proc.
func (p *Process) Children() (all []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if parent, runs := parentOf(pid); runs && parent == p.PID() {
			all = append(all, pid)
		}
	}
	return all
}

// Runs reports whether a process of this number runs, on systems with /proc.
func Runs(pid int) bool {
	_, runs := parentOf(pid)
	return runs
}

// parentOf returns the process that has started another, and whether that runs.
func parentOf(pid int) (parent int, runs bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(raw, []byte(") "))
	fields := bytes.Fields(rest) // state, parent
	if len(fields) < 2 || string(fields[0]) == "Z" {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
