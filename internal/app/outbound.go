package app

import (
	"net/http"

	"quarry/internal/config"
	"quarry/internal/outbound"
)

// doors are the clients of calls that leave the service: nothing else calls out.
type doors struct {
	models *http.Client // language models and their token endpoints
	tools  *http.Client // tools of agents, tool servers, and their token endpoints
	// insecure is tools without a look at certificates, for calls whose configuration says so.
	insecure *http.Client
}

func newDoors(cfg config.Config) (doors, error) {
	allowed, err := cfg.Outbound()
	if err != nil {
		return doors{}, &SettingError{err}
	}
	tools := outbound.Config{Allowed: allowed, Setting: "outbound_allow"}
	insecure := tools
	insecure.Insecure = true
	return doors{
		models: outbound.New(outbound.Config{AllowPrivate: cfg.LLMPrivate, Setting: "llm_private"}),
		tools:  outbound.New(tools), insecure: outbound.New(insecure),
	}, nil
}
