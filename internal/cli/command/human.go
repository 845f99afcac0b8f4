package command

import (
	"fmt"
	"strconv"
	"time"
)

// Count returns a number with its noun, such as "1 document" or "2 documents".
func Count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Short returns a number for reading: three digits and a letter for the thousands.
func Short(n int64) string {
	f, units := float64(n), " kMGT"
	for f >= 999.5 && len(units) > 1 {
		f, units = f/1000, units[1:]
	}
	switch {
	case units[0] == ' ':
		return strconv.FormatInt(n, 10)
	case f < 9.95:
		return fmt.Sprintf("%.1f%c", f, units[0])
	}
	return fmt.Sprintf("%.0f%c", f, units[0])
}

// Age returns how long ago an instant of the service was, in its largest unit; the instant itself if it is not one.
func Age(instant string) string {
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return instant
	}
	age := max(time.Since(at), 0)
	const day = 24 * time.Hour
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%ds", age/time.Second)
	case age < time.Hour:
		return fmt.Sprintf("%dm", age/time.Minute)
	case age < day:
		return fmt.Sprintf("%dh", age/time.Hour)
	case age < 365*day:
		return fmt.Sprintf("%dd", age/day)
	}
	return fmt.Sprintf("%dy", age/(365*day))
}

// Second returns an instant of the service without the fraction of its second.
func Second(instant string) string {
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return instant
	}
	return at.UTC().Format(time.RFC3339)
}
