package registry

import (
	"context"
	"fmt"
	"time"

	"quarry/internal/clock"
	"quarry/internal/usage"
)

// Used is what a model has used of its quotas at a moment.
type Used struct {
	Model  LLM
	At     time.Time
	Quotas []usage.Used // all seven, limited or not
}

// Used returns what the model of an id or a name has used; for an alias, the model that answers for it. Calls per second are
// those of this process.
func (s *Service) Used(ctx context.Context, ref string) (Used, error) {
	l, err := s.Get(ctx, ref)
	if err == nil && l.Platform && l.Name != Embedded {
		l, err = s.resolve(ctx, l.Name)
	}
	if err != nil {
		return Used{}, err
	}
	at := clock.Now()
	quotas, err := s.meter.Used(ctx, l.account(), at)
	return Used{Model: l, At: at, Quotas: quotas}, err
}

// account is whom the calls of the model are charged to.
func (l *LLM) account() usage.Account {
	return usage.Account{Scope: "llm/" + string(l.ID), Name: fmt.Sprintf("language model %q", l.Name), Budget: l.Budget}
}
