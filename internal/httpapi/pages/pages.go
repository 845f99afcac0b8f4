// Package pages is what people find in a browser: the start page, the guide, and the reference, which is the contract as a
// page. It also serves the contract itself, as YAML and as JSON. All of it is public, the same for everyone, and made from what
// the binary embeds; no page loads anything from elsewhere. The page for passwords belongs to package identity.
package pages

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"quarry/internal/httpapi"
	"quarry/internal/httpapi/static"
)

//go:embed style.css
var style string

//go:embed start.html
var startText string

//go:embed reference.html
var referenceText string

//go:embed reference.css
var referenceStyle string

//go:embed guide.html
var guideText string

//go:embed search.js
var searchScript []byte

var (
	startTemplate     = template.Must(template.New("start").Parse(startText))
	referenceTemplate = template.Must(template.New("reference").Parse(referenceText))
	guideTemplate     = template.Must(template.New("guide").Parse(guideText))

	// The policies allow the style that the page holds, by its digest; the reference may also load the script of this
	// service.
	startPolicy     = httpapi.PagePolicy("style-src " + httpapi.StyleSource(style))
	guidePolicy     = httpapi.PagePolicy("style-src " + httpapi.StyleSource(style+referenceStyle))
	referencePolicy = httpapi.PagePolicy("style-src "+httpapi.StyleSource(style+referenceStyle), "script-src 'self'")
)

// Area serves the pages.
type Area struct {
	publicURL string // where people reach the service; "" for wherever the reader is

	yaml, json, reference, script func() (*static.File, error)
	guide                         func() (*guide, error)
}

// New returns the area. contract is the contract in YAML, guide the folders of the guide in Markdown, publicURL the setting
// public_url.
func New(contract []byte, guide fs.FS, publicURL string) *Area {
	return &Area{
		publicURL: publicURL,
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

// start serves the start page. It shows nothing of the machine: whoever reaches the port may read it.
func (a *Area) start(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
	var b bytes.Buffer
	err := startTemplate.Execute(&b, struct {
		Style   template.CSS
		Address string
	}{template.CSS(style), a.address(r)})
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	d, err := static.New("text/html; charset=utf-8", startPolicy, b.Bytes())
	if err != nil {
		return err
	}
	return d.Serve(w, r)
}

// plainHost matches hosts that mean nothing else to a shell, into which people paste the address.
var plainHost = regexp.MustCompile(`^([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// address returns the URL of the service as the reader sees it, "" if that is not known.
func (a *Area) address(r *http.Request) string {
	if a.publicURL != "" {
		return a.publicURL
	}
	if !plainHost.MatchString(r.Host) {
		return ""
	}
	u := url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}
