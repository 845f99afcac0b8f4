package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"quarry/internal/outbound"
)

// checkOTLP refuses what can't be an address or headers of a collector.
func (c *Config) checkOTLP() error {
	if c.OTLPEndpoint != "" && !plain(c.OTLPEndpoint) {
		return errors.New("setting otlp_endpoint must be an address such as http://collector.internal:4318, without user, query and fragment; credentials are otlp_headers")
	}
	_, err := c.Headers()
	return err
}

// Headers returns the setting otlp_headers. Values are never repeated in errors.
func (c *Config) Headers() (map[string]string, error) {
	headers := map[string]string{}
	for i, p := range parts(c.OTLPHeaders) {
		name, encoded, ok := strings.Cut(p, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		switch name = strings.TrimSpace(name); {
		case !ok || !httpguts.ValidHeaderFieldName(name):
			return nil, fmt.Errorf("setting otlp_headers: entry %d must be name=value, such as Authorization=Bearer%%20abc", i+1)
		case err != nil || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("setting otlp_headers: the value of %s can't be read: write a percent sign as %%25, a comma as %%2C, and nothing that ends a line", name)
		}
		headers[name] = value
	}
	return headers, nil
}

// OTLPOutbound returns what an export may call at private addresses: the host of otlp_endpoint, which whoever runs the service has
// chosen.
func (c *Config) OTLPOutbound() (outbound.Allowed, error) {
	return outbound.ParseAllowed(host(c.OTLPEndpoint))
}

// plain reports whether a text is an address of http or https, and nothing more.
func plain(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && !u.ForceQuery && u.Fragment == ""
}

// host returns the host of an address with its port, as outbound_allow has it; nothing of what is none.
func host(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return []string{net.JoinHostPort(u.Hostname(), port)}
}
