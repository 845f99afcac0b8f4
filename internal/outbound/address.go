package outbound

import "net/netip"

// metadataNames are the names under which clouds serve credentials to their machines. Their addresses are refused as well; the
// names are for networks that map them to others.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.azure.internal": true, "metadata.azure.com": true,
	"metadata.tencentyun.com": true, "instance-data": true, "instance-data.ec2.internal": true,
}

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

func join(all ...[]network) (out []network) {
	for _, a := range all {
		out = append(out, a...)
	}
	return out
}

// neverCalled has no setting: nothing that a product should reach lives there.
var neverCalled = join(
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

// privateOnes are allowed by a setting: this machine and the network around it.
var privateOnes = networks("private", "127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "100.64.0.0/10", "198.18.0.0/15")

// embedding are the prefixes whose addresses stand for one of IPv4, and the byte where that begins.
var embedding = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},   // NAT64 (RFC 6052)
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // NAT64 of one's own (RFC 8215), with the usual length of 96
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4
	{netip.MustParsePrefix("::/96"), 12},          // IPv4-compatible, long gone
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
}

// seen gives the addresses that a stands for: itself, without zone and mapping, and one of IPv4 within it.
func seen(a netip.Addr) []netip.Addr {
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

// never gives what an address is that is never called, "" for all others.
func never(a netip.Addr) string {
	if !a.IsValid() {
		return "no address"
	}
	for _, s := range seen(a) {
		for _, n := range neverCalled {
			if n.prefix.Contains(s) {
				return n.what
			}
		}
	}
	return ""
}

func private(a netip.Addr) bool {
	for _, s := range seen(a) {
		for _, n := range privateOnes {
			if n.prefix.Contains(s) {
				return true
			}
		}
	}
	return false
}
