package outbound

import (
	"net/netip"
	"slices"
)

// metadataNames are the host names under which clouds serve credentials to their machines. Their usual addresses are
// refused anyway; the names matter on networks that map them to other addresses.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.azure.internal": true, "metadata.azure.com": true,
	"metadata.tencentyun.com": true, "instance-data": true, "instance-data.ec2.internal": true,
}

// network is a range of addresses and what it is, for error messages.
type network struct {
	prefix netip.Prefix
	what   string
}

func networks(what string, prefixes ...string) (out []network) {
	for _, p := range prefixes {
		out = append(out, network{netip.MustParsePrefix(p), what})
	}
	return out
}

// forbidden are the ranges that no setting allows: metadata services and the special-purpose ranges of IANA's registries
// (RFC 6890) in which no service that a product should reach can be.
var forbidden = slices.Concat(
	networks("a metadata service of a cloud", "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32",
		"168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128"),
	networks("a link-local address", "169.254.0.0/16", "fe80::/10"),
	networks("an unspecified address", "0.0.0.0/8", "::/128"),
	networks("a multicast address", "224.0.0.0/4", "ff00::/8"),
	networks("the broadcast address", "255.255.255.255/32"),
	networks("a reserved address", "240.0.0.0/4", "192.0.0.0/24", "192.88.99.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
		"100::/64", "2001:db8::/32", "3fff::/20", "fec0::/10", "5f00::/16"),
	networks("an address of a tunnel", "2001::/32"),
)

// privateNetworks are the ranges that a setting allows: this machine and the networks around it.
var privateNetworks = networks("private", "127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "100.64.0.0/10", "198.18.0.0/15")

// embedding are the IPv6 prefixes whose addresses contain an IPv4 address, and the byte at which that begins.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64 (RFC 6052)
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // local-use NAT64 (RFC 8215), with the usual length of 96
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible, deprecated (RFC 4291, section 2.5.5.1)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated (RFC 2765)
}

// destinations returns the addresses that a packet to a may reach: a itself, without zone and IPv4 mapping, and the IPv4
// address embedded in it.
func destinations(a netip.Addr) []netip.Addr {
	a = a.WithZone("").Unmap()
	out := []netip.Addr{a}
	if a.Is4() || a == netip.IPv6Unspecified() || a == netip.IPv6Loopback() {
		return out
	}
	for _, e := range embedding {
		if e.prefix.Contains(a) {
			b := a.As16()
			out = append(out, netip.AddrFrom4([4]byte(b[e.at:e.at+4])))
		}
	}
	return out
}

// within returns what a is by the first of the networks that it, or an address embedded in it, belongs to, else "".
func within(all []network, a netip.Addr) string {
	for _, s := range destinations(a) {
		for _, n := range all {
			if n.prefix.Contains(s) {
				return n.what
			}
		}
	}
	return ""
}
