// Package pages is what people find in a browser beside the console, to which / leads: the guide, and the reference, which is
// the contract as a page. It also serves the contract itself, as YAML and as JSON. All of it is public, the same for everyone,
// and made from what the binary embeds; no page loads anything from elsewhere. The page for passwords belongs to package identity.
package pages

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"quarry/internal/httpapi"
	"quarry/internal/httpapi/static"
)

//go:embed style.css
var style string

//go:embed reference.html
var referenceText string

//go:embed reference.css
var referenceStyle string

//go:embed guide.html
var guideText string

//go:embed search.js
var searchScript []byte

var (
	referenceTemplate = template.Must(template.New("reference").Parse(referenceText))
	guideTemplate     = template.Must(template.New("guide").Parse(guideText))

	// The policies allow the style that the page holds, by its digest; the reference may also load the script of this
	// service.
	guidePolicy     = httpapi.PagePolicy("style-src " + httpapi.StyleSource(style+referenceStyle))
	referencePolicy = httpapi.PagePolicy("style-src "+httpapi.StyleSource(style+referenceStyle), "script-src 'self'")
)

// Area serves the pages.
type Area struct {
	console string // where / leads, as a path

	yaml, json, reference, script func() (*static.File, error)
	guide                         func() (*guide, error)
}

// New returns the area. contract is the contract in YAML, guide the folders of the guide in Markdown, console the path of the
// console.
func New(contract []byte, guide fs.FS, console string) *Area {
	return &Area{
		console:   console,
		guide:     newGuide(guide),
		yaml:      once("application/yaml; charset=utf-8", "", func() ([]byte, error) { return contract, nil }),
		json:      once("application/json", "", func() ([]byte, error) { return asJSON(contract) }),
		reference: once("text/html; charset=utf-8", referencePolicy, func() ([]byte, error) { return writeReference(contract) }),
		script:    once("text/javascript; charset=utf-8", "", func() ([]byte, error) { return searchScript, nil }),
	}
}

// once returns a function that makes a document when it is first asked for: most services are never asked.
func once(kind, policy string, content func() ([]byte, error)) func() (*static.File, error) {
	return sync.OnceValues(func() (*static.File, error) {
		raw, err := content()
		if err != nil {
			return nil, fmt.Errorf("make the %s document: %w", kind, err)
		}
		return static.New(kind, policy, raw)
	})
}

// Handlers implements httpapi.Area.
func (a *Area) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{
		"getStartPage":       a.start,
		"getContract":        serve(a.yaml),
		"getContractJSON":    serve(a.json),
		"getReference":       serve(a.reference),
		"getReferenceScript": serve(a.script),
		"getGuide":           a.showGuide,
		"getGuidePage":       a.showGuide,
	}
}

func serve(get func() (*static.File, error)) httpapi.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
		d, err := get()
		if err != nil {
			return err
		}
		return d.Serve(w, r)
	}
}

// found is the body of the redirect at /, for people whose client doesn't follow it.
const found = `This is a Quarry service.
/console/      the console, for browsers
/guide         how to use it
/docs          every operation, with examples; /openapi.yaml is the same for programs
/health        whether it is up
`

// start leads to the console.
func (a *Area) start(w http.ResponseWriter, _ *http.Request, _ *httpapi.Call) error {
	h := w.Header()
	h.Set("Location", strings.TrimPrefix(a.console, "/")+"/") // relative: a proxy may serve this below a path of its own
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusFound)
	_, err := io.WriteString(w, found)
	return err
}
