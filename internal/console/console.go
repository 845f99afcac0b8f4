// Package console serves the console: the pages of web/, as they were built into dist. It holds no data and decides nothing;
// the pages use the public interface with the rights of whoever is signed in. Package app hands it to httpapi.
package console

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"quarry/internal/httpapi"
	"quarry/internal/httpapi/static"
)

// Root is where the console is. Every address below it is the page, but for the files that the page loads.
const Root = "/console"

//go:embed dist
var built embed.FS

// policy allows the page its own scripts, styles and calls and nothing else. Pictures of documents come as blobs, since they
// need a key. A text can't become a script or markup: the browser itself refuses that (Trusted Types).
var policy = httpapi.PagePolicy("script-src 'self'", "style-src 'self'", "img-src 'self' blob:", "connect-src 'self'", "form-action 'none'",
	"require-trusted-types-for 'script'")

// Files are the files of the console. Safe for concurrent use.
type Files struct {
	page   func() (*static.File, error)
	assets map[string]func() (*static.File, error) // by path below Root
}

// New returns the files that the program was built with. Each is compressed when it is first asked for.
func New() (*Files, error) {
	f := &Files{assets: map[string]func() (*static.File, error){}, page: load("dist/index.html", policy)}
	err := fs.WalkDir(built, "dist/assets", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			f.assets[strings.TrimPrefix(name, "dist")] = load(name, "")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the console: %w", err)
	}
	return f, nil
}

// kinds are the media types of what the build makes, whatever the machine says.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

func load(name, policy string) func() (*static.File, error) {
	return sync.OnceValues(func() (*static.File, error) {
		raw, err := built.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the console: %w", err)
		}
		return static.New(kinds[path.Ext(name)], policy, raw)
	})
}

// Serve answers a GET or HEAD of Root or of a path below it. The names of assets hold their digests, so browsers keep them; the
// page is asked for each time. An asset of another version than this one's is missing, and a page that wants it is an
// old one.
func (f *Files) Serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, Root)
	get := f.page
	h := w.Header()
	if strings.HasPrefix(name, "/assets/") {
		if get = f.assets[name]; get == nil {
			return httpapi.NoResource(r.URL.Path)
		}
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	file, err := get()
	if err != nil {
		return err
	}
	return file.Serve(w, r)
}
