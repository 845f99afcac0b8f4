package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Allowed is what may be called though its addresses are private: hosts, and networks. The zero value allows nothing.
type Allowed struct{ entries []entry }

// entry allows a host by its name, or the addresses of a network, on one port or on all.
type entry struct {
	host string // in ASCII, as the call names it; "" for a network
	in   netip.Prefix
	port uint16 // 0 for all
}

// ParseAllowed reads the entries of a setting: host, host:port, address, address:port, or a network such as 10.0.0.0/8.
func ParseAllowed(texts []string) (Allowed, error) {
	var a Allowed
	for _, text := range texts {
		e, err := parseEntry(text)
		if err != nil {
			return Allowed{}, fmt.Errorf("%q %w", text, err)
		}
		a.entries = append(a.entries, e)
	}
	return a, nil
}

func parseEntry(text string) (entry, error) {
	if strings.Contains(text, "://") {
		return entry{}, errors.New("is an address with a scheme; name the host alone: wiki.internal, or wiki.internal:8080")
	}
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return entry{}, errors.New("is no network; one looks like 10.0.0.0/8 or fd00::/8")
		}
		if p.Masked() != p {
			return entry{}, fmt.Errorf("has bits behind its length; the network is %s", p.Masked())
		}
		return entry{in: p}, nil
	}
	host, port, err := splitPort(text)
	if err != nil {
		return entry{}, err
	}
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")); err == nil {
		a = a.WithZone("").Unmap()
		return entry{in: netip.PrefixFrom(a, a.BitLen()), port: port}, nil
	}
	name := hostName(host)
	switch {
	case strings.Contains(host, "*"):
		return entry{}, errors.New("has a *; name each host, or the network that they are in")
	case !validName(name):
		return entry{}, errors.New("is neither a host, nor host:port, nor a network such as 10.0.0.0/8")
	}
	return entry{host: name, port: port}, nil
}

// splitPort splits host:port; an IPv6 address with a port stands in brackets.
func splitPort(text string) (host string, port uint16, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 || strings.HasSuffix(text, "]") || strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return text, 0, nil
	}
	n, err := strconv.ParseUint(text[at+1:], 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("has %q for a port, which is a number from 1 to 65535", text[at+1:])
	}
	return text[:at], uint16(n), nil
}

// hostName returns the one form of a host name by which names are compared: ASCII, lower case, without the dot at its end.
func hostName(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

func validName(name string) bool {
	return name != "" && len(name) <= 253 && !slices.ContainsFunc(strings.Split(name, "."), func(label string) bool {
		return label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
		})
	})
}

// allows reports whether a call of host (as its URL names it, in the form of hostName) may be made to a private address.
func (a Allowed) allows(host string, to netip.AddrPort) bool {
	return slices.ContainsFunc(a.entries, func(e entry) bool {
		if e.port != 0 && e.port != to.Port() {
			return false
		}
		if e.host != "" {
			return e.host == host
		}
		return e.in.Contains(to.Addr())
	})
}
