package sim

import (
	"fmt"
	"slices"

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
	waits   map[int32][]fabric.Wait // by queue pair
	flows   map[int32]int           // queue pairs that waited at a port
	senders map[int32]map[int32]bool
	first   []int32 // by operation: its first message, -1 for none
	next    []int32 // by message: the operation's next one
}

func (r *Run) newBlamer() *blamer {
	b := &blamer{Run: r, pauses: r.pauseIntervals(), waits: map[int32][]fabric.Wait{}, flows: map[int32]int{}, senders: map[int32]map[int32]bool{},
		first: make([]int32, len(r.DAG.Ops)), next: make([]int32, len(r.MessageOp))}
	r.Net.Waits.Each(func(w fabric.Wait) {
		b.waits[w.QP] = append(b.waits[w.QP], w)
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
	from, last, whole := make([]unit.Time, n), make([]int32, n), make([]bool, n)
	for i := range from {
		from[i], last[i], whole[i] = unit.Never, -1, true
	}
	for i := range r.DAG.Ops {
		c := r.DAG.Ops[i].Coll
		switch {
		case c < 0:
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
		t.Collectives = append(t.Collectives, b.collective(int32(c), from[c], last[c]))
	}
	return false
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

// collective walks the chain of transfers that ended last back to where it began.
func (b *blamer) collective(c int32, from unit.Time, last int32) result.CollectiveRow {
	k := &b.DAG.Colls[c]
	row := result.CollectiveRow{Instance: c, Name: k.Name, Kind: k.Kind.String(), Class: k.Class.String(), Ranks: int32(len(k.Ranks)), FirstRank: int32(k.Ranks[0]), Bytes: int64(k.Bytes),
		Start: int64(from), End: int64(b.end[last]), Port: -1, At: int64(from)}
	t, worst := b.end[last], unit.Time(0)
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

// transfer books one transfer of a chain and returns what it lost beyond its ideal.
func (b *blamer) transfer(row *result.CollectiveRow, op int32, worst unit.Time) unit.Time {
	o := &b.DAG.Ops[op]
	took := b.end[op] - b.start[op]
	m := b.first[op]
	if m < 0 { // inside a server
		line := min(unit.Serialize(o.Bytes, b.NVLink.Rate), took)
		latency := min(b.NVLink.Latency, took-line)
		row.Ideal, row.Latency, row.SharedNIC = row.Ideal+int64(line), row.Latency+int64(latency), row.SharedNIC+int64(took-line-latency)
		return took - line - latency
	}
	late, parts := m, unit.Rate(0)
	for x := m; x >= 0; x = b.next[x] {
		if parts++; b.Hosts.Messages[x].Done > b.Hosts.Messages[late].Done {
			late = x
		}
	}
	conn := b.Hosts.Messages[late].Conn
	src, dst := b.Hosts.Peers(conn)
	rate, path := b.pathOf(int(src), int(dst))
	nic := unit.Rate(0)
	for _, l := range b.Graph.NICs[src].Links {
		nic += b.Graph.Links[l].Rate
	}
	line := min(unit.Serialize(b.wireBytes(o.Bytes), min(nic, rate*parts)), took)
	latency := min(path+2*b.Host.Latency, took-line)
	row.Ideal, row.Latency = row.Ideal+int64(line), row.Latency+int64(latency)
	lost := took - line - latency
	if lost > 0 {
		port := b.split(row, conn, op, lost)
		if lost > worst {
			row.Port = port
		}
	}
	return lost
}

// split books what a transfer lost: to pauses as long as its path was paused, to
// packets sent again by their share, and the rest to the queue in which its packets
// waited most, which also made congestion control slow it down.
func (b *blamer) split(row *result.CollectiveRow, conn, op int32, lost unit.Time) (port int32) {
	paused, at := unit.Time(0), int32(-1)
	var top *fabric.Wait
	ports := b.waits[conn]
	for i := range ports {
		w := &ports[i]
		if d := b.pauses.overlap(w.Port, b.start[op], b.end[op]); d > paused {
			paused, at = d, w.Port
		}
		if w.Total > 0 && (top == nil || w.Total > top.Total || w.Total == top.Total && w.Port < top.Port) {
			top = w
		}
	}
	if d := b.pauses.overlap(b.nicPort(conn), b.start[op], b.end[op]); d > paused {
		paused, at = d, b.nicPort(conn)
	}
	paused = min(paused, lost)
	row.Pause += int64(paused)
	rest := lost - paused
	if again := b.Hosts.Retransmitted(conn); again > 0 {
		sent := int64(b.Hosts.Placed(conn))/int64(b.Host.RC.MTU) + again
		d := unit.Time(float64(rest) * float64(again) / float64(sent))
		row.Retrans += int64(d)
		rest -= d
	}
	if top == nil || b.flows[top.Port] < 2 {
		row.SharedNIC += int64(rest)
		if paused > rest {
			return at
		}
		return b.nicPort(conn)
	}
	if far := b.Net.Ports[b.Net.Ports[top.Port].Peer].Node; b.Graph.Nodes[far].Role == topo.Host && len(b.senders[top.Port]) > 1 {
		row.Incast += int64(rest)
	} else {
		row.Collision += int64(rest)
	}
	if paused > rest {
		return at
	}
	return top.Port
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
	parts := []struct {
		ps   int64
		text string
	}{
		{row.Latency, "latency of its chain of transfers: propagation, switches, NICs and NVLink"},
		{row.Collision, fmt.Sprintf("%d flows share the link %s, where hashing or the topology put them together", shared, port)},
		{row.Incast, fmt.Sprintf("incast: %d flows from different senders end at %s", shared, port)},
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
