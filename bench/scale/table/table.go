// Package table prints measurements as Markdown, and holds the few statistics that they need.
package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Median returns the middle of numbers.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile returns the value below which the share p of numbers lies; 0 of none.
func Quantile(x []float64, p float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[min(len(x)-1, int(p*float64(len(x))))]
}

// Sum returns the sum of numbers.
func Sum(x []float64) (all float64) {
	for _, v := range x {
		all += v
	}
	return all
}

// Row prints a row of a Markdown table.
func Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	fmt.Println("| " + strings.Join(texts, " | ") + " |")
}

// Head prints the head of a Markdown table.
func Head(cells ...any) {
	fmt.Println()
	Row(cells...)
	fmt.Println("|" + strings.Repeat("---|", len(cells)))
}

// Milliseconds returns seconds as milliseconds.
func Milliseconds(seconds float64) string {
	return strconv.FormatFloat(seconds*1000, 'g', 3, 64) + " ms"
}

// Megabytes returns bytes as megabytes.
func Megabytes(bytes int64) string { return fmt.Sprintf("%.0f MB", float64(bytes)/1e6) }
