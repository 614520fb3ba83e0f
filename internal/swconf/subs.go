package swconf

import (
	"net/netip"
	"slices"
)

// held is the scope of an address, because another VRF may have it again.
type held struct {
	vrf  string
	addr netip.Addr
}

// interfaces are all that have addresses: ports, port channels and the subinterfaces of both.
func (c *Config) interfaces() []*Port { return slices.Concat(c.Ports, c.Bundles, c.Subs) }

// Sub returns the subinterface of a name, or nil.
func (c *Config) Sub(name string) *Port {
	for _, s := range c.Subs {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// subs returns the subinterfaces of an interface that are up.
func (c *Config) subs(p *Port) (out []*Port) {
	for _, s := range c.Subs {
		if s.Parent == p.Name && !s.Down.V {
			out = append(out, s)
		}
	}
	return out
}

// session finds the neighbour of an interface at the far end of its link: by its own name and addresses, or by the
// names and addresses of subinterfaces that carry the link's packets instead.
func session(c *Config, p *Port, far *Config, there *Port) *Neighbor {
	if c.BGP == nil {
		return nil
	}
	if n := c.BGP.neighbour(p, there); n != nil {
		return n
	}
	for _, s := range c.subs(p) {
		if n := c.BGP.neighbour(s, nil); n != nil {
			return n
		}
		for _, o := range far.subs(there) {
			if n := c.BGP.neighbour(s, o); n != nil {
				return n
			}
		}
	}
	return nil
}

// Main returns the neighbours of the default VRF that exchange routes between switches.
func (b *BGP) Main() (out []*Neighbor) {
	for _, n := range b.Neighbors {
		if n.VRF == "" && !n.Overlay && !n.Down.V {
			out = append(out, n)
		}
	}
	return out
}

// own returns the AS number announced to a neighbour.
func (b *BGP) own(n *Neighbor) uint32 {
	if as, ok := ASN(n.Local.V); ok && n.Local.Is() {
		return as
	}
	return b.ASN.V
}

// asOf returns the AS number that far announces on the session that c has with it as n: its own, or the one set
// there instead. There is no AS number where far has no such session.
func (c *Config) asOf(far *Config, n *Neighbor) (as uint32) {
	as = far.BGP.ASN.V
	for _, p := range c.interfaces() {
		if p.VRF.V != n.VRF || n.Port != "" && n.Port != p.Name {
			continue
		}
		for _, a := range p.Addrs {
			for _, o := range far.BGP.Neighbors {
				if o.Port == "" && o.Addr == a.V.Addr() && n.Port == "" {
					return far.BGP.own(o)
				}
			}
		}
	}
	return as
}
