package diagnose

import "railyard/internal/counters"

// cnpClass is CNPs in a wrong class: behind the data that they should slow down, or where they are dropped. A NIC
// counts sent CNPs separately from its queues: if its queue for CNPs sent fewer packets, they used another. Where hosts
// are right and a switch's queue for CNPs sends none, the switch is wrong.
var cnpClass = Cause{Name: "cnp-class", About: "CNPs are sent in the wrong class", find: findCNPClass,
	By: []string{"CNPs sent", "packets sent", "bytes sent"}}

func findCNPClass(f *Fabric, c *Cause) (out []Finding) {
	q := f.cnpQueue()
	if q < 0 {
		return nil
	}
	right := 0
	f.ports(func(p *Port) {
		n, sent := p.read(cnpSent), p.read(txPackets(q))
		if p.On.Kind != Host || !n.Some() || !sent.Is {
			return
		}
		if sent.Grew >= n.Grew/2 {
			right++
			return
		}
		x := c.at(p, q, Proven, "%v sends no CNPs in class %d, the class of CNPs", p, q)
		x.show(n, sent)
		for k := range counters.Priorities {
			if r := p.read(txPackets(k)); k != q && r.Some() {
				x.show(r)
			}
		}
		x.cnp(p, f)
		x.next(p, askMarks, "priority of CNPs (and cnp_dscp next to it)")
		x.harm = 1
		out = append(out, x)
	})
	if right > 0 {
		out = append(out, f.cnpSwitches(c, q)...)
	}
	if q == 0 && f.CNP < 0 && len(out) == 0 {
		out = f.unsorted(c)
	}
	return out
}

// unsorted finds hosts that send their CNPs in class 0 while no configuration defines their class: class 0 has all
// unclassified packets, behind which CNPs are queued and with which they are dropped. All vendors' guides give them a
// strict class of their own; it may be meant so.
func (f *Fabric) unsorted(c *Cause) []Finding {
	var senders []Reading
	f.ports(func(p *Port) {
		n, in := p.read(cnpSent), p.read(txPackets(0))
		if p.On.Kind == Host && n.Some() && n.Two && in.Grew >= n.Grew/2 && in.Grew > 0 {
			senders = append(senders, n)
		}
	})
	if len(senders) == 0 {
		return nil
	}
	first := most(senders)[0]
	p := first.Port
	x := c.at(p, 0, Possible, "%v sends its CNPs in class 0, together with unclassified traffic", p)
	if n := len(senders); n > 1 {
		x.Says += sprintf("; %d other hosts do the same", n-1)
	}
	x.show(first, p.read(txPackets(0)))
	x.cnp(p, f)
	x.next(p, askMarks, "priority of CNPs (and cnp_dscp next to it)")
	x.harm = 1
	return []Finding{x}
}

func (x *Finding) cnp(p *Port, f *Fabric) {
	if p.On != nil {
		x.hostCNP(p)
	}
	x.Why = "a CNP in the data class waits in the congested queue or is paused with it; in the default class it may be dropped. Senders reduce their rate too late, and PFC pauses first"
	x.Fix = "set cnp_dscp 48 (or the DSCP of the strict queue) and its priority on every NIC; map this DSCP to the strict queue on every switch"
	if p.Peer != nil && p.Peer.QoS != nil && f.CNP >= 0 {
		if at := p.Peer.QoS.Feeds[f.CNP]; at.Line > 0 {
			x.cite(p.Peer.On, at, "queue %d is for CNPs and receives DSCPs %s", f.CNP, dscps(p.Peer, f.CNP))
		}
	}
}

// cnpQueue returns the class of CNPs: the configured one, else the class in which most hosts that send CNPs send as
// many packets, and no data.
func (f *Fabric) cnpQueue() int {
	if f.CNP >= 0 {
		return f.CNP
	}
	best, most, meant := -1, 0, f.meantFor()
	for k := range counters.Priorities {
		n := 0
		f.ports(func(p *Port) {
			cnps, sent, bytes := p.read(cnpSent), p.read(txPackets(k)), p.read(txBytes(k))
			small := bytes.Is && bytes.Grew <= 128*sent.Grew || !p.classed()
			if p.On.Kind == Host && cnps.Some() && sent.Some() && small && sent.Grew >= cnps.Grew/2 &&
				meant>>k&1 == 0 {
				n++
			}
		})
		if n > most {
			best, most = k, n
		}
	}
	return best
}

// cnpSwitches finds switches that receive CNPs in their class from hosts and send none on.
func (f *Fabric) cnpSwitches(c *Cause, q int) (out []Finding) {
	for _, d := range f.Devices {
		if d.Kind != Switch {
			continue
		}
		var sent []Reading
		got, on := uint64(0), uint64(0)
		shown := true
		for _, p := range d.Ports {
			if p.Peer == nil {
				continue
			}
			if p.Peer.On.Kind == Host && p.Peer.read(cnpSent).Some() {
				r := p.Peer.read(txPackets(q))
				got += r.Grew
				sent = append(sent, r)
			}
			r := p.read(txPackets(q))
			shown = shown && r.Is
			on += r.Grew
		}
		if !shown || got == 0 || on > 0 {
			continue
		}
		x := c.on(d, q, Proven, "%s receives CNPs in class %d and sends none in it", d.Name, q)
		x.show(most(sent)[:min(2, len(sent))]...)
		for _, p := range d.Ports {
			if r := p.read(txPackets(q)); r.Is && len(x.Evidence) < 4 {
				x.show(r)
			}
		}
		x.cnp(&Port{}, f)
		x.next(d.Ports[0], askConfig, "class map of CNPs")
		x.harm = 1
		out = append(out, x)
	}
	return out
}
