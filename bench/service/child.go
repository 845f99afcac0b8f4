package service

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Child is a process that the program has started, by its number.
type Child int

// Children returns the processes that the program has started and that run, none on systems without /proc.
func (p *Process) Children() (all []Child) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:])) // state, parent
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(p.cmd.Process.Pid) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			all = append(all, Child(pid))
		}
	}
	return all
}

// Resident is Process.Resident.
func (c Child) Resident() int64 { return memoryOf(int(c), "VmRSS") }

// ProcessorTime is Process.ProcessorTime.
func (c Child) ProcessorTime() (time.Duration, error) { return processorTime(int(c)) }

func memoryOf(pid int, name string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
