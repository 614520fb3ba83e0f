package explain

import (
	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/unit"
)

// floor is how long the busiest link of a collective needs for all that the collective
// sends over it. Whoever ends last: no cause that is taken away makes it end sooner, so
// pauses, held rates and losses cost no more than what it took beyond.
type floor struct {
	time  unit.Time
	port  int32
	flows int
	cause cause.ID
}

// loads sums up bytes by link, and remembers which links it has touched.
type loads struct {
	bytes   []float64
	flows   []int
	touched []int32
}

func newLoads(n int) *loads { return &loads{bytes: make([]float64, n), flows: make([]int, n)} }

func (l *loads) add(at int32, b float64) {
	if l.flows[at] == 0 {
		l.touched = append(l.touched, at)
	}
	l.bytes[at] += b
	l.flows[at]++
}

// each calls f for every link that was touched, and forgets them.
func (l *loads) each(f func(at int32, bytes unit.Bytes, flows int)) {
	for _, at := range l.touched {
		f(at, unit.Bytes(l.bytes[at]), l.flows[at])
		l.bytes[at], l.flows[at] = 0, 0
	}
	l.touched = l.touched[:0]
}

// collLoads are a collective's.
type collLoads struct{ out, in, sets, ports *loads }

func (b *blamer) newCollLoads() *collLoads {
	nics := len(b.r.graph.NICs)
	return &collLoads{newLoads(nics), newLoads(nics), newLoads(len(b.share.sets)),
		newLoads(len(b.share.carried))}
}

// floorOf finds a collective's busiest link.
func (b *blamer) floorOf(c int32) (top floor) {
	top.port = -1
	if c < 0 {
		return top
	}
	l := b.loads
	for i := b.ops[c][0]; i < b.ops[c][1]; i++ {
		if b.r.dag.Ops[i].Coll != c {
			continue
		}
		for m := b.first[i]; m >= 0; m = b.next[m] {
			b.load(l, m)
		}
	}
	consider := func(d unit.Time, port int32, flows int, id cause.ID) {
		if d > top.time {
			top = floor{d, port, flows, id}
		}
	}
	pcie := func(nic int32, bytes unit.Bytes, flows int) {
		if b.r.pcieOf(nic) > 0 {
			consider(unit.Serialize(bytes, b.share.pcieRate(nic)), b.cableOf(nic), flows, cause.PCIe)
		}
	}
	l.out.each(func(nic int32, bytes unit.Bytes, flows int) {
		to := cause.LineRate
		if b.r.dag.Colls[c].Kind == coll.SendRecv {
			to = cause.SharedNIC
		}
		consider(unit.Serialize(bytes, b.r.nicRate(nic)), b.cableOf(nic), flows, to)
		pcie(nic, bytes, flows)
	})
	l.in.each(func(nic int32, bytes unit.Bytes, flows int) {
		consider(unit.Serialize(bytes, b.r.nicRate(nic)), b.cableOf(nic), flows, cause.Incast)
		pcie(nic, bytes, flows)
	})
	l.sets.each(func(s int32, bytes unit.Bytes, flows int) {
		consider(unit.Serialize(bytes, b.share.sets[s].rate), b.share.sets[s].port, flows, cause.Oversubscription)
	})
	l.ports.each(func(p int32, bytes unit.Bytes, flows int) {
		consider(unit.Serialize(bytes, b.r.rate(p)), p, flows, cause.Collision)
	})
	return top
}

// load enters a message at the links it crosses.
func (b *blamer) load(l *collLoads, m int32) {
	msg := &b.r.seen.Messages[m]
	wire := float64(b.r.wireBytes(msg.Bytes))
	src, dst := b.r.seen.peers(msg.Conn)
	l.out.add(src, wire)
	l.in.add(dst, wire)
	path := &b.share.path[msg.Conn]
	for _, s := range b.share.routes[path.route].sets {
		l.sets.add(s, wire)
	}
	for i, p := range path.ports {
		share := 1.0
		if path.shares != nil {
			share = path.shares[i]
		}
		l.ports.add(p, wire*share)
	}
}

// avoidable are the causes that cost no more than what a collective took longer than its busiest link needs.
var avoidable = [...]cause.ID{cause.Pause, cause.Window, cause.Credit, cause.Trimmed, cause.Reordering,
	cause.Retransmission, cause.Recovering}

// limit gives back what a collective's row blames on pauses, held rates and losses beyond
// what it took longer than its busiest link needs, and books that to the link.
func (b *blamer) limit(row *result.CollectiveRow, took unit.Time, f *floor) {
	sum := int64(0)
	var parts []*int64
	for _, id := range avoidable {
		parts = append(parts, &row.Lost.Own[id])
	}
	for i := range row.Lost.Reaction {
		parts = append(parts, &row.Lost.Reaction[i])
	}
	for _, p := range parts {
		sum += *p
	}
	d := int64(f.time) - (int64(took) - sum)
	if d <= 0 || f.time > took {
		return
	}
	left, top := d, int64(0)
	for _, p := range parts {
		x := int64(float64(*p) * float64(d) / float64(sum))
		*p -= x
		left -= x
	}
	for _, p := range parts { // what rounding left
		x := min(left, *p)
		*p -= x
		left -= x
		top = max(top, *p)
	}
	to := &row.Lost.Own[f.cause]
	if *to += d - left; *to >= top {
		row.Port, b.shared, b.earlier = f.port, f.flows, false
	}
}
