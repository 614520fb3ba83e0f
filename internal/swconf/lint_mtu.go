package swconf

import (
	"fmt"
	"slices"

	"railyard/unit"
)

// jumbo is the usual MTU of switches with RoCE, if nothing else limits it.
const jumbo unit.Bytes = 9216

// mostMTU is the maximum MTU of a language, by its own definition: Arista's user manual has 9214 (platform,
// mtu_max), and the references of other vendors have 9216. Some switches take more on some chips.
func mostMTU(os OS) unit.Bytes {
	if os == EOS {
		return 9214
	}
	return jumbo
}

// header is the part of an MTU that is not the packet. Junos counts the Ethernet header of an interface (Junos
// Interfaces User Guide, default MTU of Ethernet); the other languages count only the packet.
func (c *Config) header() unit.Bytes {
	if c.OS == Junos {
		return 14
	}
	return 0
}

// packet returns the longest packet that a port accepts, without its Ethernet header.
func (e *end) packet() unit.Bytes { return e.port.MTU.V - e.c.header() }

// mtu formats the MTU of a port, and what it includes if that is not only the packet.
func (e *end) mtu() string {
	if e.c.header() > 0 {
		return fmt.Sprintf("%d with the Ethernet header", e.port.MTU.V)
	}
	return fmt.Sprint(int64(e.port.MTU.V))
}

// holds returns the longest packet of an end if a frame of RoCE fits, otherwise the longest for which its language
// has an MTU.
func (l *linter) holds(e *end) unit.Bytes {
	if e.port.MTU.Is() && l.fits(e) {
		return e.packet()
	}
	return mostMTU(e.c.OS) - e.c.header()
}

// needs is the MTU, in a configuration's own terms, for RoCE packets of a path MTU over IPv4. IPv6 needs 20 bytes more.
func (c *Config) needs(path int) unit.Bytes { return unit.Bytes(path+inIP) + c.header() }

// fits reports whether an end takes RoCE packets of the path MTU.
func (l *linter) fits(e *end) bool { return e.port.MTU.V >= e.c.needs(l.PathMTU) }

// farPacket returns the longest packet that a port must accept, given its neighbour's.
func (l *linter) farPacket(p *Port) unit.Bytes {
	packet := jumbo
	l.ends(func(e, far *end) {
		if e.port == p {
			packet = l.holds(far)
		}
	})
	return packet
}

// mtuDiffers compares the packets that both ends of a cable accept. If RoCE's frames fit both ends, the difference
// is a note.
func (l *linter) mtuDiffers() {
	l.ends(func(e, far *end) {
		a, b := e.port.MTU, far.port.MTU
		if !a.Is() || !b.Is() || e.packet() >= far.packet() {
			return
		}
		fix, lines := fixMTU(e.c, l.holds(far)), e.c.commandMTU(a.At, e.port, l.holds(far))
		if a.V >= mostMTU(e.c.OS) {
			fix = fixMTU(far.c, e.packet()) + " at the neighbour"
			lines = nil
		}
		l.say(a.At, fix, "%s has MTU %s, its neighbour %s has %s", e.port.Name, e.mtu(), e.far(), far.mtu())
		l.paste(lines)
		if l.fits(e) {
			f := &l.findings[len(l.findings)-1]
			f.Severity = Info
			f.Why = fmt.Sprintf("RoCE packets (%d bytes) fit both ends; packets longer than %d bytes are dropped here",
				l.PathMTU+inIP, e.packet())
		}
	})
}

// defaultMTU is the default MTU of a routed port.
const defaultMTU = 1500

// dataPort reports whether a port without classes of RoCE has an MTU of its own and is routed, or as fast as a port
// with them, so that RoCE may pass it.
func (c *Config) dataPort(p *Port) bool {
	if p.MTU.V == 0 || p.MTU.At == p.At {
		return false
	}
	return slices.ContainsFunc(c.Ports, func(o *Port) bool {
		return o.QoS != nil && o.QoS.rdma() && !o.Down.V &&
			(len(p.Addrs) > 0 || p.LinkOnly.V || p.Speed.Is() && p.Speed.V == o.Speed.V)
	})
}

func (l *linter) mtuSmall() {
	for _, c := range l.Configs {
		if !c.HasQoS() {
			continue
		}
		need := int64(c.needs(l.PathMTU))
		seen := map[Place]bool{}
		for _, p := range c.Ports {
			q := p.QoS
			if p.Down.V || (q == nil || !q.rdma() && !l.cabled(c, p)) && !c.dataPort(p) {
				continue
			}
			if q == nil {
				q = &QoS{}
			}
			at, mtu := p.At, int64(defaultMTU)
			if !p.MTU.Is() && (p.Switched || c.OS == Junos && c.Part) {
				mtu = need // frames of any size that the chip supports, or interfaces are configured elsewhere
			}
			if p.MTU.V > 0 {
				at, mtu = first(p.MTU.At, p.At), int64(p.MTU.V)
			} else if m, ok := q.mtu(p); ok {
				at, mtu = p.At, int64(m)
				for i := range q.Queues {
					if k := &q.Queues[i]; k.MTU.Is() && k.MTU.V == m {
						at = k.MTU.At
					}
				}
			}
			say := l.say
			if mtu >= int64(c.needs(2048)) || q.paused() == 0 || c.Part && !p.MTU.Is() {
				// enough for the next smaller path MTU, or set elsewhere
				say = l.advise
			}
			if mtu < need && !seen[at] {
				seen[at] = true
				packet := l.farPacket(p)
				say(at, fixMTU(c, packet), "%s takes %d bytes; path MTU %d with IPv4 headers needs %d", p.Name,
					mtu, l.PathMTU, need)
				l.paste(c.commandMTU(at, p, packet))
			}
			for i := range q.Queues {
				if k := &q.Queues[i]; i == l.data(q) && k.MTU.Is() && int64(k.MTU.V) < need &&
					!seen[k.MTU.At] {
					seen[k.MTU.At] = true
					say(k.MTU.At, fixMTU(c, jumbo),
						"the class of queue %d takes %v; path MTU %d with IPv4 headers needs %d", i, k.MTU.V,
						l.PathMTU, need)
					l.paste(c.beside(k.MTU.At, fixMTU(c, jumbo)))
				}
			}
		}
	}
}
