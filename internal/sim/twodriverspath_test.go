package sim

import (
	"net/netip"
	"slices"

	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/rcudp"
	"railyard/roce"
	"railyard/unit"
)

// path carries datagrams with the timing of two cables and a switch that
// stores and forwards.
type path struct {
	now    unit.Time
	ends   [2]*rcudp.Endpoint
	addr   func(i int) netip.Addr
	busy   [2]unit.Time // when the switch's port towards an end is free
	tx     [2]unit.Time // when the NIC is free
	said   [2][]arrival // control packets that wait until the NIC is free
	air    []arrival
	sent   [2]int
	faults faultPlan
	log    []step
}

type arrival struct {
	at   unit.Time
	to   int
	data []byte
	wire unit.Time // time for which it occupies a cable
	end  bool      // at the far NIC; otherwise at the switch
	tos  uint8
	port uint16
}

func (p *path) step() bool {
	var d rcudp.Datagram
	for i, e := range p.ends {
		p.control(i)
		if e.MRCDue(p.now) { // an arrival may make one due; it is sent before data
			e.Tick(p.now)
			p.control(i)
		}
		for p.tx[i] <= p.now && len(p.said[i]) > 0 {
			p.carry(i, p.said[i][0].port, p.said[i][0].data)
			p.said[i] = p.said[i][1:]
		}
		for p.tx[i] <= p.now && e.Next(p.now, make([]byte, 0, 256), 0, &d) {
			p.carry(i, d.Port, d.Append(nil))
		}
	}
	next := unit.Never
	for i, e := range p.ends {
		next = min(next, e.Wake(p.now))
		if p.tx[i] > p.now {
			next = min(next, p.tx[i])
		}
	}
	if len(p.air) > 0 && p.air[0].at <= next {
		a := p.air[0]
		p.air = p.air[1:]
		p.now = a.at
		if !a.end { // the switch forwards it when its port is free
			start := max(p.now, p.busy[a.to])
			p.busy[a.to] = start + a.wire
			a.at, a.end = p.busy[a.to]+cable, true
			p.fly(a)
			return true
		}
		if a.to == 0 {
			p.note(false, a.port, a.data)
		}
		p.ends[a.to].Input(p.now, netip.AddrPortFrom(p.addr(1-a.to), a.port), a.tos, 0, a.data)
		return true
	}
	if next == unit.Never {
		return false
	}
	p.now = max(p.now, next)
	for _, e := range p.ends {
		e.Tick(p.now)
	}
	return true
}

// control collects the control packets of an end; its data wait in the NIC.
func (p *path) control(i int) {
	var d rcudp.Datagram
	for p.ends[i].NextControl(p.now, make([]byte, 0, 256), 0, &d) {
		p.said[i] = append(p.said[i], arrival{data: d.Append(nil), port: d.Port})
	}
}

func (p *path) note(out bool, port uint16, b []byte) {
	var h roce.Header
	if roce.Opcode(b[0]).IsMRC() {
		p.log = append(p.log, step{p.now, out, sayMRC(b), port})
		return
	}
	if _, err := h.Decode(b); err != nil {
		panic(err)
	}
	p.log = append(p.log, step{p.now, out, say(h.Opcode, h.PSN, h.Syndrome), port})
}

// around is the size of a frame beyond its datagram.
const around = roce.EthernetLen + roce.IPv4Len + roce.UDPLen + roce.FCSLen

// serialize returns the time for which a datagram of n bytes occupies a cable, with all headers.
func serialize(b int) unit.Time {
	return unit.Serialize(unit.Bytes(b+around+roce.PreambleIFG), lineRate)
}

func (p *path) fly(a arrival) {
	p.air = append(p.air, a)
	slices.SortStableFunc(p.air, func(a, b arrival) int { return int(min(1, max(-1, a.at-b.at))) })
}

func (p *path) carry(from int, port uint16, b []byte) {
	p.tx[from] = p.now + serialize(len(b))
	if from == 0 {
		p.note(true, port, b)
	}
	p.sent[from]++
	fate := p.faults.data[p.sent[0]]
	if from == 1 {
		fate = p.faults.acks[p.sent[1]]
	}
	if fate.Lost {
		return
	}
	at := arrival{p.tx[from] + cable + 300*unit.Nanosecond + fate.Late, 1 - from, b, serialize(len(b)), false,
		26<<2 | 2, port}
	if op := roce.Opcode(b[0]); fate.Cut && from == 0 && (op < roce.Acknowledge || op.IsMRCWrite()) {
		keep := int(queue.MinTrim) - around // including the lower headers
		if at.wire = serialize(keep); op.IsMRCWrite() {
			keep = mrcHeaders // its frames are longer than that
		}
		at.data = b[:min(len(b), keep)]
		if at.tos = trimmed.DSCP<<2 | 2; fate.Last {
			at.tos = trimmed.LastHop<<2 | 2
		}
	}
	if fate.Marks {
		at.tos |= fabric.CE
	}
	if p.fly(at); fate.Twice {
		p.fly(at)
	}
}
