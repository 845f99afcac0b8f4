package app

import (
	"log/slog"

	"quarry/internal/config"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	httpcompletions "quarry/internal/httpapi/completions"
	httpllms "quarry/internal/httpapi/llms"
	"quarry/internal/llm/complete"
	"quarry/internal/llm/registry"
	"quarry/internal/page"
	"quarry/internal/provider/builtin"
	"quarry/internal/provider/dial"
	"quarry/internal/store"
	"quarry/internal/store/llms"
	"quarry/internal/store/secrets"
	"quarry/internal/store/usages"
	"quarry/internal/usage"
)

// llmServices reach language models and count what they use.
type llmServices struct {
	registry *registry.Service
	usage    *usage.Counters
}

func newLLM(cfg config.Config, out doors, db *store.DB, sealed *secrets.Store, encoders *embed.Registry, log *slog.Logger) llmServices {
	counters := usage.NewCounters(usages.New(db), log)
	dialer := dial.New(out.models)
	return llmServices{usage: counters, registry: registry.New(registry.Config{
		Store: llms.New(db, sealed), Dialer: dialer, Prober: dialer, Builtin: builtin.New(encoders), Meter: usage.NewMeter(counters), Aliases: cfg.Aliases(),
	})}
}

// areas returns the handlers of these services.
func (l llmServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{httpllms.New(l.registry, cursors), httpcompletions.New(complete.New(l.registry), l.registry)}
}
