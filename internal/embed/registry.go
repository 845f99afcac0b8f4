package embed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"quarry/internal/background"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/fault"
)

// Names of the default encoder: the literal that existing clients send (contract: corpora, encoder_name) and a
// neutral one.
const (
	DefaultName  = "boomerang-2023-q3"
	NeutralAlias = "default-text-encoder"
)

// Registry finds encoders by name. Fill it before use; after that it is safe for concurrent use.
type Registry struct {
	byName   map[string]Encoder
	embedded string // the fingerprint of the encoder inside the program
}

// NewRegistry returns a registry that holds the encoder embedded in the binary, under both names of the default.
func NewRegistry() (*Registry, error) {
	enc, err := encode.Open(asset.MiniLM())
	if err != nil {
		return nil, fmt.Errorf("open embedded encoder: %w", err)
	}
	r := &Registry{byName: map[string]Encoder{}, embedded: enc.Fingerprint()}
	return r, r.Add(NewLocal(DefaultName, enc, background.NewPool()), NeutralAlias)
}

// Add registers e under its own name and the aliases. If one of them is empty or taken, it returns an error and
// registers nothing.
func (r *Registry) Add(e Encoder, aliases ...string) error {
	names := append([]string{e.Name()}, aliases...)
	for _, n := range names {
		if _, taken := r.byName[n]; taken || n == "" {
			return fmt.Errorf("add encoder: the name %q is taken or empty", n)
		}
	}
	for _, n := range names {
		r.byName[n] = e
	}
	return nil
}

// Decorate replaces each encoder by wrap of it, under all its names. Like Add, it must precede any use.
func (r *Registry) Decorate(wrap func(Encoder) Encoder) {
	wrapped := map[Encoder]Encoder{}
	for name, e := range r.byName {
		if wrapped[e] == nil {
			wrapped[e] = wrap(e)
		}
		r.byName[name] = wrapped[e]
	}
}

// Find returns the encoder with this name; "" is the default.
func (r *Registry) Find(name string) (Encoder, bool) {
	e, ok := r.byName[cmp.Or(name, DefaultName)]
	return e, ok
}

// Get is Find with a fault of fault.KindNotFound for an unknown name.
func (r *Registry) Get(name string) (Encoder, error) {
	if e, ok := r.Find(name); ok {
		return e, nil
	}
	return nil, fault.NotFound("encoder_not_found", name, "no encoder is named %q", name)
}

// Embedded reports whether vectors with this fingerprint are those of the encoder inside the program, which has learned English.
func (r *Registry) Embedded(fingerprint string) bool { return fingerprint == r.embedded }

// Resolve returns the name to display and the fingerprint of the encoder with this name. The name to display is the
// one asked for, or the default's own name for "".
func (r *Registry) Resolve(name string) (display, fingerprint string, ok bool) {
	e, ok := r.Find(name)
	if !ok {
		return "", "", false
	}
	return cmp.Or(name, e.Name()), e.Fingerprint(), true
}

// List returns every encoder once, the default first and the others by name.
func (r *Registry) List() []Encoder {
	out := []Encoder{r.byName[DefaultName]}
	for _, n := range r.Names() {
		if e := r.byName[n]; e.Name() == n && n != DefaultName {
			out = append(out, e)
		}
	}
	return out
}

// Names returns every name and alias in ascending order.
func (r *Registry) Names() []string {
	return slices.Sorted(maps.Keys(r.byName))
}
