package verify

import (
	"context"

	"quarry/internal/fault"
)

// The names of the correctors (contract: generation-and-citations, section 7).
const (
	Embedded = "vhc-small-1.0"
	ByModel  = "vhc-large-1.0"
)

// Corrector is something that can correct a text.
type Corrector struct {
	ID, Name, Description string
	Enabled               bool // it can be used now
}

// Correctors lists those there are. The one that asks a language model is enabled when a model other than the embedded
// one is the judge or the default.
func (s *Service) Correctors(ctx context.Context) ([]Corrector, error) {
	enabled := false
	switch _, err := s.writer(ctx); {
	case err == nil:
		enabled = true
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return []Corrector{
		{"hcm_1", Embedded, "Inside the program: drops what the sources do not support or puts the nearest sentence of the sources in its place, and mends numbers and names where the source leaves no doubt.", true},
		{"hcm_2", ByModel, "Asks a language model of this installation, the one that judges consistency or else the default one, and keeps what it changes to what the sources hold.", enabled},
	}, nil
}

// writer is the language model that corrects.
func (s *Service) writer(ctx context.Context) (Model, error) {
	if s.cfg.Models == nil {
		return Model{}, unavailable()
	}
	m, err := s.cfg.Models(ctx, s.cfg.Judge)
	if err != nil {
		return Model{}, err
	}
	if m.Quotes {
		return Model{}, unavailable()
	}
	return m, nil
}

func unavailable() error {
	return fault.InvalidField("body.model_name", "is disabled: %s needs a language model other than the embedded one, as the default or as the judge of consistency", ByModel)
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
	Text  string // the text asked about where nothing was wrong; "" where nothing of it could stay
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

// Correct takes out of a text what its sources do not support. Errors: a fault.KindInvalid Fault for an unknown or
// disabled corrector and for a text that is too long, the failures of the language model, those of the encoder.
func (s *Service) Correct(ctx context.Context, c Correction) (Corrected, error) {
	claim := Claim{Text: c.Text, Sources: c.Sources, Question: c.Question, Any: true}
	if s.tooLong(claim) {
		return Corrected{}, fault.InvalidField("body.documents", "%s", ErrTooLong)
	}
	switch c.Corrector {
	case Embedded:
		edits, err := s.mend(ctx, claim)
		if err != nil {
			return Corrected{}, err
		}
		return apply(c.Text, edits, Embedded), nil
	case ByModel:
		m, err := s.writer(ctx)
		if err != nil {
			return Corrected{}, err
		}
		edits, err := rewrite(ctx, m, c)
		if err != nil {
			return Corrected{}, err
		}
		return apply(c.Text, edits, ByModel), nil
	}
	return Corrected{}, fault.InvalidField("body.model_name", "%q is not the name of a hallucination corrector", c.Corrector)
}
