package host

import "slices"

// usePorts binds a sender to the NIC ports that reach its peer. With packet spraying these are all of them,
// otherwise one, by hash or in turn. A bundle that lost a port for some peer sprays over its other ports, to all
// peers. A bundle with a single port left no longer sprays: its flows stay on single ports.
func (h *Hosts) usePorts(c int32, ports []int32) {
	s := &h.senders[c]
	n := &h.nics[s.nic]
	if len(ports) == 0 {
		ports = n.ports // every path is lost; the network reports the failure
	}
	if h.cfg.Bond == BondSpray && len(n.ports) > 1 && !n.split {
		over := both(n.over, ports)
		if len(over) > 1 {
			waits := s.inRing
			if waits {
				h.unring(c, s)
			}
			s.sprayed, s.port = true, over[0]
			if h.spread(s.nic, over, c); waits {
				h.ready(c, s)
			}
			return
		}
		h.split(s.nic)
	}
	h.bind(c, ports)
}

// both are the ports of a that are in b.
func both(a, b []int32) (out []int32) {
	for _, p := range a {
		if slices.Contains(b, p) {
			out = append(out, p)
		}
	}
	return out
}

// spread makes a NIC's bundle spray over some of its ports. The sender that calls it is already bound.
func (h *Hosts) spread(nic int32, over []int32, who int32) {
	n := &h.nics[nic]
	same := slices.Equal(n.over, over)
	n.over = over
	for _, p := range n.ports {
		h.rings.owner[p] = p
	}
	for _, p := range over {
		h.rings.owner[p] = over[0]
	}
	if same {
		return
	}
	for c := range h.senders {
		s := &h.senders[c]
		if s.nic != nic || !s.sprayed || int32(c) == who {
			continue
		}
		if s.port != over[0] {
			if s.inRing {
				h.unring(int32(c), s)
			}
			s.port = over[0]
		}
		h.ready(int32(c), s)
		h.reline(int32(c))
	}
	for _, p := range over { // a new path serves connections that waited for the others
		if h.rings.waiting[over[0]] != 0 {
			h.Net.Kick(p, &h.Net.Ports[p])
		}
	}
}

// bind binds a sender to one of the ports.
func (h *Hosts) bind(c int32, ports []int32) {
	s := &h.senders[c]
	to := h.portFor(s, ports)
	if !s.sprayed && s.port == to {
		return
	}
	if s.inRing {
		h.unring(c, s)
	}
	s.sprayed, s.port = false, to
	h.ready(c, s)
}

// portFor chooses one of the ports for a sender.
func (h *Hosts) portFor(s *sender, ports []int32) int32 {
	if h.cfg.Bond != BondHash {
		return ports[int(s.tag)%len(ports)]
	}
	return ports[int(s.hash>>7)%len(ports)]
}

// Home returns the port of its NIC by which a connection sends while all ports reach its peer.
func (h *Hosts) Home(c int32) int32 {
	s := &h.senders[c]
	return h.wire(h.portFor(s, h.nics[s.nic].ports))
}

// split ends the spraying of a NIC's bundle.
func (h *Hosts) split(nic int32) {
	n := &h.nics[nic]
	n.split = true
	for c := range h.senders {
		if s := &h.senders[c]; s.nic == nic && s.sprayed {
			h.bind(int32(c), n.ports)
			h.reline(int32(c))
		}
	}
	for _, p := range n.ports {
		h.rings.owner[p] = p
	}
}

// Rebond binds all senders anew after the routes have changed; usable names
// the ports of a NIC that reach a peer.
func (h *Hosts) Rebond(usable func(src, dst int32) []int32) {
	if h.cfg.Bond == BondSpray {
		h.respread(usable)
	}
	for c := range h.senders {
		if h.endsOf(int32(c)) != nil {
			continue // the connection probes its planes
		}
		s := &h.senders[c]
		ports := usable(s.nic, s.dst)
		if over := h.nics[s.nic].over; s.sprayed && len(both(over, ports)) == len(over) {
			continue
		}
		if !s.sprayed && slices.Contains(ports, s.port) {
			continue
		}
		h.usePorts(int32(c), ports)
		h.reline(int32(c))
	}
}

// respread makes every spraying bundle use all ports that reach all of its peers, if there are several.
func (h *Hosts) respread(usable func(src, dst int32) []int32) {
	reach := map[int32][]int32{}
	for c := range h.senders {
		s := &h.senders[c]
		if h.endsOf(int32(c)) != nil || !s.sprayed {
			continue
		}
		all, seen := reach[s.nic]
		if !seen {
			all = h.nics[s.nic].ports
		}
		reach[s.nic] = both(all, usable(s.nic, s.dst))
	}
	for nic := range h.nics {
		if over := reach[int32(nic)]; len(over) > 1 {
			h.spread(int32(nic), over, -1)
		}
	}
}

// Reline notifies a NIC that the rate of its port has changed. That rate limits its senders. Other ports are none
// of its business.
func (h *Hosts) Reline(port int32) {
	for c := range h.senders {
		if slices.Contains(h.nics[h.senders[c].nic].ports, port) {
			h.reline(int32(c))
		}
	}
}

// reline sets a connection's maximum rate to the current rate of its ports.
func (h *Hosts) reline(c int32) {
	s := &h.senders[c]
	if h.endsOf(c) != nil || s.ending == closed {
		return
	}
	n := &h.nics[s.nic]
	line := min(h.Net.Link(s.port).Rate, n.line)
	if s.sprayed {
		line = 0
		for _, p := range n.over {
			line += min(h.Net.Link(p).Rate, n.line)
		}
	}
	if line != s.pace.Line {
		s.pace.SetLine(h.Net.Q.Now(), line)
		h.decide(c)
	}
}
