package app

import (
	"log/slog"
	"net/http"

	contract "quarry/api"
	"quarry/docs"
	"quarry/internal/config"
	"quarry/internal/console"
	"quarry/internal/httpapi"
	httppages "quarry/internal/httpapi/pages"
	"quarry/internal/mcpserve"
)

// newServer builds the HTTP interface over the areas, and the tools for clients of the Model Context Protocol over that interface.
// resolvers find what paths name, by parameter; ready reports whether the service takes requests, warm
// whether it need not wait for its indexes.
func newServer(cfg config.Config, identity *identityServices, resolvers map[string]httpapi.Resolver, ready, warm func() bool, log *slog.Logger, areas []httpapi.Area) (server *httpapi.Server, err error) {
	origins, err := cfg.Origins()
	if err != nil {
		return nil, err
	}
	trusted, err := cfg.Proxies()
	if err != nil {
		return nil, err
	}
	pages, err := console.New()
	if err != nil {
		return nil, err
	}
	tools, err := mcpserve.New(mcpserve.Config{Handler: func() http.Handler { return server }, Origins: origins, Log: log})
	if err != nil {
		return nil, err
	}
	server, err = httpapi.New(httpapi.Config{
		Console: httpapi.Pages{Root: console.Root, Serve: pages.Serve},
		Audit:   identity.audit, AuditContent: cfg.AuditContent, TrustedProxies: trusted, Origins: origins,
		Authenticate: identity.principal, Areas: append(areas, httppages.New(contract.YAML, docs.Pages, console.Root), tools),
		Resolvers: resolvers, Log: log, MaxJSON: cfg.MaxJSON, MaxUpload: cfg.MaxUpload, MaxArtifact: cfg.MaxArtifact, Ready: ready, Warm: warm,
		Limits: limits(cfg),
	})
	return server, err
}
