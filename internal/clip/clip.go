// Package clip shortens texts without cutting a character in two.
package clip

import "unicode/utf8"

// Head returns the beginning of a text in UTF-8 that has at most n bytes, and ends where a character does. A text in another encoding is
// cut at n bytes.
func Head(text string, n int) string {
	if n = max(n, 0); len(text) <= n {
		return text
	}
	for end := n; end > n-utf8.UTFMax && end >= 0; end-- {
		if utf8.RuneStart(text[end]) {
			return text[:end]
		}
	}
	return text[:n]
}
