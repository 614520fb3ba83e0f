package swconf

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// SRv6 is the configuration of segments whose lists are in IPv6 addresses (RFC 9800).
type SRv6 struct {
	Locators []Locator
	SIDs     []SID
}

// Locator is a switch's part of the block.
type Locator struct {
	Name              string
	Prefix            netip.Prefix
	Block, Node, Func int // bits
	At                Place
}

// SID is the behavior of the switch for packets to an address.
type SID struct {
	Prefix  netip.Prefix
	Locator string
	Action  string     // uN, uDT46, ...
	Pipe    Said[bool] // decapsulation keeps the inner DSCP; unset: the language's default
	At      Place
}

// Route is a static one.
type Route struct {
	Prefix netip.Prefix
	Next   netip.Addr // invalid: by the port alone
	Port   string     // "": determined by the next hop
	At     Place
}

// uN are the SIDs by which a list names a switch.
func (s *SRv6) uN() (out []SID) {
	for _, x := range s.SIDs {
		if x.Action == "uN" {
			out = append(out, x)
		}
	}
	return out
}

// Segments returns the description of segments for show; "" for none.
func (c *Config) Segments() string {
	if len(c.SRv6.SIDs)+len(c.SRv6.Locators) == 0 {
		return ""
	}
	var own []string
	for _, s := range c.SRv6.SIDs {
		what := s.Prefix.String() + " " + s.Action
		if s.Pipe.Is() && s.Pipe.V {
			what += ", keeps the inner DSCP"
		}
		own = append(own, what)
	}
	if len(own) == 0 {
		own = []string{"none of its own"}
	}
	ways := 0
	for _, r := range c.Routes {
		if c.inBlock(r.Prefix) {
			ways++
		}
	}
	return fmt.Sprintf("%s; %d static routes to others", strings.Join(own, "; "), ways)
}

// inBlock reports whether a route leads to a SID of the fabric, according to the switch's locators.
func (c *Config) inBlock(p netip.Prefix) bool {
	return slices.ContainsFunc(c.SRv6.Locators, func(l Locator) bool {
		b := netip.PrefixFrom(l.Prefix.Addr(), l.Block)
		return p.Bits() > l.Block && b.Contains(p.Addr())
	})
}

// route lists the static routes to a prefix.
func (c *Config) route(p netip.Prefix) (out []Route) {
	for _, r := range c.Routes {
		if r.Prefix == p {
			out = append(out, r)
		}
	}
	return out
}

// leads reports whether a route leaves by a port whose far end has these addresses.
func (r *Route) leads(p, far *Port) bool {
	if r.Port != "" && r.Port != p.Name {
		return false
	}
	if !r.Next.IsValid() {
		return r.Port != ""
	}
	return slices.ContainsFunc(far.Addrs, func(a Said[netip.Prefix]) bool { return a.V.Addr() == r.Next })
}
