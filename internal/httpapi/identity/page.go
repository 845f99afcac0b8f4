package identity

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/signin"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var (
	pageTemplate = template.Must(template.New("page").Parse(pageText))

	// pagePolicy allows the page its own style, identified by digest, and submitting its form to this service. It forbids
	// scripts, frames and everything from elsewhere.
	pagePolicy = httpapi.PagePolicy("style-src "+httpapi.StyleSource(pageStyle), "form-action 'self'")
)

// view is the content of the page. It never contains a password.
type view struct {
	Username, Code, Problem string
	Done                    bool
	Style                   template.CSS
	Least, Most             int
}

func (a *Area) passwordPage(w http.ResponseWriter, _ *http.Request, c *httpapi.Call) error {
	return show(w, http.StatusOK, view{Username: c.Query.Get("username"), Code: c.Query.Get("code")})
}

// maxForm is far above the size of the longest valid form with every byte percent-encoded.
const maxForm = 16 << 10

// submitPassword sets the password of a form. Faults are shown on the page, as a person reads them.
func (a *Area) submitPassword(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	v := view{Username: form.Get("username"), Code: form.Get("one_time_code")}
	c.Named = map[string]string{"username": v.Username}
	err = checkForm(form)
	if err == nil {
		err = a.SignIn.SetPassword(r.Context(), signin.Redemption{
			Username: v.Username, Code: v.Code, Password: form.Get("password"), Address: c.Address,
		})
	}
	if err == nil {
		v.Done = true
		return show(w, http.StatusOK, v)
	}
	f, ok := fault.As(err)
	if !ok {
		return err
	}
	status, words := http.StatusBadRequest, f.Text
	switch f.Kind {
	case fault.KindInvalid:
		var all []string
		for _, path := range f.Paths() {
			all = append(all, "The "+strings.ReplaceAll(path, "_", "-")+" "+f.Fields[path]+".")
		}
		words = strings.Join(all, " ")
	case fault.KindUnauthenticated:
		status, words = http.StatusUnauthorized, sentence(words)
	case fault.KindLimited:
		status, words = http.StatusTooManyRequests, sentence(words)
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds()))))
	default:
		return err
	}
	v.Problem = words
	return show(w, status, v)
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// readForm reads the body of the page's form. Its errors contain no part of it.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, fault.MediaType("this page takes its own form only, application/x-www-form-urlencoded")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fault.TooLarge("the form has more than %d bytes", maxForm)
	case err != nil:
		return nil, fault.InvalidField("body", "broke off").Because(err)
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, fault.InvalidField("body", "is not a form")
	}
	return form, nil
}

// checkForm checks the form against the bounds that the contract has for the JSON body.
func checkForm(form url.Values) error {
	bad := fault.Invalid()
	for _, field := range []struct {
		name string
		most int
	}{{"username", 256}, {"one_time_code", 256}, {"password", signin.MaxPassword}} {
		switch v := form.Get(field.name); {
		case len(form[field.name]) > 1:
			bad.Field(field.name, "must come once")
		case v == "":
			bad.Field(field.name, "is missing")
		case !utf8.ValidString(v) || strings.ContainsRune(v, 0):
			bad.Field(field.name, "must be text")
		case utf8.RuneCountInString(v) > field.most:
			bad.Field(field.name, "must have at most %d characters", field.most)
		}
	}
	if again, ok := form["password_again"]; ok && again[0] != form.Get("password") {
		bad.Field("password", "is not the same both times")
	}
	return bad.Err()
}

func show(w http.ResponseWriter, status int, v view) error {
	v.Style, v.Least, v.Most = template.CSS(pageStyle), signin.MinPassword, signin.MaxPassword
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	httpapi.SealPage(w.Header(), pagePolicy)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // an error means that the client is gone
	return nil
}
