package corpus

import (
	"context"
	"fmt"
	"hash/fnv"
	"regexp"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
)

// Create is the command to create a corpus.
type Create struct {
	Key                   string
	Name                  opt.Field[string]
	Description           opt.Field[string]
	SaveHistory           bool
	QueriesAreAnswers     bool
	DocumentsAreQuestions bool
	EncoderName           string // "" = the default
	EncoderID             string // checked where EncoderName is ""
	Attributes            []Attribute
	Dimensions            []Dimension
}

// Patch is the command to change a corpus; absent and null both keep what is there.
type Patch struct {
	Name        opt.Field[string]
	Description opt.Field[string]
	Enabled     opt.Field[bool]
	SaveHistory opt.Field[bool]
}

// EncoderID returns the contract's deprecated second name of an encoder, which ends in digits.
func EncoderID(fingerprint string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(fingerprint)) // never fails
	return fmt.Sprintf("enc_%d", h.Sum32())
}

// Encoders resolves an encoder name to the name and fingerprint that a corpus keeps.
type Encoders interface {
	// Resolve returns the fingerprint of the encoder with this name ("" = default) and the name to show.
	Resolve(name string) (shown, fingerprint string, ok bool)
}

// Listener is notified of corpora whose index is obsolete.
type Listener interface {
	// Dropped is called when the index of this generation of a corpus will not be used again.
	Dropped(c Corpus)
}

// Service is the use cases over corpora.
type Service struct {
	Settings
	store    Store
	encoders Encoders
	listener Listener
}

// New returns a service.
func New(s Store, e Encoders, l Listener) *Service { return &Service{s, s, e, l} }

// keyPattern matches corpus keys. interface.md is stricter than the OpenAPI file and prevails.
var keyPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,50}$`)

// Create creates a corpus; fault.KindInvalid for a bad command, fault.KindConflict for a taken key.
func (s *Service) Create(ctx context.Context, cmd Create) (Corpus, error) {
	if err := cmd.check(); err != nil {
		return Corpus{}, err
	}
	shown, fingerprint, ok := s.encoders.Resolve(cmd.EncoderName)
	if !ok {
		return Corpus{}, fault.InvalidField("encoder_name", "no encoder is named %q", cmd.EncoderName)
	}
	if cmd.EncoderName == "" && cmd.EncoderID != "" && cmd.EncoderID != EncoderID(fingerprint) {
		return Corpus{}, fault.InvalidField("encoder_id", "is not the id of the default encoder; choose others by encoder_name")
	}
	c := Corpus{
		ID: id.NewCorpus(), Key: cmd.Key, Name: cmd.Name.Or(cmd.Key), Enabled: true, SaveHistory: cmd.SaveHistory,
		QueriesAreAnswers: cmd.QueriesAreAnswers, DocumentsAreQuestions: cmd.DocumentsAreQuestions,
		EncoderName: shown, EncoderFingerprint: fingerprint,
		Attributes: cmd.Attributes, Dimensions: cmd.Dimensions, Created: clock.Now(),
	}
	if d, ok := cmd.Description.Get(); ok {
		c.Description = &d
	}
	return s.store.Create(ctx, c)
}

// Get returns one corpus by its key.
func (s *Service) Get(ctx context.Context, key string) (Corpus, error) {
	return Find(ctx, s.store, key)
}

// Delete removes a corpus and everything in it; its key is free when Delete returns.
func (s *Service) Delete(ctx context.Context, key string) error {
	c, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if err := s.store.Delete(ctx, key); err != nil {
		return err
	}
	s.listener.Dropped(c)
	return nil
}

// Reset removes every document and keeps the corpus with its settings.
func (s *Service) Reset(ctx context.Context, key string) error {
	old, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if _, err := s.store.Reset(ctx, key); err != nil {
		return err
	}
	s.listener.Dropped(old)
	return nil
}

func (c *Create) check() error {
	f := fault.Invalid()
	if !keyPattern.MatchString(c.Key) {
		f.Field("key", "must be 1 to 50 letters, digits, underscores or hyphens")
	}
	checkAttributes(f, c.Attributes)
	checkDimensions(f, c.Dimensions)
	return f.Err()
}

func checkDimensions(f *fault.Fault, all []Dimension) {
	if len(all) > maxDeclared {
		f.Field("custom_dimensions", "has %d items; a corpus may declare %d", len(all), maxDeclared)
		return
	}
	seen := map[string]bool{}
	for i, d := range all {
		checkName(f, fmt.Sprintf("custom_dimensions[%d].name", i), d.Name, seen)
	}
}
