package swconf

import (
	"net/netip"
	"regexp"
	"slices"
)

// Peers collects the neighbours of languages that configure one in many lines and create it on first mention, such
// as FRR and EOS.
type Peers struct {
	peers, groups map[string]*Neighbor // peers by VRF and name
	vrf           string
}

// In returns the same collection for a VRF, which has its own neighbours. Groups are the switch's.
func (p *Peers) In(vrf string) *Peers { return &Peers{p.peers, p.groups, vrf} }

func (p *Peers) key(name string) string { return p.vrf + "\x00" + name }

// NewPeers starts an empty collection.
func NewPeers() *Peers { return &Peers{peers: map[string]*Neighbor{}, groups: map[string]*Neighbor{}} }

// Group defines a peer group.
func (p *Peers) Group(name string, at Place) { p.groups[name] = &Neighbor{At: at} }

// Remove forgets a neighbour or a group.
func (p *Peers) Remove(b *BGP, name string) {
	n := p.peers[p.key(name)]
	delete(p.peers, p.key(name))
	delete(p.groups, name)
	b.Neighbors = slices.DeleteFunc(b.Neighbors, func(x *Neighbor) bool { return x == n })
}

// Prune removes a neighbour without settings.
func (p *Peers) Prune(b *BGP, name string) {
	n := p.peers[p.key(name)]
	if n != nil && !n.Remote.Is() && !n.Group.Is() && !n.Off && !n.Active && n.On == 0 && !n.Down.Is() &&
		!n.Local.Is() && !n.Loops && n.Policed == 0 && !n.Keeps.Is() {
		p.Remove(b, name)
	}
}

// Known returns the neighbour or group of a name, or a dummy: removing settings from an unknown neighbour does not
// create one.
func (p *Peers) Known(name string) *Neighbor {
	if n := p.peers[p.key(name)]; n != nil {
		return n
	}
	if n := p.groups[name]; n != nil {
		return n
	}
	return &Neighbor{}
}

// Get returns the neighbour or group of a name; a new neighbour is added to b.
func (p *Peers) Get(b *BGP, name string, at Place) *Neighbor {
	if n := p.peers[p.key(name)]; n != nil {
		return n
	}
	if n := p.groups[name]; n != nil {
		return n
	}
	n := &Neighbor{At: at, VRF: p.vrf}
	if a, err := netip.ParseAddr(name); err == nil {
		n.Addr = a
	} else {
		n.Port = name
	}
	p.peers[p.key(name)] = n
	b.Neighbors = append(b.Neighbors, n)
	return n
}

// Resolve gives members what their groups have. IPv4 unicast is active for every neighbour that is not removed from
// it, unless the switch's default is off. Other families are active for neighbours added to them.
func (p *Peers) Resolve(b *BGP) {
	if b == nil {
		return
	}
	for _, n := range b.Neighbors {
		g := p.groups[n.Group.V]
		ipv4, on := !b.NoDefault.V, n.On
		if g != nil {
			if !n.Remote.Is() {
				n.Remote = g.Remote
			}
			if !n.Local.Is() {
				n.Local = g.Local
			}
			if !n.Down.Is() {
				n.Down = g.Down
			}
			n.Loops = n.Loops || g.Loops
			n.Policed |= g.Policed
			if !n.Keeps.Is() {
				n.Keeps = g.Keeps
			}
			on |= g.On
			ipv4 = !g.Off && (ipv4 || g.On&IPv4 != 0)
		}
		ipv4 = !n.Off && (ipv4 || n.On&IPv4 != 0)
		n.Active = ipv4 || on&^IPv4 != 0
		n.Overlay = n.Active && !ipv4 && on&IPv6 == 0
		n.On = on
	}
}

// Cable is a link derived from interface descriptions.
type Cable struct {
	From, To *Config
	A, B     *Port
}

// farEnd finds "to spine-1 Ethernet1/1" at the end of a description, as render and many engineers write it.
var farEnd = regexp.MustCompile(`(?:^|\b)to (\S+) (\S+)$`)

// Described finds the cables between switches in the descriptions of their
// interfaces, each once, in the order of the files.
func Described(configs []*Config) (out []Cable) {
	by := map[string]*Config{}
	for _, c := range configs {
		if by[c.Name()] == nil && len(c.Ports) > 0 {
			by[c.Name()] = c
		}
	}
	seen := map[*Port]bool{}
	for _, c := range configs {
		for _, p := range c.Ports {
			m := farEnd.FindStringSubmatch(p.Desc.V)
			if m == nil || by[m[1]] == nil || seen[p] || by[c.Name()] != c {
				continue
			}
			if far := by[m[1]].Port(m[2]); far != nil && !seen[far] && far != p {
				seen[p], seen[far] = true, true
				out = append(out, Cable{c, by[m[1]], p, far})
			}
		}
	}
	return out
}
