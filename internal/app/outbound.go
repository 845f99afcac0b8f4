package app

import (
	"net/http"

	"quarry/internal/config"
	"quarry/internal/mcpclient"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
	"quarry/internal/store"
	"quarry/internal/store/rotated"
	"quarry/internal/store/secrets"
)

// doors are the clients of calls that leave the service: nothing else calls out.
type doors struct {
	models *http.Client // language models and their token endpoints
	tools  *http.Client // tools of agents, tool servers, and their token endpoints
	// insecure is tools without a look at certificates, for calls whose configuration says so.
	insecure *http.Client
	search   *http.Client // what searches the web for agents
	spans    *http.Client // the collector of spans
	// tokens are access tokens of tools and tool servers.
	tokens *oauth.Client
	// servers speaks with tool servers.
	servers *mcpclient.Client
}

func newDoors(cfg config.Config, db *store.DB, sealed *secrets.Store) (doors, error) {
	allowed, err := cfg.Outbound()
	if err != nil {
		return doors{}, &SettingError{err}
	}
	searched, err := cfg.WebSearchOutbound()
	if err != nil {
		return doors{}, &SettingError{err}
	}
	collector, err := cfg.OTLPOutbound()
	if err != nil {
		return doors{}, &SettingError{err}
	}
	tools := outbound.Config{Allowed: allowed, Setting: "outbound_allow"}
	insecure := tools
	insecure.Insecure = true
	d := doors{
		models: outbound.New(outbound.Config{AllowPrivate: cfg.LLMPrivate, Setting: "llm_private"}),
		tools:  outbound.New(tools), insecure: outbound.New(insecure),
		search: outbound.New(outbound.Config{Allowed: searched, Setting: "web_search_url"}),
		spans:  outbound.New(outbound.Config{Allowed: collector, Setting: "otlp_endpoint"}),
	}
	d.tokens = oauth.NewClient(d.tools, rotated.New(db, sealed))
	d.servers = mcpclient.New(mcpclient.Config{HTTP: d.tools, Tokens: d.tokens, Version: version()})
	return d, nil
}

// close ends sessions with tool servers, waits for refresh tokens that are under way, and closes connections that wait for calls.
func (d doors) close() {
	if d.tokens == nil {
		return
	}
	d.servers.Stop()
	d.tokens.Close()
	for _, c := range []*http.Client{d.models, d.tools, d.insecure, d.search, d.spans} {
		c.CloseIdleConnections()
	}
}
