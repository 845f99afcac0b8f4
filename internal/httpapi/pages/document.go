package pages

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

// document is something that is served to everyone, kept compressed.
type document struct {
	kind, policy string // the media type; the policy of a page, "" for what is no page
	gzip         []byte
	size         int    // bytes of the content
	digest       string // of the content
}

func newDocument(kind, policy string, raw []byte) (*document, error) {
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
	return &document{kind: kind, policy: policy, gzip: b.Bytes(), size: len(raw), digest: hex.EncodeToString(sum[:12])}, nil
}

// serve answers with the document, or with 304 to a client that says it has it. Like every answer it is marked no-store.
func (d *document) serve(w http.ResponseWriter, r *http.Request) error {
	packed := takesGzip(r.Header.Values("Accept-Encoding"))
	tag, size := `"`+d.digest+`"`, d.size
	if packed {
		tag, size = `"`+d.digest+`-gzip"`, len(d.gzip)
	}
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", tag)
	if has(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if d.policy != "" {
		httpapi.SealPage(h, d.policy)
	}
	h.Set("Content-Type", d.kind)
	h.Set("Content-Length", strconv.Itoa(size))
	if packed {
		h.Set("Content-Encoding", "gzip")
		_, _ = w.Write(d.gzip) // an error means that the client is gone
		return nil
	}
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	z, err := gzip.NewReader(bytes.NewReader(d.gzip))
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
