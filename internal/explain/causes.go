package explain

import (
	"railyard/internal/cause"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// maxCollectiveRows bounds the table of collectives.
const maxCollectiveRows = 100_000

// blamer splits what operations took beyond line rate into causes.
type blamer struct {
	r        *reading
	share    *sharing
	pauses   pauseIndex
	flows    map[int32]int // queue pairs that waited at a port
	senders  map[int32]map[int32]bool
	ops      [][2]int  // by collective: its first operation and the one behind its last
	first    []int32   // by operation: its first message, -1 for none
	next     []int32   // by message: the operation's next one
	late     unit.Time // what the wait for answers took of what is blamed on packets sent again
	timeouts int32     // and how many of those ended in the local ACK timeout
	earlier  bool      // the transfer that lost most was slow because of what its queue pair met before
	shared   int       // flows at the port where it lost most
	loads    *collLoads
	spare    unit.Time // what of its time at line rate the chain's own bytes do not take
}

func (r *reading) newBlamer() *blamer {
	b := &blamer{r: r, share: r.newSharing(), pauses: r.pauseIntervals(), flows: map[int32]int{},
		senders: map[int32]map[int32]bool{},
		first:   make([]int32, len(r.dag.Ops)), next: make([]int32, len(r.seen.Messages))}
	r.eachWait(func(w Wait) {
		if w.Total > 0 {
			b.flows[w.Port]++
			if b.senders[w.Port] == nil {
				b.senders[w.Port] = map[int32]bool{}
			}
			src, _ := r.seen.peers(w.Conn)
			b.senders[w.Port][src] = true
		}
	})
	b.loads = b.newCollLoads()
	b.ops = make([][2]int, len(r.dag.Colls))
	for i := range b.first {
		b.first[i] = -1
		if c := r.dag.Ops[i].Coll; c >= 0 {
			if b.ops[c][1] == 0 {
				b.ops[c][0] = i
			}
			b.ops[c][1] = i + 1
		}
	}
	for m := len(r.seen.Messages) - 1; m >= 0; m-- {
		op := r.seen.Messages[int32(m)].Op
		b.next[m], b.first[op] = b.first[op], int32(m)
	}
	return b
}

// causes fills the table of collectives. It reports whether it had to stop.
func (b *blamer) causes(t *result.Tables) (cut bool) {
	n := len(b.r.dag.Colls)
	from, last, whole := make([]unit.Time, n), make([]int32, n), make([]bool, n)
	for i := range from {
		from[i], last[i], whole[i] = unit.Never, -1, true
	}
	for i := range b.r.dag.Ops {
		c := b.r.dag.Ops[i].Coll
		if c < 0 {
			continue
		}
		switch {
		case b.r.exec.End[i] == unit.Never:
			whole[c] = false
		default:
			if from[c] = min(from[c], b.r.exec.Start[i]); last[c] < 0 ||
				b.r.exec.End[i] > b.r.exec.End[last[c]] {
				last[c] = int32(i)
			}
		}
	}
	for c := range from {
		if last[c] < 0 || !whole[c] {
			continue
		}
		if len(t.Collectives) >= maxCollectiveRows {
			return true
		}
		t.Collectives = append(t.Collectives, b.collective(int32(c), from[c], last[c]))
	}
	return false
}

// bound is what a collective takes at line rate if its fullest NIC sends all the time: 0
// for transfers that are no collective, each of which would have the NIC to itself.
func (b *blamer) bound(c int32) (bound unit.Time) {
	if c < 0 || b.r.dag.Colls[c].Kind == coll.SendRecv {
		return 0
	}
	sent := map[int32]unit.Bytes{}
	for i := b.ops[c][0]; i < b.ops[c][1]; i++ {
		if o := &b.r.dag.Ops[i]; o.Coll == c && !o.Compute() && b.first[i] >= 0 {
			src, _ := b.r.seen.peers(b.r.seen.Messages[b.first[i]].Conn)
			sent[src] += b.r.wireBytes(o.Bytes)
			bound = max(bound, unit.Serialize(sent[src], b.r.nicRate(src)))
		}
	}
	return bound
}

// link is one piece of a chain of operations, each of which waited for the one before.
type piece struct {
	op, message int32 // message: -1 for a computation, or inside a server
	from, to    unit.Time
}

// chain walks back from an operation's end to a time: to what set it free, or, where a
// message had to wait for older ones of its queue pair, to the last of those. Only is
// the collective whose messages count for that, -1 for all.
func (b *blamer) chain(last int32, from unit.Time, only int32) (pieces []piece) {
	at := piece{op: last, message: b.lastMessage(last), from: b.r.exec.Start[last], to: b.r.exec.End[last]}
	for {
		older := int32(-1)
		if at.message >= 0 {
			older = b.share.older(at.message)
		}
		if older >= 0 && (only < 0 || b.r.dag.Ops[b.r.seen.Messages[older].Op].Coll == only) {
			at.from = b.share.done(older)
			pieces = append(pieces, at)
			op := b.r.seen.Messages[older].Op
			at = piece{op: op, message: older, from: b.r.exec.Start[op], to: b.share.done(older)}
			continue
		}
		pieces = append(pieces, at)
		op := b.r.exec.Cause[at.op]
		if op < 0 || at.from <= from {
			return pieces
		}
		at = piece{op: op, message: b.lastMessage(op), from: b.r.exec.Start[op], to: b.r.exec.End[op]}
	}
}

// lastMessage is the message of an operation that was delivered last.
func (b *blamer) lastMessage(op int32) int32 {
	last := b.first[op]
	for m := last; m >= 0; m = b.next[m] {
		if b.r.seen.Messages[m].Done > b.r.seen.Messages[last].Done {
			last = m
		}
	}
	return last
}

// collective walks the chain of transfers that ended last back to where it began.
func (b *blamer) collective(c int32, from unit.Time, last int32) result.CollectiveRow {
	k := &b.r.dag.Colls[c]
	row := result.CollectiveRow{Instance: c, Name: k.Name, Kind: k.Kind.String(), Class: k.Class.String(),
		Ranks: int32(len(k.Ranks)), FirstRank: int32(k.Ranks[0]), Bytes: int64(k.Bytes),
		Start: int64(from), End: int64(b.r.exec.End[last]), Port: -1, At: int64(from),
		Job: b.r.jobName(b.r.exec.Work.OfCollective(c))}
	chain := b.chain(last, from, c)
	b.earlier, b.shared, b.late, b.timeouts, b.spare = false, 0, 0, 0, b.bound(c)
	for _, p := range chain {
		if b.r.dag.Ops[p.op].Coll == c {
			b.spare -= b.measure(p).line
		}
	}
	t, worst := b.r.exec.End[last], unit.Time(0)
	for _, p := range chain {
		o := &b.r.dag.Ops[p.op]
		if t <= from {
			break
		}
		switch {
		case o.Coll == c:
			if lost := b.transfer(&row, p, worst); lost > worst {
				worst, row.At = lost, int64(p.from)
			}
		case b.synchronises(o, c):
			row.Lost.Own[cause.Latency] += int64(t - max(p.from, from))
		default:
			row.Lost.Own[cause.LateRank] += int64(t - from)
			t = from
			continue
		}
		t = p.from
	}
	row.Lost.Own[cause.LateRank] += int64(max(t-from, 0))
	f := b.floorOf(c)
	b.limit(&row, unit.Time(row.End-row.Start), &f)
	row.Why = b.explain(&row)
	return row
}

// synchronises reports whether an operation is a wait by which a collective's protocol
// synchronises. Before single transfers it is a rank that starts later, or computes.
func (b *blamer) synchronises(o *workload.Op, next int32) bool {
	return o.Compute() && o.Class == workload.Other && next >= 0 && b.r.dag.Colls[next].Kind != coll.SendRecv
}

// alone is what a transfer would have taken without any other: its time on the line and
// its latency, and for one that changed rails first the NVLink there.
type alone struct {
	line, latency, relay unit.Time
}

func (b *blamer) measure(p piece) (a alone) {
	o := &b.r.dag.Ops[p.op]
	took := p.to - p.from
	if p.message < 0 {
		line, latency := b.r.exec.Alone(int(o.Rank), int(o.Peer), o.Bytes)
		a.line = min(line, took)
		a.latency = min(latency, took-a.line)
		return a
	}
	parts := unit.Rate(0)
	for x := b.first[p.op]; x >= 0; x = b.next[x] {
		parts++
	}
	msg := &b.r.seen.Messages[p.message]
	src, _ := b.r.seen.peers(msg.Conn)
	path := b.share.cost(msg.Conn)
	a.relay = max(0, min(msg.Posted, p.to)-p.from)
	took -= a.relay
	nics := b.r.nicRate(src) * min(parts, unit.Rate(b.r.graph.Ways(int(o.Rank)))) // those of a GPU are alike
	a.line = min(unit.Serialize(b.r.wireBytes(o.Bytes), min(nics, path.rate*parts)), took)
	a.latency = min(path.latency, took-a.line)
	return a
}

// transfer books one transfer of a chain and returns what it lost to others.
func (b *blamer) transfer(row *result.CollectiveRow, p piece, worst unit.Time) unit.Time {
	a := b.measure(p)
	own := &row.Lost.Own
	own[cause.LineRate] += int64(a.line)
	own[cause.Latency] += int64(a.latency)
	lost := p.to - p.from - a.relay - a.line - a.latency
	if p.message < 0 {
		own[cause.SharedNIC] += int64(lost)
		return lost
	}
	if a.relay > 0 {
		o := &b.r.dag.Ops[p.op]
		from := int(o.Rank)
		line, latency := b.r.exec.Alone(from, b.r.exec.Relay(from, int(o.Peer)), o.Bytes)
		d := min(a.relay, line+latency)
		own[cause.Latency] += int64(d)
		own[cause.SharedNIC] += int64(a.relay - d)
	}
	if lost <= 0 {
		return 0
	}
	booked, beyond := b.split(row, p, a, lost)
	if beyond > worst {
		row.Port, b.shared, b.earlier = booked.port, booked.flows, b.r.trouble(p.message).Earlier
	}
	return beyond
}

// step sums up where the time since a start went, of the operations that the end of the last
// one waited for.
func (b *blamer) step(last int32, start unit.Time) *cause.Account {
	chain := b.chain(last, start, -1)
	spare := map[int32]unit.Time{}
	for _, p := range chain {
		if o := &b.r.dag.Ops[p.op]; !o.Compute() {
			if _, ok := spare[o.Coll]; !ok {
				spare[o.Coll] = b.bound(o.Coll)
			}
			spare[o.Coll] -= b.measure(p).line
		}
	}
	sum := &cause.Account{}
	sum.Own[cause.Compute] = int64(chain[len(chain)-1].from - start)
	rows, took := map[int32]*result.CollectiveRow{}, map[int32]unit.Time{}
	var order []int32
	next := int32(-1) // the collective of what came after
	for _, p := range chain {
		o := &b.r.dag.Ops[p.op]
		c := o.Coll
		if b.synchronises(o, next) {
			c = next
		}
		row := rows[c]
		if row == nil {
			row = &result.CollectiveRow{}
			rows[c], order = row, append(order, c)
		}
		switch took[c] += p.to - p.from; {
		case !o.Compute():
			b.spare = spare[c]
			b.transfer(row, p, unit.Never)
			spare[c] = b.spare
		case c >= 0:
			row.Lost.Own[cause.Latency] += int64(p.to - p.from)
		default:
			sum.Own[cause.Compute] += int64(p.to - p.from)
		}
		next = o.Coll
	}
	for _, c := range order {
		row, f := rows[c], b.floorOf(c)
		b.limit(row, took[c], &f)
		sum.Add(&row.Lost)
	}
	return sum
}
