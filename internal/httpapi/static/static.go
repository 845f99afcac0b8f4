// Package static serves files that are the same for everyone: compressed once, and not sent again to clients that have them.
// Packages pages and console use it.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"quarry/internal/httpapi"
)

// File is a file that is served to everyone, kept compressed.
type File struct {
	kind, policy string // the media type; the policy of a page, "" for what is no page
	gzip         []byte
	size         int    // bytes of the content
	digest       string // of the content
}

// New returns a file of a media type. policy is the Content-Security-Policy of a page, "" for what is no page.
func New(kind, policy string, raw []byte) (*File, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if _, err := z.Write(raw); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	sum := sha256.Sum256(raw)
	return &File{kind: kind, policy: policy, gzip: b.Bytes(), size: len(raw), digest: hex.EncodeToString(sum[:12])}, nil
}

// Serve answers with the file, or with 304 to a client that says it has it. It leaves Cache-Control as it is.
func (f *File) Serve(w http.ResponseWriter, r *http.Request) error {
	packed := takesGzip(r.Header.Values("Accept-Encoding"))
	tag, size := `"`+f.digest+`"`, f.size
	if packed {
		tag, size = `"`+f.digest+`-gzip"`, len(f.gzip)
	}
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", tag)
	if has(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if f.policy != "" {
		httpapi.SealPage(h, f.policy)
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(size))
	if packed {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(f.gzip) // an error means that the client is gone
		return nil
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(f.gzip))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	_, _ = io.Copy(w, z)
	return nil
}

// takesGzip reports whether Accept-Encoding allows gzip.
func takesGzip(accepted []string) bool {
	for item := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, given := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(params, " ", "")), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}

// has reports whether If-None-Match lists a tag, or any.
func has(listed []string, tag string) bool {
	for item := range strings.SplitSeq(strings.Join(listed, ","), ",") {
		if item = strings.TrimPrefix(strings.TrimSpace(item), "W/"); item == tag || item == "*" {
			return true
		}
	}
	return false
}
