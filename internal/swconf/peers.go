package swconf

import (
	"net/netip"
	"slices"
)

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

// Remove forgets a neighbour or a group.
func (p *Peers) Remove(b *BGP, name string) {
	n := p.peers[name]
	delete(p.peers, name)
	delete(p.groups, name)
	b.Neighbors = slices.DeleteFunc(b.Neighbors, func(x *Neighbor) bool { return x == n })
}

// Prune forgets a neighbour of which nothing is said any more.
func (p *Peers) Prune(b *BGP, name string) {
	if n := p.peers[name]; n != nil && !n.Remote.Is() && !n.Group.Is() && !n.Off && !n.Active {
		p.Remove(b, name)
	}
}

// Known returns the neighbour or group of a name, or one that nobody looks at: what is
// taken from an unknown neighbour makes none.
func (p *Peers) Known(name string) *Neighbor {
	if n := p.peers[name]; n != nil {
		return n
	}
	if n := p.groups[name]; n != nil {
		return n
	}
	return &Neighbor{}
}

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
