package artifact

import (
	"mime"
)

// Ending returns the ending of files of a media type, with its dot, "" where none is usual.
func Ending(declared string) string {
	kind, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return ""
	}
	best := ""
	for ending, of := range endings {
		if of == kind && (best == "" || usual[ending] || len(ending) < len(best) && !usual[best]) {
			best = ending
		}
	}
	return best
}

// usual are the endings of types that have others of the same length, or shorter ones that are rarer.
var usual = map[string]bool{".jpg": true, ".html": true, ".txt": true, ".yaml": true}
