package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// median returns the middle of numbers.
func median(x []float64) float64 { return quantile(x, 0.5) }

// quantile returns the value below which the share p of numbers lies; 0 of none.
func quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[min(len(x)-1, int(p*float64(len(x))))]
}

func sum(x []float64) (all float64) {
	for _, v := range x {
		all += v
	}
	return all
}

// row prints a row of a Markdown table.
func row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	fmt.Println("| " + strings.Join(texts, " | ") + " |")
}

// head prints the head of a Markdown table.
func head(cells ...any) {
	fmt.Println()
	row(cells...)
	fmt.Println("|" + strings.Repeat("---|", len(cells)))
}

// ms returns seconds as milliseconds.
func ms(seconds float64) string {
	return strconv.FormatFloat(seconds*1000, 'g', 3, 64) + " ms"
}

func mb(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }

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
