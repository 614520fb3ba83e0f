package sim

import (
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/internal/host"
	"railyard/internal/rng"
	"railyard/unit"
)

// If a network reaches one state twice, except for sequence numbers, it reaches it again after the same time, until
// a message ends or another is posted. Repeat takes the repetitions out: messages become shorter, counters higher,
// and no event fires. The stand's clock does not change, so its user adds the time.

// Moment is a network state for comparison, with its counters.
type Moment struct {
	At     unit.Time
	state  uint64
	totals fabric.Totals
	count  host.Counters
	ports  []portTraffic
	at     []host.Position
	waits  fabric.Waited
}

type portTraffic struct{ bytes, frames int64 }

// Moment records the network state of some connections and of the ports on their data's paths. It returns false if
// a packet in flight does not repeat. It reuses the memory of an earlier moment.
func (s *Stand) Moment(m *Moment, conns, ports []int32) bool {
	if s.Net.Averages() {
		return false
	}
	m.At, m.state, m.at = s.Now(), 0, m.at[:0]
	for _, c := range conns {
		p, sends, idle, calm := s.Hosts.Position(c)
		if !calm {
			return false
		}
		m.at = append(m.at, p)
		if !idle {
			x := chain(uint64(c), p.Next-p.Una)
			x = chain(x, p.Next-p.Expects)
			fetched, written := s.Hosts.Ahead(c)
			x = chain(chain(x, uint64(fetched)), uint64(written))
			if x = chain(x, p.First); sends {
				x = chain(x, 1)
			}
			m.state += x
		}
	}
	s.Net.Q.Each(func(e *engine.Event) { m.state += s.waits(m.At, e) })
	m.totals, m.count, m.ports = s.Net.Totals, s.Hosts.Count, m.ports[:0]
	for _, p := range ports {
		m.state += s.Net.Draw(p)
		m.ports = append(m.ports, portTraffic{s.Net.Ports[p].TxBytes, s.Net.Ports[p].TxFrames})
	}
	m.waits = s.Net.Waits.Mark(m.waits)
	return true
}

// chain returns a digest with one more number.
func chain(x, y uint64) uint64 { return rng.Mix64(x*0x9e3779b97f4a7c15 + y + 1) }

// waits returns the digest of a pending event and of the packets that it is about.
func (s *Stand) waits(now unit.Time, e *engine.Event) uint64 {
	net, hosts := s.Net, s.Hosts
	if net.Stale(e) || hosts.Stale(e) {
		return 0
	}
	x := chain(uint64(e.Kind()), uint64(e.At-now))
	x = chain(x, uint64(e.A))
	switch kind := e.Kind(); kind {
	case fabric.KindArrive, host.KindRx:
		return chain(x, s.packet(&net.Packets[e.B]))
	case fabric.KindService, host.KindTx:
		net.Queued(e.A, func(p *fabric.Packet) { x = chain(x, s.packet(p)) })
		if kind == host.KindTx {
			hosts.Waiting(e.A, func(c int32) { x = chain(x, uint64(c)) })
		}
		return x
	}
	return chain(x, uint64(e.B))
}

// packet returns the digest of a packet, whose sequence number is relative to its sender's next one.
func (s *Stand) packet(p *fabric.Packet) uint64 {
	x := chain(uint64(uint32(p.QP)), uint64(p.Size)<<32|uint64(p.Opcode)<<24|uint64(p.TOS)<<16|uint64(p.Flags)<<8|
		uint64(p.Synd))
	if p.QP >= 0 {
		x = chain(x, uint64(uint32(s.Hosts.Next(p.QP))-p.PSN)&0xffffff)
	}
	return chain(x, uint64(p.In)<<8|uint64(p.Class))
}

// Same reports whether a later moment has an earlier one's state, with nothing marked, lost or paused in between.
func (m *Moment) Same(later *Moment) bool {
	if m.state != later.state || len(m.at) != len(later.at) || m.At == later.At {
		return false
	}
	a, b := m.totals, later.totals
	a.PacketHops, a.DataPacketHops, a.Injected = b.PacketHops, b.DataPacketHops, b.Injected
	c, d := m.count, later.count
	c.Acks, c.DataPackets, c.DataBytes = d.Acks, d.DataPackets, d.DataBytes
	return a == b && c == d
}

// Times returns how often the events between two moments of one state can repeat before a message ends.
func (m *Moment) Times(later *Moment) int64 {
	times := int64(1 << 40)
	for i := range later.at {
		p, sent := &later.at[i], int64(later.at[i].Next-m.at[i].Next)
		if sent == 0 {
			continue
		}
		if p.First == 0 || p.First != m.at[i].First {
			return 0
		}
		times = min(times, (int64(p.End-p.Next)-1)/sent-1)
	}
	return max(times, 0)
}

// Hops returns the packet-hops between two moments.
func (m *Moment) Hops(later *Moment) int64 { return later.totals.PacketHops - m.totals.PacketHops }

// Bytes returns the bytes that left the ith port between two moments.
func (m *Moment) Bytes(later *Moment, i int) int64 { return later.ports[i].bytes - m.ports[i].bytes }

// Repeat adds the counts between two moments n more times. The later moment is the current state.
func (s *Stand) Repeat(m, later *Moment, times int64, conns, ports []int32) {
	for i, c := range conns {
		if sent := later.at[i].Next - m.at[i].Next; sent > 0 {
			s.Hosts.Shorten(c, sent*uint64(times))
		}
	}
	t, was := &s.Net.Totals, &m.totals
	t.PacketHops += times * (t.PacketHops - was.PacketHops)
	t.DataPacketHops += times * (t.DataPacketHops - was.DataPacketHops)
	t.Injected += times * (t.Injected - was.Injected)
	n := &s.Hosts.Count
	n.Acks += times * (n.Acks - m.count.Acks)
	n.DataPackets += times * (n.DataPackets - m.count.DataPackets)
	n.DataBytes += times * (n.DataBytes - m.count.DataBytes)
	for i, port := range ports {
		p := &s.Net.Ports[port]
		bytes := times * m.Bytes(later, i)
		p.TxBytes += bytes
		p.TxFrames += times * (later.ports[i].frames - m.ports[i].frames)
		if int(port) < len(s.sampler.lastTx) {
			s.sampler.lastTx[port] += bytes
		}
	}
	s.Net.Waits.Repeat(m.waits, times)
}
