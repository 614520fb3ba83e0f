package diagnose

import "railyard/internal/counters"

// wrongClass is a host whose RoCE goes into a class that may drop, or a switch that puts it there. Other hosts show the
// intended class: if some hosts send most of their bytes in the lossless class and one sends all of its in another,
// that one is wrong. The host's own counters by priority show whether it marks packets wrongly; if they are right and
// the switch's ingress is not, the switch classifies wrongly. Drops in the lossless class have other causes (headroom,
// PFC off).
var wrongClass = Cause{Name: "wrong-class", About: "data is sent in a lossy class", find: findWrongClass,
	By: []string{"bytes sent", "packets sent", "ingress: bytes", "packets dropped", "output discards",
		"packets out of sequence"}}

func findWrongClass(f *Fabric, c *Cause) (out []Finding) {
	meant := f.meantFor()
	if meant == 0 {
		return nil
	}
	var senders []class
	f.ports(func(p *Port) {
		if x, ok := f.sends(p, meant); ok {
			senders = append(senders, x)
		}
	})
	right := 0
	for _, s := range senders {
		if s.right > s.wrong {
			right++
		}
	}
	told := map[*Port]bool{}
	for _, s := range senders {
		if s.wrong <= s.right || told[s.nic] {
			continue
		}
		x, ok := f.misplaced(c, s, right, meant)
		if ok {
			told[s.nic] = true
			out = append(out, x)
		}
	}
	if out = append(out, f.remapped(c, meant)...); len(out) == 0 {
		out = f.droppedElsewhere(c, meant)
	}
	return out
}

// classed reports whether a NIC's own outputs count its traffic by class.
func (p *Port) classed() bool {
	for k := range counters.Priorities {
		if p.read(txBytes(k)).Is {
			return true
		}
	}
	return false
}

// remapped finds switches that receive data in a lossless class and forward it in another: a correct switch forwards
// the data of a class, counted by its neighbours, in that class. The next switch restores the class of its DSCP, so
// only one switch of a path shows it.
func (f *Fabric) remapped(c *Cause, meant uint8) (out []Finding) {
	for _, d := range f.Devices {
		if d.Kind != Switch || !d.Seen {
			continue
		}
		var got, sent [counters.Priorities]uint64
		whole := true
		var from, to Reading
		for _, p := range d.Ports {
			if p.Peer == nil {
				continue
			}
			whole = whole && p.Peer.classed() && p.classed()
			for k := range counters.Priorities {
				whole = whole && !p.Peer.lacks(txBytes(k), txPackets(k)) && !p.lacks(txBytes(k), txPackets(k))
				in, on := p.Peer.data(k, txBytes, txPackets), p.data(k, txBytes, txPackets)
				got[k], sent[k] = got[k]+in.Grew, sent[k]+on.Grew
				if meant>>k&1 == 1 && in.Grew > from.Grew {
					from = in
				}
				if meant>>k&1 == 0 && k != f.CNP && on.Grew > to.Grew {
					to = on
				}
			}
		}
		if !whole { // what one of them sent is not known
			continue
		}
		lost, won, in := uint64(0), uint64(0), 0
		for k := range counters.Priorities {
			switch {
			case meant>>k&1 == 1 && got[k] > sent[k]:
				lost += got[k] - sent[k]
			case meant>>k&1 == 0 && sent[k] > got[k] && sent[k]-got[k] > won:
				won, in = sent[k]-got[k], k
			}
		}
		if won == 0 || 2*min(lost, won) <= from.Grew { // drops, and data in flight
			continue
		}
		x := c.on(d, in, Proven, "%s receives data in %s and forwards it in class %d, which is lossy", d.Name,
			bitmap(meant), in)
		x.show(from, to)
		for _, p := range d.Ports {
			if p.QoS != nil {
				x.feeds(p, in)
				break
			}
		}
		x.Why = "this switch maps the DSCP of RoCE to another queue than its neighbors do, a queue without PFC"
		x.Fix = sprintf("configure the same DSCP map on all switches, with the DSCP of RoCE in %s", bitmap(meant))
		x.next(to.Port, askClass, "class of the received packets")
		x.next(to.Port, askConfig, "policy applied to the port")
		x.harm = 1
		out = append(out, x)
	}
	return out
}

// meantFor returns the classes intended for RoCE: the lossless ones or, if these are unknown, the one in which most
// hosts send most of their data.
func (f *Fabric) meantFor() uint8 {
	if f.Lossless != 0 {
		return f.Lossless
	}
	var hosts [counters.Priorities]int
	f.ports(func(p *Port) {
		best, most := -1, uint64(0)
		for k := range counters.Priorities {
			if n := p.data(k, txBytes, txPackets).Grew; p.On.Kind == Host && n > most {
				best, most = k, n
			}
		}
		if best >= 0 {
			hosts[best]++
		}
	})
	best := 0
	for k := range hosts {
		if hosts[k] > hosts[best] {
			best = k
		}
	}
	if hosts[best] < 2 {
		return 0
	}
	return 1 << best
}

// control is the longest packet that carries no data: ACKs and CNPs are shorter, whatever
// is around them.
const control = 128

// data returns the data bytes of a class: 0 if its packets have the length of ACKs and CNPs, and no value if one
// snapshot lacks them.
func (p *Port) data(k int, bytes, packets func(int) meter) Reading {
	b, n := p.read(bytes(k)), p.read(packets(k))
	if p.lacks(packets(k)) {
		return Reading{Port: p, Name: b.Name}
	}
	if b.Is && n.Is && b.Grew <= control*n.Grew {
		b.Grew = 0
	}
	return b
}

// class is a NIC's bytes in lossless classes and in others, with the largest of those.
type class struct {
	nic, seen    *Port // the NIC, and the port with its counters
	right, wrong uint64
	in           int
	by           Reading
}

// sends returns a NIC's data by class: from its own counters, else the switch's ingress.
func (f *Fabric) sends(p *Port, meant uint8) (class, bool) {
	s := class{nic: p, seen: p}
	bytes, packets := txBytes, txPackets
	switch {
	case p.On.Kind == Host:
	case p.Peer != nil && p.Peer.On.Kind != Switch && !p.Peer.classed():
		s.nic, bytes, packets = p.Peer, rxBytes, rxPackets
	default:
		return s, false
	}
	shown := true
	for k := range counters.Priorities {
		r := p.data(k, bytes, packets)
		shown = shown && (r.Is || meant>>k&1 == 0) // a missing counter of a lossless class does not mean zero
		switch {
		case meant>>k&1 == 1:
			s.right += r.Grew
		case k == f.CNP:
		case r.Grew > s.by.Grew:
			s.in, s.by = k, r
			fallthrough
		default:
			s.wrong += r.Grew
		}
	}
	return s, shown
}

// misplaced finds a NIC that sends most data in a class that may drop.
func (f *Fabric) misplaced(c *Cause, s class, right int, meant uint8) (x Finding, ok bool) {
	lost := Reading{Port: s.seen}
	f.ports(func(p *Port) {
		if r := p.read(dropped(s.in)); p.On.Kind == Switch && r.Grew > lost.Grew {
			lost = r
		}
	})
	again := s.nic.trouble()
	if right == 0 && lost.Grew == 0 { // the lossless class is unused: perhaps it is not needed
		return x, false
	}
	sure := Possible
	switch {
	case lost.Some() || again.Some():
		sure = Proven
	case right > 0 && s.right == 0:
		sure = Likely
	}
	x = c.at(s.nic, s.in, sure, "%v sends its data in class %d, which is lossy, instead of %s", s.nic, s.in,
		bitmap(meant))
	x.show(s.by, lost, again)
	if x.hostClass(s.nic, s.in) {
		x.Sure = Proven
	}
	if p := s.nic.Peer; p != nil && p.QoS != nil {
		x.feeds(p, s.in)
	}
	for k := range counters.Priorities {
		if meant>>k&1 == 1 {
			x.show(s.seen.read(map[bool]meter{true: txBytes(k), false: rxBytes(k)}[s.seen.On.Kind == Host]))
		}
	}
	x.Why = "PFC protects only the lossless class; RoCE in another class is dropped when a queue is full, and go-back-N retransmits everything after each drop"
	x.Fix = sprintf("mark RoCE with the DSCP that the switches map to %s: NCCL_IB_TC and cma_roce_tos on this host, trust dscp (mlnx_qos -i ETH --trust=dscp)", bitmap(meant))
	x.next(s.nic, askConfig, "trust mode and DSCP of RoCE")
	if s.nic.Peer != nil {
		x.next(s.nic.Peer, askClass, "class of the received packets")
	}
	x.harm = 1
	return x, true
}

// feeds cites the line of a configuration that puts DSCPs into a queue.
func (x *Finding) feeds(p *Port, k int) {
	for q := range p.QoS.Queues {
		if at := p.QoS.Feeds[q]; at.Line > 0 && p.QoS.Queues[q].Pause.Is() {
			x.cite(p.On, at, "%s maps these DSCPs to the lossless queue %d: %s", p.On.Name, q, dscps(p, q))
		}
	}
}

// dscps are those that a queue gets.
func dscps(p *Port, q int) string {
	s := ""
	for d := range p.QoS.DSCP {
		if v := p.QoS.DSCP[d]; v.Is() && int(v.V) == q {
			s += sprintf(" %d", d)
		}
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

// trouble returns a NIC's reports of lost packets, its own or others', if it has any.
func (p *Port) trouble() Reading {
	for _, m := range []meter{seqErr, timeouts, outOfOrder} {
		if r := p.read(m); r.Some() {
			return r
		}
	}
	return Reading{Port: p}
}

// droppedElsewhere finds drops in a class that may drop while the senders in it are unknown: hosts' counters would show
// them.
func (f *Fabric) droppedElsewhere(c *Cause, meant uint8) (out []Finding) {
	f.ports(func(p *Port) {
		if p.On.Kind != Switch {
			return
		}
		for k := range counters.Priorities {
			r := p.read(dropped(k))
			if meant>>k&1 == 1 || k == f.CNP || !r.Some() {
				continue
			}
			x := c.at(p, k, Possible, "%v drops in class %d, which is lossy: possibly RoCE with a wrong DSCP", p, k)
			x.show(r, p.read(txPackets(k)))
			x.Why = "RoCE in a lossy class is dropped when a queue is full, and so is other traffic of the class; the counters do not identify the sender"
			x.Fix = "add ethtool -S of the hosts, or ingress counters by class of the switch: they identify the sender"
			x.next(p, askQueues, "are there more drops?")
			x.harm = share(r.Grew, f.allLosses())
			out = append(out, x)
		}
	})
	return most1(out)
}
