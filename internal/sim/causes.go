package sim

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// maxCollectiveRows bounds the table of collectives.
const maxCollectiveRows = 100_000

// blamer splits what collectives took beyond line rate into causes.
type blamer struct {
	*Run
	pauses  pauseIndex
	flows   map[int32]int // queue pairs that waited at a port
	senders map[int32]map[int32]bool
	first   []int32              // by operation: its first message, -1 for none
	next    []int32              // by message: the operation's next one
	earlier bool                 // the transfer that lost most was slow because of what its queue pair met before
	own     map[int32]unit.Bytes // what each NIC sends of the collective at hand
	spare   unit.Time            // what of its time at line rate the chain's own bytes do not take
}

func (r *Run) newBlamer() *blamer {
	b := &blamer{Run: r, pauses: r.pauseIntervals(), flows: map[int32]int{}, senders: map[int32]map[int32]bool{}, own: map[int32]unit.Bytes{},
		first: make([]int32, len(r.DAG.Ops)), next: make([]int32, len(r.MessageOp))}
	r.Net.Waits.Each(func(w fabric.Wait) {
		if w.Total > 0 {
			b.flows[w.Port]++
			if b.senders[w.Port] == nil {
				b.senders[w.Port] = map[int32]bool{}
			}
			src, _ := r.Hosts.Peers(w.QP)
			b.senders[w.Port][src] = true
		}
	})
	for i := range b.first {
		b.first[i] = -1
	}
	for m := len(r.MessageOp) - 1; m >= 0; m-- {
		b.next[m], b.first[r.MessageOp[m]] = b.first[r.MessageOp[m]], int32(m)
	}
	return b
}

// causes fills the table of collectives. It reports whether it had to stop.
func (r *Run) causes(t *result.Tables) (cut bool) {
	n := len(r.DAG.Colls)
	from, last, whole, ops := make([]unit.Time, n), make([]int32, n), make([]bool, n), make([][2]int, n)
	for i := range from {
		from[i], last[i], whole[i], ops[i][0] = unit.Never, -1, true, len(r.DAG.Ops)
	}
	for i := range r.DAG.Ops {
		c := r.DAG.Ops[i].Coll
		if c < 0 {
			continue
		}
		ops[c] = [2]int{min(ops[c][0], i), i + 1}
		switch {
		case r.end[i] == unit.Never:
			whole[c] = false
		default:
			if from[c] = min(from[c], r.start[i]); last[c] < 0 || r.end[i] > r.end[last[c]] {
				last[c] = int32(i)
			}
		}
	}
	b := r.newBlamer()
	for c := range from {
		if last[c] < 0 || !whole[c] {
			continue
		}
		if len(t.Collectives) >= maxCollectiveRows {
			return true
		}
		bound := b.sent(int32(c), ops[c][0], ops[c][1])
		t.Collectives = append(t.Collectives, b.collective(int32(c), from[c], last[c], bound))
	}
	return false
}

// sent sums up what each NIC sends of a collective, whose operations lie between two
// numbers, and returns how long the NIC with most takes at line rate: 0 for transfers
// that are no collective, each of which would have the NIC to itself.
func (b *blamer) sent(c int32, from, to int) (bound unit.Time) {
	clear(b.own)
	if b.DAG.Colls[c].Kind == coll.SendRecv {
		return 0
	}
	for i := from; i < to; i++ {
		if o := &b.DAG.Ops[i]; o.Coll == c && !o.Compute() && b.first[i] >= 0 {
			src, _ := b.Hosts.Peers(b.Hosts.Messages[b.first[i]].Conn)
			b.own[src] += b.wireBytes(o.Bytes)
			bound = max(bound, unit.Serialize(b.own[src], b.nicRate(src)))
		}
	}
	return bound
}

// nicRate is the rate of all links of a NIC.
func (b *blamer) nicRate(nic int32) (sum unit.Rate) {
	for _, l := range b.Graph.NICs[nic].Links {
		sum += b.Graph.Links[l].Rate
	}
	return sum
}

// maxCriticalRows bounds the table of the critical path.
const maxCriticalRows = 50_000

// critical follows the operation that ended last back to the beginning.
func (r *Run) critical(t *result.Tables) {
	last := int32(-1)
	for i := range r.DAG.Ops {
		if r.end[i] != unit.Never && (last < 0 || r.end[i] >= r.end[last]) {
			last = int32(i)
		}
	}
	for op := last; op >= 0 && len(t.Critical) < maxCriticalRows; op = r.cause[op] {
		o := &r.DAG.Ops[op]
		t.Critical = append(t.Critical, result.CriticalRow{Start: int64(r.start[op]), End: int64(r.end[op]), Rank: o.Rank, Peer: o.Peer, Class: o.Class.String()})
	}
	slices.Reverse(t.Critical)
}

// collective walks the chain of transfers that ended last back to where it began. Bound
// is what the collective takes at line rate if its NICs send all the time.
func (b *blamer) collective(c int32, from unit.Time, last int32, bound unit.Time) result.CollectiveRow {
	k := &b.DAG.Colls[c]
	row := result.CollectiveRow{Instance: c, Name: k.Name, Kind: k.Kind.String(), Class: k.Class.String(), Ranks: int32(len(k.Ranks)), FirstRank: int32(k.Ranks[0]), Bytes: int64(k.Bytes),
		Start: int64(from), End: int64(b.end[last]), Port: -1, At: int64(from)}
	t, worst := b.end[last], unit.Time(0)
	b.earlier, b.spare = false, bound
	for op := last; op >= 0 && b.start[op] >= from; op = b.cause[op] {
		if b.DAG.Ops[op].Coll == c {
			b.spare -= b.measure(op).line
		}
	}
	for op := last; op >= 0 && t > from; op = b.cause[op] {
		o := &b.DAG.Ops[op]
		switch {
		case o.Coll == c:
			if lost := b.transfer(&row, op, worst); lost > worst {
				worst, row.At = lost, int64(b.start[op])
			}
		case o.Compute() && o.Class == workload.Other: // a protocol's synchronisation
			row.Latency += int64(b.end[op] - b.start[op])
		default:
			row.Late += int64(t - from)
			t = from
			continue
		}
		t = b.start[op]
	}
	row.Late += int64(max(t-from, 0))
	row.Why = b.explain(&row)
	return row
}

// alone is what a transfer would have taken without any other: its time on the line and
// its latency; of a transfer between servers also its message that was delivered last.
type alone struct {
	line, latency unit.Time
	message       int32 // -1 inside a server
}

func (b *blamer) measure(op int32) (a alone) {
	o := &b.DAG.Ops[op]
	took := b.end[op] - b.start[op]
	if a.message = b.first[op]; a.message < 0 {
		a.line = min(unit.Serialize(o.Bytes, b.NVLink.Rate), took)
		a.latency = min(b.NVLink.Latency, took-a.line)
		return a
	}
	parts := unit.Rate(0)
	for x := a.message; x >= 0; x = b.next[x] {
		if parts++; b.Hosts.Messages[x].Done > b.Hosts.Messages[a.message].Done {
			a.message = x
		}
	}
	src, dst := b.Hosts.Peers(b.Hosts.Messages[a.message].Conn)
	rate, path := b.pathOf(int(src), int(dst))
	a.line = min(unit.Serialize(b.wireBytes(o.Bytes), min(b.nicRate(src), rate*parts)), took)
	a.latency = min(path+2*b.Host.Latency, took-a.line)
	return a
}

// transfer books one transfer of a chain and returns what it lost to others.
func (b *blamer) transfer(row *result.CollectiveRow, op int32, worst unit.Time) unit.Time {
	a := b.measure(op)
	lost := b.end[op] - b.start[op] - a.line - a.latency
	row.Ideal, row.Latency = row.Ideal+int64(a.line), row.Latency+int64(a.latency)
	if a.message < 0 {
		row.SharedNIC += int64(lost)
		return lost
	}
	if lost <= 0 {
		return 0
	}
	lost, port := b.split(row, a.message, op, lost)
	if lost > worst {
		row.Port, b.earlier = port, b.troubles.all[a.message].earlier
	}
	return lost
}

// split books what a transfer took beyond its own bytes and latency, by what its last
// message met: to line rate as long as its NIC sent the rest of the collective; to
// pauses as long as its path was paused; to the NIC as long as that sent other things;
// to packets sent again by their share; and the rest to the queue in which its packets
// waited most, which also made congestion control slow it down. Where there was none,
// the rest is latency. It returns what was beyond line rate, and the port to blame.
func (b *blamer) split(row *result.CollectiveRow, m, op int32, lost unit.Time) (beyond unit.Time, port int32) {
	msg, met := &b.Hosts.Messages[m], &b.troubles.all[m]
	largest := unit.Time(0)
	book := func(to *int64, d unit.Time, at int32) {
		d = max(0, min(d, lost))
		*to += int64(d)
		if lost -= d; d > largest {
			largest, port = d, at
		}
	}
	src, _ := b.Hosts.Peers(msg.Conn)
	nic := b.nicPort(msg.Conn)
	wire := b.wireBytes(b.DAG.Ops[op].Bytes)
	others := max(0, unit.Bytes(met.sent)-wire)
	same := min(others, max(0, b.own[src]-wire))
	whole := max(0, min(b.spare, unit.Serialize(same, b.nicRate(src))))
	b.spare -= min(whole, lost)
	row.Ideal += int64(min(whole, lost))
	lost -= min(whole, lost)
	beyond, port = lost, nic
	paused, at := b.paused(msg.Conn, op)
	book(&row.Pause, paused, at)
	book(&row.SharedNIC, unit.Serialize(others-same, b.nicRate(src)), nic)
	if again := float64(met.again); again > 0 {
		sent := float64(msg.Bytes)/float64(b.Host.RC.MTU) + again
		book(&row.Retrans, unit.Time(float64(lost)*again/sent), nic)
	}
	top := met.port
	if top < 0 && !met.sampled { // too short for a sample: where its queue pair waits at other times
		if w := b.worstQueue(msg.Conn); w != nil {
			top = w.Port
		}
	}
	switch {
	case top < 0 || b.flows[top] < 2:
		book(&row.Latency, lost, nic)
	case b.Graph.Nodes[b.Net.Ports[b.Net.Ports[top].Peer].Node].Role == topo.Host && len(b.senders[top]) > 1:
		book(&row.Incast, lost, top)
	default:
		book(&row.Collision, lost, top)
	}
	return beyond, port
}

// paused is how long a transfer's path was paused, and at which port longest.
func (b *blamer) paused(conn, op int32) (sum unit.Time, port int32) {
	sum, port = b.pauses.overlap(b.nicPort(conn), b.start[op], b.end[op]), b.nicPort(conn)
	b.Net.Waits.Of(conn, func(w fabric.Wait) {
		if d := b.pauses.overlap(w.Port, b.start[op], b.end[op]); d > sum || d == sum && w.Port < port {
			sum, port = d, w.Port
		}
	})
	return sum, port
}

// explain says the largest part in a sentence.
func (b *blamer) explain(row *result.CollectiveRow) string {
	took := unit.Time(row.End - row.Start)
	gap := took - unit.Time(row.Ideal)
	if gap <= 0 {
		return "at line rate"
	}
	port, shared := "the network", 0
	if row.Port >= 0 {
		port, shared = b.PortName(row.Port), b.flows[row.Port]
	}
	before := ""
	if b.earlier {
		before = "; that was earlier, congestion control has not given the rate back"
	}
	parts := []struct {
		ps   int64
		text string
	}{
		{row.Latency, "latency of its chain of transfers: propagation, switches, NICs and NVLink"},
		{row.Collision, fmt.Sprintf("%d flows share the link %s, where hashing or the topology put them together%s", shared, port, before)},
		{row.Incast, fmt.Sprintf("incast: %d flows from different senders end at %s%s", shared, port, before)},
		{row.Pause, fmt.Sprintf("PFC paused %s%s", port, b.root(row.Port))},
		{row.Retrans, "packets that were sent again"},
		{row.SharedNIC, "other transfers of the same NIC or NVLink port were served meanwhile"},
		{row.Late, "a rank came later than the first one"},
	}
	top := parts[0]
	for _, p := range parts[1:] {
		if p.ps > top.ps {
			top = p
		}
	}
	return fmt.Sprintf("%v of the %v beyond line rate: %s", unit.Time(top.ps), gap, top.text)
}

// root names whose congestion paused a port.
func (b *blamer) root(port int32) string {
	if port < 0 {
		return ""
	}
	if chain := b.pauseChain(port); len(chain) > 0 {
		return ", root " + chain[len(chain)-1]
	}
	return ""
}
