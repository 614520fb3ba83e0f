package explain

import (
	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// bound returns the bus bandwidth at which the busiest NIC or NVLink pipe of a collective would be busy all the
// time. It also returns the rate of that resource in bytes/s, and its kind. The bound follows from the collective's
// transfers, so it is valid for rings over one NIC of a server or over all of them, for trees and for plain flows.
func (b *bounds) bound(c *workload.Collective, ops []int32) (bus, full float64, why string) {
	r := b.r
	b.touched = b.touched[:0]
	for _, i := range ops {
		o := &r.dag.Ops[i]
		src, dst := int(o.Rank), int(o.Peer)
		if r.exec.Local(src, dst) {
			b.inside(src, dst, o.Bytes)
			continue
		}
		if relay := r.exec.Relay(src, dst); relay != src {
			b.inside(src, relay, o.Bytes)
			src = relay
		}
		b.overNICs(src, dst, o.Bytes)
	}
	longest := unit.Time(0)
	for _, x := range b.touched {
		kind, rate := "NIC", unit.Rate(0)
		if pipe := x - b.pipes; pipe < 0 {
			rate = b.nominalRate(x / 2)
		} else {
			kind, rate = r.exec.PipeKind(pipe), r.exec.PipeRate(pipe)
		}
		if t := unit.Serialize(b.load[x], rate); t > longest || t == longest && kind == "NIC" {
			longest, full, why = t, float64(rate)/8, kind
		}
		b.load[x] = 0
	}
	if longest == 0 {
		return 0, 0, why
	}
	return float64(c.Bytes) / longest.Seconds() * c.Kind.BusFactor(len(c.Ranks)), full, why
}

// overNICs books a transfer between servers. A GPU's own NICs carry the parts of its transfers in turn; a short
// transfer has fewer parts than NICs.
func (b *bounds) overNICs(src, dst int, bytes unit.Bytes) {
	g := b.r.graph
	ways := max(g.Ways(src), g.Ways(dst))
	if ways == 1 && !g.Stored(src, dst) {
		b.add(g.NICOf[src], g.NICOf[dst], bytes)
		return
	}
	n := unit.Bytes(max(b.r.plan.QPs, ways))
	n = max(1, min(n, bytes/unit.Bytes(b.r.seen.Rules.MTU)))
	for q := range n {
		from, to := g.Pair(src, dst, int(q))
		b.add(from, to, bytes*(q+1)/n-bytes*q/n)
	}
}

// bounds adds up a collective's bytes per pipe: two per NIC, out and in, and from index pipes on those inside the
// servers.
type bounds struct {
	r       *reading
	pipes   int32
	load    []unit.Bytes
	touched []int32
	way     [exec.MaxWay]int32
	kinds   []unit.Rate // of links; from Graph.KindRates
}

func newBounds(r *reading) *bounds {
	n := 2 * len(r.graph.NICs)
	return &bounds{r: r, pipes: int32(n), load: make([]unit.Bytes, n+r.exec.Pipes()),
		kinds: r.graph.KindRates()}
}

// nominalRate is the rate of the ports of a NIC without faults: a slow or failed port is a cause of the account and
// lowers no bound.
func (b *bounds) nominalRate(nic int32) (rate unit.Rate) {
	for _, l := range b.r.graph.NICs[nic].Links {
		rate += b.kinds[l]
	}
	return rate
}

// add books a transfer between two NICs.
func (b *bounds) add(from, to int, bytes unit.Bytes) {
	b.book(int32(2*from), bytes)
	b.book(int32(2*to+1), bytes)
}

// inside books a transfer within a server.
func (b *bounds) inside(from, to int, bytes unit.Bytes) {
	for _, pipe := range b.r.exec.Way(from, to, b.way[:]) {
		b.book(b.pipes+pipe, bytes)
	}
}

func (b *bounds) book(x int32, bytes unit.Bytes) {
	if b.load[x] == 0 && bytes > 0 {
		b.touched = append(b.touched, x)
	}
	b.load[x] += bytes
}

// busiestNIC returns the NIC that needs longest for the payload of its complete messages; nil without messages.
func (r *reading) busiestNIC() (most *result.BusiestNIC) {
	card := map[string]int{} // of separate ports, the first
	of := make([]int, len(r.graph.NICs))
	rates, kinds, repaired := make([]unit.Rate, len(of)), r.graph.KindRates(), make([]unit.Rate, len(of))
	for i := range of {
		name := r.graph.CardName(i)
		if _, known := card[name]; !known {
			card[name] = i
		}
		of[i] = card[name]
		rates[of[i]] += r.workingRate(int32(i))
		for _, l := range r.graph.NICs[i].Links {
			repaired[of[i]] += kinds[l]
		}
	}
	least := int64(0)
	payload := make([][2]unit.Bytes, len(of)) // sent, received
	for i := range r.seen.Messages {
		if m := &r.seen.Messages[i]; m.Done > 0 && !r.exec.Work.Background(m.Op) {
			from, to := r.seen.peers(m.Conn)
			payload[of[from]][0] += m.Bytes
			payload[of[to]][1] += m.Bytes
		}
	}
	for i := range payload {
		for way, bytes := range payload[i] {
			if bytes == 0 || rates[i] == 0 {
				continue
			}
			least = max(least, int64(unit.Serialize(bytes, repaired[i])))
			if t := int64(unit.Serialize(bytes, rates[i])); most == nil || t > most.Time {
				most = &result.BusiestNIC{Name: r.graph.CardName(i), Receives: way == 1, Bytes: int64(bytes),
					Rate: int64(rates[i]), Time: t}
			}
		}
	}
	if most != nil {
		most.Repaired = least
	}
	return most
}

// nicRate is the rate of all ports of a NIC.
func (r *reading) nicRate(nic int32) (rate unit.Rate) {
	for _, l := range r.graph.NICs[nic].Links {
		rate += r.best(l)
	}
	return rate
}

// workingRate is the rate of the ports of a NIC without those that are down during the whole run.
func (r *reading) workingRate(nic int32) (rate unit.Rate) {
	for _, l := range r.graph.NICs[nic].Links {
		if !r.lives.dead(l) {
			rate += r.best(l)
		}
	}
	return rate
}

// byCollective lists the transfers of each collective.
func (r *reading) byCollective() func(coll int) []int32 {
	first := make([]int32, len(r.dag.Colls)+1)
	for i := range r.dag.Ops {
		if o := &r.dag.Ops[i]; o.Coll >= 0 && !o.Compute() {
			first[o.Coll+1]++
		}
	}
	for c := range r.dag.Colls {
		first[c+1] += first[c]
	}
	ops, at := make([]int32, first[len(r.dag.Colls)]), append([]int32(nil), first...)
	for i := range r.dag.Ops {
		if o := &r.dag.Ops[i]; o.Coll >= 0 && !o.Compute() {
			ops[at[o.Coll]] = int32(i)
			at[o.Coll]++
		}
	}
	return func(c int) []int32 { return ops[first[c]:first[c+1]] }
}
