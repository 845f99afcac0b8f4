// Package registry is the language models that an installation knows: their registrations with credentials, quotas and
// what they can do, the check and the test call that a registration must pass, the models behind an address, and the
// names that stand for a model. Service finds the model of a name, ready to be called. The adapters that call models are
// in provider/*, rows in store/llms.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/usage"
)

// LLM is a registered language model: its connection and the settings of the account. The credentials are kept apart,
// see Store.Auth.
type LLM struct {
	ID          id.LLM
	Name        string // never changes
	Description string
	Enabled     bool
	Default     bool // it answers where no model is named
	Platform    bool // the installation's, not the customer's

	Type           Type
	Model          string
	URI            string // as given; "" where the wire format has an address of its own
	Shown          *Auth  // the credentials without their secrets; nil for none
	Headers        map[string]string
	Idle           time.Duration              // 0 is DefaultIdle
	TestParameters map[string]json.RawMessage // of the call that tests the connection

	Capabilities Capabilities // as stated; see Infer for the rest
	Budget       usage.Budget

	Revision int64 // counts the changes
	Created  time.Time
	Updated  time.Time
	Broken   string // why the row can't be used; "" when it can
}

// Can is what the model is taken to be able to do.
func (l *LLM) Can() llm.Abilities { return l.Capabilities.Over(Infer(l.Type, l.Model)) }

// Position is the place of a model in lists.
func (l *LLM) Position() *page.Position { return page.At(l.Created, l.ID) }

// List selects the models to list, newest first.
type List struct {
	Limit int
	After *page.Position // the last one shown, nil for the first page
	Match *regexp.Regexp // only those with a name or a description that it matches, nil for all
}

// Matches reports whether a list shows a model.
func (q *List) Matches(l *LLM) bool {
	return q.Match == nil || q.Match.MatchString(l.Name) || q.Match.MatchString(l.Description)
}

// Store keeps the models that the customer registered. Several processes use one store at once, and each sees what the
// others have written. A model that does not exist is ErrNone.
type Store interface {
	// Create writes a model with its credentials, nil for none: ErrTaken when another has its name. A default one takes
	// the place of the default.
	Create(ctx context.Context, l LLM, auth *Auth) error
	// Get returns a model.
	Get(ctx context.Context, llm id.LLM) (LLM, error)
	// Named returns the models of these names, and the default one if there is one, each once, in no order.
	Named(ctx context.Context, names ...string) ([]LLM, error)
	// List returns up to q.Limit models, newest first, and whether more follow. Broken ones are among them.
	List(ctx context.Context, q List) (page []LLM, more bool, err error)
	// Update writes a model whose revision is still l.Revision, which it counts up; ErrChanged when it no longer is.
	// keep leaves the credentials as they are, otherwise auth replaces them, nil for none.
	Update(ctx context.Context, l LLM, keep bool, auth *Auth) (LLM, error)
	// Delete removes a model with its credentials.
	Delete(ctx context.Context, llm id.LLM) error
	// Auth returns the credentials of a model, nil for none.
	Auth(ctx context.Context, llm id.LLM) (*Auth, error)
}

// What stores answer.
var (
	ErrNone    = errors.New("no such language model")
	ErrTaken   = errors.New("the name of the language model is taken")
	ErrChanged = errors.New("the language model was changed meanwhile")
)

// unknown is the outcome of reading a model that does not exist.
func unknown(ref string) error {
	return fault.NotFound("llm_not_found", ref, "language model %s does not exist", ref)
}
