package app

import (
	"log/slog"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/server"
	"quarry/internal/config"
	"quarry/internal/store"
	"quarry/internal/store/secrets"
	"quarry/internal/store/toolservers"
)

// newToolServers keeps tool servers, whose tools stand in known and are called through client.
func newToolServers(cfg config.Config, db *store.DB, sealed *secrets.Store, known *catalog.Service, client server.Client, log *slog.Logger) *server.Service {
	servers := server.New(server.Config{
		Store: toolservers.New(db, sealed), Client: client, Reserved: known.Reserved, Log: log,
		Alone: cfg.Database == "", // the folder's lock keeps others out
	})
	known.Through(server.NewCaller(servers, client))
	return servers
}
