package app

import (
	"log/slog"
	"time"

	"quarry/internal/config"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

// newTraces returns what reads the traces of agents and removes old ones; turns write them with their events.
func newTraces(cfg config.Config, db *store.DB, sealed *secrets.Store, log *slog.Logger) *trace.Service {
	return trace.New(traces.New(db, sealed), time.Duration(cfg.TraceDays)*24*time.Hour, log)
}
