package swconf

import "net/netip"

// Peers collects the neighbours of languages that speak of one in many lines and
// make it on first mention, as FRR and EOS do.
type Peers struct {
	peers, groups map[string]*Neighbor
}

// NewPeers starts an empty collection.
func NewPeers() *Peers {
	return &Peers{peers: map[string]*Neighbor{}, groups: map[string]*Neighbor{}}
}

// Group defines a peer group.
func (p *Peers) Group(name string, at Place) { p.groups[name] = &Neighbor{At: at} }

// Get returns the neighbour or group of a name; a new neighbour joins b.
func (p *Peers) Get(b *BGP, name string, at Place) *Neighbor {
	if n := p.peers[name]; n != nil {
		return n
	}
	if n := p.groups[name]; n != nil {
		return n
	}
	n := &Neighbor{At: at}
	if a, err := netip.ParseAddr(name); err == nil {
		n.Addr = a
	} else {
		n.Port = name
	}
	p.peers[name] = n
	b.Neighbors = append(b.Neighbors, n)
	return n
}

// Resolve gives members what their groups have. IPv4 unicast is active for every
// neighbour that is not taken out of it.
func (p *Peers) Resolve(b *BGP) {
	if b == nil {
		return
	}
	for _, n := range b.Neighbors {
		g := p.groups[n.Group.V]
		if g != nil && !n.Remote.Is() {
			n.Remote = g.Remote
		}
		n.Active = !n.Off && (g == nil || !g.Off)
	}
}
