package browser

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// between is a proxy between the page and the service, which can answer in the place of the service.
type between struct {
	mu      sync.Mutex
	answers func(w http.ResponseWriter, r *http.Request) bool // whether it has answered
	pass    *httputil.ReverseProxy
}

// putsBetween puts a proxy before the service: from now on, the page and Client go through it.
func (b *tab) putsBetween() *between {
	b.t.Helper()
	to, err := url.Parse(b.service.URL)
	if err != nil {
		b.t.Fatal(err)
	}
	p := &between{pass: &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if nothing were between
	}}
	front := httptest.NewServer(p)
	b.t.Cleanup(front.Close)
	b.service.URL = front.URL
	return p
}

func (p *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	answers := p.answers
	p.mu.Unlock()
	if answers == nil || !answers(w, r) {
		p.pass.ServeHTTP(w, r)
	}
}

// answer has every request answered by a function, which reports whether it did; nil lets all of them pass.
func (p *between) answer(f func(w http.ResponseWriter, r *http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = f
}

// says has the requests of a method that hold a part in their path answered alike.
func (p *between) says(method, part string, status int, header, body string) {
	p.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || !strings.Contains(r.URL.Path, part) {
			return false
		}
		name, value, _ := strings.Cut(header, ": ")
		w.Header().Set(name, value)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // an error means that the page is gone
		return true
	})
}
