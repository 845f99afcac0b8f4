package app

import (
	"context"
	"errors"

	"quarry/internal/generate"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/verify"
)

// answers builds what answers questions from passages.
func (a *App) answers() *generate.Service {
	encoder, _ := a.encoders.Find("") // the default is always there
	scorer := verify.New(verify.Config{Encoder: encoder, Models: provider{a.Models}.named, Log: a.log})
	return generate.New(generate.NewPresets(noPresets{}, a.Models), provider{a.Models}, scorer, a.log)
}

// provider gives the models of the registry as other packages want them.
type provider struct{ registry *llm.Service }

// Model implements generate.Models.
func (p provider) Model(ctx context.Context, name string) (generate.Model, error) {
	m, err := p.registry.Model(ctx, name)
	if err != nil {
		return nil, err
	}
	return model{m}, nil
}

// named is what package verify asks for.
func (p provider) named(ctx context.Context, name string) (llm.Provider, error) {
	return p.registry.Model(ctx, name)
}

// model is a model of the registry as generate.Model.
type model struct{ *llm.Model }

// Name implements generate.Model.
func (m model) Name() string { return m.LLM.Name }

// Embedded implements generate.Model.
func (m model) Embedded() bool { return m.LLM.Platform }

// noPresets is a store without presets, until there is one.
type noPresets struct{}

func (noPresets) Create(context.Context, generate.Preset) error { return errors.ErrUnsupported }

func (noPresets) Get(context.Context, id.Preset) (generate.Preset, error) {
	return generate.Preset{}, generate.ErrNoPreset
}

func (noPresets) Named(context.Context, ...string) ([]generate.Preset, error) { return nil, nil }

func (noPresets) List(context.Context, *generate.PresetPosition, int) ([]generate.Preset, error) {
	return nil, nil
}

func (noPresets) Replace(context.Context, generate.Preset) (generate.Preset, error) {
	return generate.Preset{}, generate.ErrNoPreset
}

func (noPresets) Delete(context.Context, id.Preset) error { return generate.ErrNoPreset }
