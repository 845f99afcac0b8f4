package app

import (
	"context"

	"quarry/internal/llm"
	"quarry/internal/store/llms"
	"quarry/internal/store/secrets"
)

// models builds the registry of language models.
func (a *App) models() *llm.Service {
	return llm.New(llm.Config{
		Store:  llms.New(a.db, secrets.New(a.db, a.vault.Keyring())),
		Dialer: unreachable{}, Builtin: unreachable{}, Counters: a.Usage, Aliases: a.cfg.Aliases(),
	})
}

// unreachable stands in for the adapters of providers and for the embedded model until they are connected here.
type unreachable struct{}

// Open implements llm.Dialer.
func (unreachable) Open(llm.Connection) (llm.Provider, error) { return unreachable{}, nil }

// Stream implements llm.Provider.
func (unreachable) Stream(context.Context, llm.Request, func(llm.Event) error) (llm.Answer, error) {
	return llm.Answer{}, &llm.Error{Failure: llm.Unreachable, Text: "this build can't call language models yet"}
}
