package app

import (
	"net"
	"net/netip"
)

// publicURL returns the URL at which people reach the service: the setting, else the listening address as seen from
// this machine, else "" when it does not listen.
func (a *App) publicURL() string {
	if a.cfg.PublicURL != "" || a.listener == nil {
		return a.cfg.PublicURL
	}
	at, err := netip.ParseAddrPort(a.listener.Addr().String())
	if err != nil || !at.Addr().IsUnspecified() {
		return a.URL()
	}
	_, port, _ := net.SplitHostPort(at.String()) // it was just written so
	return "http://" + net.JoinHostPort("localhost", port)
}
