package compat

import (
	"testing"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/outbound"
	"quarry/internal/provider/dial"
)

// open returns our provider of a format.
func open(t *testing.T, f format, url string) llm.Provider {
	t.Helper()
	client := outbound.New(outbound.Config{AllowPrivate: true})
	t.Cleanup(client.CloseIdleConnections)
	c := f.conn
	c.Name, c.URI, c.Idle = "ours", url+c.URI, registry.DefaultIdle
	p, err := dial.New(client).Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
