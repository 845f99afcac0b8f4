package app

import (
	"net"
	"net/netip"
)

// publicURL is where people reach the service: the setting, or the address that it listens on as this machine reaches
// it, or nothing where it does not listen.
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
