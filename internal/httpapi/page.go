package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// StyleSource returns the source of a Content-Security-Policy that allows a style by its digest.
func StyleSource(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// PagePolicy returns a Content-Security-Policy that allows what is listed and nothing else: no scripts, no frames, nothing
// from elsewhere.
func PagePolicy(allowed ...string) string {
	return "default-src 'none'; " + strings.Join(append(allowed, "frame-ancestors 'none'", "base-uri 'none'"), "; ")
}

// SealPage sets the headers of a page for people. They hold it to its policy.
func SealPage(h http.Header, policy string) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
}
