package design

import (
	"cmp"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"

	"railyard/internal/panel"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// peerLinks is the number of links between an MLAG pair, and PeerChannel their bundle.
const (
	peerLinks   = 2
	peerCable   = 3000 // mm
	PeerChannel = 2000
	firstVLAN   = 101
	lastVLAN    = 3999 // MLAG has 4094 for itself
	// distance between the VLANs of a NIC's first port and of its second: more than there are rails
	portVLANs = 600
	vniBase   = 10_000
)

// attach gives every NIC its addresses: a /31 to its one switch, or a VLAN if rails are VLANs or a bundle ends on
// two switches.
func (d *Design) attach() error {
	g := d.Graph
	d.planes = g.Planes()
	if err := d.pairs(); err != nil {
		return err
	}
	d.Hosts = make([]*Host, len(g.Hosts))
	for i, n := range g.Hosts {
		d.Hosts[i] = &Host{Name: g.Nodes[n].Name}
	}
	vlans, err := d.vlans()
	if err != nil {
		return err
	}
	next := netip.AddrFrom4([4]byte{10, 0, 0, 0})
	channel := map[*Switch]int{}
	used := map[*VLAN]int{}
	for i := range g.NICs {
		nic := &g.NICs[i]
		h := HostNIC{Index: nic.Index + 1, Port: nic.Port}
		ports := d.nicPorts(nic)
		if v := vlans[i]; v != nil {
			used[v]++
			h.VLAN = v.ID
			h.Addr, h.Gateway = netip.PrefixFrom(add(v.Subnet.Addr(), reserved+used[v]), v.Subnet.Bits()), v.Gateway
			number := 0
			if len(nic.Links) > 1 {
				first := ports[0].sw
				if first.Peer != nil && !first.First {
					first = first.Peer
				}
				channel[first]++
				most := PeerChannel
				if len(first.Trunks) > 0 {
					most = firstTrunk
				}
				if number = channel[first]; number >= most {
					return refuse("%s bundles more than %d NICs", first.Name, most-1)
				}
			}
			for _, p := range ports {
				p.port.VLAN, p.port.Channel, p.port.Rail = v, number, nic.Rail
			}
		} else {
			for k, p := range ports { // one, or one in each plane
				p.port.Addr, p.port.FarAddr = netip.PrefixFrom(next, 31), add(next, 1)
				p.port.Rail = nic.Rail
				own := h
				own.Addr, own.Gateway = netip.PrefixFrom(p.port.FarAddr, 31), next
				if len(ports) > 1 {
					own.Port = k + 1
				}
				d.Hosts[nic.Host].add(own, p)
				next = add(next, 2)
			}
			continue
		}
		d.Hosts[nic.Host].add(h, ports...)
	}
	for _, s := range d.Switches {
		slices.SortFunc(s.Ports, func(a, b *Port) int {
			return cmp.Or(cmp.Compare(a.Jack.Port, b.Jack.Port), cmp.Compare(a.Jack.Part, b.Jack.Part),
				a.Number-b.Number)
		})
	}
	return d.joinPairs()
}

type nicPort struct {
	sw   *Switch
	port *Port
}

// add gives a server a NIC, or a port of one, connected to these ports.
func (h *Host) add(n HostNIC, ports ...nicPort) {
	for _, p := range ports {
		name := fmt.Sprintf("Eth%d", p.port.Number)
		if p.sw.Panel != nil {
			name = p.port.Name
		}
		n.Ports = append(n.Ports, p.sw.Name+":"+name)
		n.Own = append(n.Own, p.port.FarPort)
	}
	h.NICs = append(h.NICs, n)
}

// inPlanes reports whether a NIC's switches are in separate planes. Its ports are then routed individually, and the
// switches need no links between them.
func (d *Design) inPlanes(nic *topo.NIC) bool {
	if d.Apart {
		return len(nic.Links) > 1
	}
	var seen []int
	for _, i := range nic.Links {
		l := &d.Graph.Links[i]
		plane := d.planes[l.A] + d.planes[l.B] // a server is in none
		if plane == 0 || slices.Contains(seen, plane) {
			return false
		}
		seen = append(seen, plane)
	}
	return len(seen) > 1
}

// nicPorts makes the switch ports of a NIC.
func (d *Design) nicPorts(nic *topo.NIC) (out []nicPort) {
	g := d.Graph
	for _, i := range nic.Links {
		l := g.Links[i]
		sw, far := l.B, l.APort
		if d.byNode[sw] == nil {
			sw, far = l.A, l.BPort
		}
		s := d.byNode[sw]
		p := d.port(s, i)
		p.Kind, p.FarName, p.FarPort = ToHost, g.Nodes[g.Hosts[nic.Host]].Name, far
		p.Mapped = g.Nodes[sw].RailMap
		s.Ports = append(s.Ports, p)
		out = append(out, nicPort{s, p})
	}
	return out
}

// switchesOf returns the switches to which a NIC is connected, in order of their names' nodes.
func (d *Design) switchesOf(nic *topo.NIC) (out []*Switch) {
	for _, i := range nic.Links {
		l := d.Graph.Links[i]
		s := d.byNode[l.A]
		if s == nil {
			s = d.byNode[l.B]
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// pairs finds the switches that share bundles.
func (d *Design) pairs() error {
	for i := range d.Graph.NICs {
		sw := d.switchesOf(&d.Graph.NICs[i])
		if len(sw) < 2 || d.inPlanes(&d.Graph.NICs[i]) {
			continue
		}
		a, b := sw[0], sw[1]
		if a.Peer != nil && a.Peer != b || b.Peer != nil && b.Peer != a {
			other := a
			if b.Peer != nil && b.Peer != a {
				other = b
			}
			return refuse("bundles connect switches in pairs; %s shares NICs with %s and with another switch",
				other.Name, other.Peer.Name)
		}
		if a.Peer == nil {
			d.peers++
			a.Peer, b.Peer = b, a
			a.PairID, b.PairID, a.First = d.peers, d.peers, true
		}
	}
	if d.peers > 0 && d.Multihome != MLAG && d.Multihome != ESI {
		return refuse("multihoming %q is not known; accepted: %s, %s", d.Multihome, MLAG, ESI)
	}
	return nil
}

// reserved addresses of a subnet: network, gateway, and one per switch of a pair.
const reserved = 3

// vlans decides which NICs are switched: NICs of VLAN rails, and bundles.
func (d *Design) vlans() ([]*VLAN, error) {
	g := d.Graph
	type key struct {
		sw   *Switch
		rail int
		port int // port of NICs whose ports form no bundle
	}
	of := map[key]*VLAN{}
	count := map[*VLAN]int{}
	out := make([]*VLAN, len(g.NICs))
	var order []*VLAN
	for i := range g.NICs {
		nic := &g.NICs[i]
		sw := d.switchesOf(nic)
		apart := nic.Port > 0 && !d.Apart
		if !g.Isolated && (len(nic.Links) < 2 || d.inPlanes(nic)) && !apart {
			continue
		}
		first := sw[0]
		if first.Peer != nil && !first.First {
			first = first.Peer
		}
		k := key{first, nic.Rail, nic.Port}
		v := of[k]
		if v == nil {
			v = &VLAN{ID: firstVLAN + nic.Rail, VNI: vniBase + (first.PairID)*100 + nic.Rail + 1,
				Name: fmt.Sprintf("rail-%d", nic.Rail+1), Own: map[*Switch]netip.Addr{}}
			if apart {
				v.ID += (nic.Port - 1) * portVLANs
				v.VNI += (nic.Port - 1) * portVLANs
				v.Name += fmt.Sprintf("-port-%d", nic.Port)
			}
			if v.ID > lastVLAN {
				return nil, refuse("rail %d, port %d would be VLAN %d; they go to %d", nic.Rail+1, nic.Port,
					v.ID, lastVLAN)
			}
			of[k] = v
			order = append(order, v)
			for _, s := range []*Switch{first, first.Peer} {
				if s != nil {
					s.VLANs = append(s.VLANs, v)
				}
			}
		}
		count[v]++
		out[i] = v
	}
	next := netip.AddrFrom4([4]byte{10, 128, 0, 0})
	for _, v := range order {
		// a power of two above hosts, gateway, network and broadcast
		size := bits.Len(uint(count[v] + reserved + 1))
		if size > 16 {
			return nil, refuse("a VLAN with %d NICs is too large", count[v])
		}
		step := 1 << size
		b := next.As4()
		v4 := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		if off := int(v4) & (step - 1); off != 0 {
			next = add(next, step-off)
		}
		v.Subnet = netip.PrefixFrom(next, 32-size)
		next = add(next, step)
	}
	for _, s := range d.Switches {
		for _, v := range s.VLANs {
			if !s.Routed() {
				continue // nowhere to route to: the VLAN is switched only
			}
			v.Gateway = add(v.Subnet.Addr(), 1)
			v.Own[s] = v.Gateway
			if s.Peer != nil {
				v.Own[s] = add(v.Subnet.Addr(), 2)
				if !s.First {
					v.Own[s] = add(v.Subnet.Addr(), 3)
				}
			}
		}
	}
	return out, nil
}

// joinPairs adds the links between the switches of a pair, which the simulated fabric does not have. MLAG needs
// them, and EVPN if no other path connects the switches.
func (d *Design) joinPairs() error {
	for _, s := range d.Switches {
		if s.Peer == nil || !s.First || d.Multihome == ESI && s.Routed() {
			continue
		}
		rate := s.Ports[0].Rate
		for range peerLinks {
			pa, err := d.free(s, rate)
			if err != nil {
				return err
			}
			pb, err := d.free(s.Peer, rate)
			if err != nil {
				return err
			}
			pa.Far, pa.FarName, pa.FarPort = s.Peer, s.Peer.Name, fmt.Sprintf("Eth%d", pb.Number)
			pb.Far, pb.FarName, pb.FarPort = s, s.Name, fmt.Sprintf("Eth%d", pa.Number)
			pa.FarJack, pa.far, pb.FarJack, pb.far = pb.Jack, pb.Number, pa.Jack, pa.Number
			if d.Multihome == ESI { // the pair's only routed cables
				pa.Kind, pb.Kind = ToSwitch, ToSwitch
				d.number(pa, pb)
			} else {
				pa.Channel, pb.Channel = PeerChannel, PeerChannel
			}
			s.Ports, s.Peer.Ports = append(s.Ports, pa), append(s.Peer.Ports, pb)
		}
	}
	return nil
}

// free returns the next unconnected port, for a link to the other switch of a pair.
func (d *Design) free(s *Switch, rate unit.Rate) (*Port, error) {
	p := &Port{Kind: ToPeer, Rate: rate, LengthMM: peerCable, Prop: topo.CableDelay(peerCable)}
	used := map[int32]bool{}
	for _, q := range s.Ports {
		p.Number, p.Jack.Port = max(p.Number, q.Number+1), max(p.Jack.Port, q.Jack.Port+1)
		used[q.Jack.Port] = true
	}
	fits := func(n int32) bool {
		k, ok := s.Panel.Socket(panel.Jack{Port: n})
		return !used[n] && (s.Panel == nil || s.Panel.Device == nil || ok && k.Can(int64(rate/unit.Mbps)))
	}
	if !fits(p.Jack.Port) {
		p.Jack.Port = int32(s.Panel.Ports()) + 1
	}
	for i := range int32(s.Panel.Ports()) { // a map of rails may leave ports in the middle
		if int(p.Jack.Port) > s.Panel.Ports() && fits(i+1) {
			p.Jack.Port = i + 1
		}
	}
	if n := s.Panel.Ports(); n > 0 && int(p.Jack.Port) > n {
		return nil, refuse("%s and %s share NICs and need %d cables to each other; %s has no port left of %d",
			s.Name, s.Peer.Name, peerLinks, s.Name, n)
	}
	p.Name = d.Naming(s.Panel, p.Jack)
	return p, nil
}

// Mode returns a port's PFC mode: from the switch's own configuration, auto without one.
func (p *Port) Mode() swconf.PFCMode {
	if p.Own {
		return p.PFC
	}
	return swconf.PFCAuto
}
