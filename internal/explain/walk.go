package explain

import (
	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/exec"
	"railyard/unit"
)

// walk divides the time of a chain in a replay, backwards from an operation's end. The parts are computing, the
// bytes, latency and other transfers of the NIC. In a collective, late ranks are a part, too.
func (p *replay) walk(last int32, from unit.Time, only int32, to *cause.Account) {
	if last < 0 {
		return
	}
	r, t := p.m.b.r, p.stops(last)
	next := only
	for op := last; op >= 0 && t > from; op = p.freedBy(op) {
		o := &r.dag.Ops[op]
		start := max(from, p.starts(op))
		switch {
		case only >= 0 && o.Coll != only && !synchronises(p.m.b.r.dag, o, only):
			to.Own[cause.LateRank] += int64(t - from)
			return
		case o.Compute():
			to.Own[computes(r.dag, o, next)] += int64(t - start)
		case p.m.b.first[op] < 0 || r.exec.Local(int(o.Rank), int(o.Peer)):
			p.inside(int(o.Rank), int(o.Peer), op, t-start, to)
		default:
			x := p.lastMessage(op)
			p.crossed(x, max(from, p.posted[x]), t, to)
			if relay := min(t, p.posted[x]) - start; relay > 0 {
				p.inside(int(o.Rank), p.x.Relay(int(o.Rank), int(o.Peer)), op, relay, to)
			}
		}
		t, next = start, o.Coll
	}
	if t <= from {
		return
	}
	if only >= 0 {
		to.Own[cause.LateRank] += int64(t - from)
	} else {
		to.Own[cause.Compute] += int64(t - from)
	}
}

// inside divides a time in a server.
func (p *replay) inside(from, to int, op int32, took unit.Time, a *cause.Account) {
	line, latency := p.m.b.r.exec.Alone(from, to, p.m.b.r.dag.Ops[op].Bytes)
	line = min(line, took)
	latency = min(latency, took-line)
	if p.v.has(cause.Latency) {
		latency = 0
	}
	p.nvlink += latency
	a.Own[cause.LineRate] += int64(line)
	a.Own[cause.Latency] += int64(latency)
	a.Own[p.m.b.r.sharedIn(from)] += int64(took - line - latency)
}

// crossed divides a message's time in the network, where nothing but its NIC and latency are left.
func (p *replay) crossed(x int32, from, to unit.Time, a *cause.Account) {
	m, took := p.m, to-from
	if took <= 0 {
		return
	}
	c := m.b.r.seen.Messages[x].Conn
	line := min(took, m.alone(p.net, p.over(c), m.bytes(x, p.v)))
	latency := min(m.latency(x, p.v), took-line)
	p.stored += min(m.b.share.cost(c, m.b.r.seen.Messages[x].Bytes).stored, latency)
	if a.Own[cause.LineRate] += int64(line); p.v.has(cause.Latency) {
		a.Own[cause.LineRate] += int64(latency) // packets, of which faster links wait for the whole
	} else {
		a.Own[cause.Latency] += int64(latency)
	}
	rest := took - line - latency
	same := unit.Time(float64(rest) * p.sameCollective(x, from, to))
	a.Own[cause.LineRate] += int64(same)
	a.Own[p.m.b.r.sharedNIC(c)] += int64(rest - same)
}

// sameCollective returns the share of the message's own collective in the other bytes that the message's NIC sent
// between two times.
func (p *replay) sameCollective(x int32, from, to unit.Time) float64 {
	b := p.m.b
	msg := &b.r.seen.Messages[x]
	c := b.r.dag.Ops[msg.Op].Coll
	if c < 0 || b.r.dag.Colls[c].Kind == coll.SendRecv {
		return 0
	}
	src, _ := b.r.seen.peers(msg.Conn)
	same, all := 0.0, 0.0
	for _, conn := range b.share.bySender[src] {
		for _, y := range b.share.byQP[conn] {
			if y == x || p.done[y] == unit.Never || p.done[y] <= from || p.began[y] >= to {
				continue
			}
			span := max(1, p.done[y]-p.began[y])
			part := float64(min(to, p.done[y])-max(from, p.began[y])) / float64(span)
			bytes := part * p.m.bytes(y, p.v)
			if all += bytes; b.r.dag.Ops[b.r.seen.Messages[y].Op].Coll == c {
				same += bytes
			}
		}
	}
	if all <= 0 {
		return 0
	}
	return same / all
}

// lastMessage is the message of an operation that arrived last in a replay.
func (p *replay) lastMessage(op int32) int32 {
	last := p.m.b.first[op]
	for x := last; x >= 0; x = p.m.b.next[x] {
		if p.done[x] > p.done[last] {
			last = x
		}
	}
	return last
}

var _ exec.Carrier = (*replay)(nil)
