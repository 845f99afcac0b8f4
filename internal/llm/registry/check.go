package registry

import (
	"strings"
	"time"
	"unicode/utf8"

	"quarry/internal/endpoint"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// The bounds of a registration (contract: LLM configuration, Limits). Where the contract has none they keep what is sent
// with every call within reason.
const (
	maxName        = 255   // characters
	maxDescription = 1_000 // characters
	maxModel       = 500   // characters
	maxIdle        = time.Hour
)

func checkName(name string, bad *fault.Fault) {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		bad.Field("name", "must not be empty")
	case n > maxName:
		bad.Field("name", "must be at most %d characters long, it has %d", maxName, n)
	}
}

// check holds a model with its credentials, nil for none, to what its type needs.
func (l *LLM) check(auth *Auth, bad *fault.Fault) {
	f, ok := l.Type.find()
	if !ok {
		bad.Field("type", "%q is no type of language models", l.Type)
		return
	}
	if n := utf8.RuneCountInString(l.Description); n > maxDescription {
		bad.Field("description", "must be at most %d characters long, it has %d", maxDescription, n)
	}
	switch {
	case strings.TrimSpace(l.Model) == "":
		bad.Field("model", "must not be empty")
	case utf8.RuneCountInString(l.Model) > maxModel || strings.ContainsFunc(l.Model, func(r rune) bool { return r < ' ' || r == 0x7f }):
		bad.Field("model", "must be at most %d characters, without line breaks", maxModel)
	}
	if l.URI != "" {
		checkURI(l.URI, "uri", bad)
	} else if f.needsURI {
		bad.Field("uri", "must not be empty")
	}
	f.checkAuth(auth, bad)
	checkHeaders(l.Headers, bad)
	l.checkNumbers(bad)
}

// checkAuth holds credentials, nil for none, to the kinds that the format takes and to their kind.
func (f *format) checkAuth(auth *Auth, bad *fault.Fault) {
	switch {
	case !f.takes(auth):
		f.refuse(auth, bad)
	case auth != nil:
		auth.check(bad)
	}
}

// refuse adds the fault of credentials, nil for none, that the format does not take.
func (f *format) refuse(auth *Auth, bad *fault.Fault) {
	if auth == nil {
		bad.Field("auth", "is required for type %s", f.name)
		return
	}
	bad.Field("auth.type", "must be %s for type %s, not %q", strings.Join(f.auth, " or "), f.name, auth.Type)
}

func (l *LLM) checkNumbers(bad *fault.Fault) {
	if l.Idle < 0 || l.Idle > maxIdle {
		bad.Field("idle_timeout_seconds", "must be between 1 and %d", int(maxIdle.Seconds()))
	}
	if n := l.Capabilities.ContextLimit; n != nil && *n < llm.MinContext {
		bad.Field("capabilities.context_limit", "must be at least %d", llm.MinContext)
	}
	l.Budget.Check("", bad)
}

// checkURI refuses what is not an address of a provider.
func checkURI(text, field string, bad *fault.Fault) {
	endpoint.CheckURI(text, field, "https://models.example.com/v1/chat/completions", bad)
}

// checkHeaders refuses headers that can't be sent or carry credentials. Headers are shown to everyone who may list models.
func checkHeaders(all map[string]string, bad *fault.Fault) {
	for name := range all {
		if endpoint.Carries(name) {
			bad.Field("headers."+name, "carries credentials, which belong into auth: there they are sealed, headers are shown in lists")
		}
	}
	endpoint.CheckHeaders(all, "headers", bad)
}

// checkCredentialHeader refuses headers that can't carry credentials.
func checkCredentialHeader(name, field string, bad *fault.Fault) {
	if name != "" { // said already
		endpoint.CheckHeader(name, field, bad)
	}
}
