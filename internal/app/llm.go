package app

import (
	"quarry/internal/llm"
	"quarry/internal/outbound"
	"quarry/internal/provider/builtin"
	"quarry/internal/provider/dial"
	"quarry/internal/store/llms"
	"quarry/internal/store/secrets"
)

// models builds the registry of language models.
func (a *App) models() *llm.Service {
	models := dial.New(outbound.New(outbound.Config{AllowPrivate: a.cfg.LLMPrivate}))
	return llm.New(llm.Config{
		Store:  llms.New(a.db, secrets.New(a.db, a.vault.Keyring())),
		Dialer: models, Prober: models, Builtin: builtin.New(a.encoders), Counters: a.Usage, Aliases: a.cfg.Aliases(),
	})
}
