package account

import (
	"cmp"
	"reflect"
	"strings"
	"unicode/utf8"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
	"quarry/internal/opt"
)

// Patch changes what users and clients have in common: what is absent or null stays, and a list replaces the whole list.
type Patch struct {
	Enabled     opt.Field[bool]
	Description opt.Field[string]
	APIRoles    opt.Field[[]string]
	Corpora     opt.Field[[]authz.Grant]
	Agents      opt.Field[[]authz.Grant]
}

func (p *Patch) check(maxDescription int, bad *fault.Fault) {
	checkLength("description", p.Description.Or(""), maxDescription, bad)
	authz.Rights{API: p.APIRoles.Or(nil), Corpora: p.Corpora.Or(nil), Agents: p.Agents.Or(nil)}.Check(bad)
}

// apply changes a user or client. Changing its rights or the enabled flag requires the caller to hold both the old and
// the new rights, so that only an owner makes and unmakes owners.
func (p *Patch) apply(by authz.Principal, enabled *bool, description *string, r *authz.Rights) error {
	on, had := *enabled, *r
	*enabled, *description = p.Enabled.Or(on), p.Description.Or(*description)
	*r = authz.Rights{API: p.APIRoles.Or(had.API), Corpora: p.Corpora.Or(had.Corpora), Agents: p.Agents.Or(had.Agents)}
	if *enabled == on && reflect.DeepEqual(*r, had) {
		return nil
	}
	return cmp.Or(authz.Covers(by, had), authz.Covers(by, *r))
}

// maxName is the most that the name of a key or client has, in characters.
const maxName = 255

func checkName(name string, bad *fault.Fault) {
	if strings.TrimSpace(name) == "" {
		bad.Field("name", "must not be empty")
	}
	checkLength("name", name, maxName, bad)
}

// checkLength adds field to bad when text has more than most characters.
func checkLength(field, text string, most int, bad *fault.Fault) {
	if n := utf8.RuneCountInString(text); n > most {
		bad.Field(field, "must be at most %d characters long, it has %d", most, n)
	}
}
