// Package correct removes from a text what its sources do not support according to package verify: by itself, with the words of
// the sources, or by a language model whose edits are checked. It also lists the correctors.
package correct

import (
	"context"

	"quarry/internal/answer/verify"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// The names of the correctors (contract: generation-and-citations, section 7).
const (
	Embedded = "vhc-small-1.0"
	ByModel  = "vhc-large-1.0"
)

// Config is what a Service needs.
type Config struct {
	Verify *verify.Service
	Models llm.Models // nil when there are none
	Model  string     // the language model that corrects, "" for the default one
}

// Service corrects texts. It is safe for concurrent use.
type Service struct {
	cfg Config
}

// New returns the service.
func New(c Config) *Service { return &Service{c} }

// Corrector is a way of correcting a text, as the contract lists them.
type Corrector struct {
	ID, Name, Description string
	Enabled               bool // it can be used now
}

// Correctors returns the correctors. Clients know both names, so as long as there is no language model to ask, the embedded
// corrector answers for the one that asks a model, and its description says so. That one is disabled while its model can't be
// used.
func (s *Service) Correctors(ctx context.Context) ([]Corrector, error) {
	_, writes, err := s.writer(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	about := "Asks a language model of this installation, the one that judges consistency or else the default one, and keeps what it changes to what the sources hold."
	if err == nil && !writes {
		about += " There is none now that writes, so " + Embedded + " answers for it."
	}
	return []Corrector{
		{"hcm_1", Embedded, "Inside the program: drops what the sources do not support or puts the nearest sentence of the sources in its place, and mends numbers and names where the source leaves no doubt.", true},
		{"hcm_2", ByModel, about, err == nil},
	}, nil
}

// writer returns the language model that corrects; ok is false if there is only the embedded one, which can't.
func (s *Service) writer(ctx context.Context) (m *llm.Model, ok bool, err error) {
	if s.cfg.Models == nil {
		return nil, false, nil
	}
	m, err = s.cfg.Models.Model(ctx, s.cfg.Model)
	return m, err == nil && !m.Embedded, err
}

// Correction asks for a corrected text.
type Correction struct {
	Text      string
	Sources   []string
	Question  string // that Text answers; "" for none
	Corrector string // its name
}

// Corrected is a text whose statements the sources support, as far as the corrector can tell.
type Corrected struct {
	Text  string // the original if nothing was wrong; "" if nothing of it could stay
	Edits []Edit // in order of the text; together they make Text of the original
	By    string // the corrector
}

// Edit is one change.
type Edit struct {
	Start, End  int // bytes of the original
	Original    string
	Corrected   string // "" where it was dropped
	Explanation string
}

// Correct removes from a text what its sources do not support. Errors: a fault.KindInvalid Fault for an unknown or
// disabled corrector and for a text that is too long, the failures of the language model, those of the encoder.
func (s *Service) Correct(ctx context.Context, c Correction) (Corrected, error) {
	claim := verify.Claim{Text: c.Text, Sources: c.Sources, Question: c.Question, Any: true}
	if s.cfg.Verify.TooLong(claim) {
		return Corrected{}, fault.InvalidField("documents", "%s", verify.ErrTooLong)
	}
	var edits []Edit
	var err error
	switch c.Corrector {
	case Embedded:
		edits, err = s.repair(ctx, claim)
	case ByModel:
		edits, err = s.byModel(ctx, c, claim)
	default:
		err = fault.InvalidField("model_name", "%q is not the name of a hallucination corrector", c.Corrector)
	}
	if err != nil {
		return Corrected{}, err
	}
	return apply(c.Text, edits, c.Corrector), nil
}

// byModel corrects by a language model where there is one that writes.
func (s *Service) byModel(ctx context.Context, c Correction, claim verify.Claim) ([]Edit, error) {
	m, writes, err := s.writer(ctx)
	switch {
	case err != nil:
		return nil, llm.Named(err, "model_name")
	case !writes:
		return s.repair(ctx, claim)
	}
	return rewrite(ctx, m, c)
}
