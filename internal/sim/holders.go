package sim

import (
	"cmp"
	"maps"
	"slices"

	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/topo"
	"railyard/unit"
)

const (
	// maxHeldRows is the maximum number of samples of queue contents.
	maxHeldRows = 300_000
	// sampled is the number of packets of a queue in a sample.
	sampled = 256
	// resample is the time for which a sample of a queue is used.
	resample = 5 * unit.Microsecond
	// mostHeld is the number of connections in a sample, the ones with most bytes.
	mostHeld = 16
	// leastShare is the least share of a link's bytes that counts: a 64th.
	leastShare = 1.0 / 64
)

// holders records which egress queues hold the bytes for which ports are paused. It reads them at the beginning and
// the end of each pause. It belongs to the whole run and reads switches when Net.Trace reports pauses.
type holders struct {
	net     *Network
	debts   map[int32]debt // by port that was paused
	open    map[int32]*explain.Hold
	rows    []explain.Hold
	held    []explain.Held
	looked  map[int32]unit.Time // by port: time of the latest sample of its queue
	byConn  map[int32]unit.Bytes
	ordered []int32

	moment func() fabric.Moment // for a run in parts; nil: the run is whole
	rowsAt []fabric.Moment      // by row
	heldAt []fabric.Moment      // by row of held
}

// debt is the queued bytes that a port would have sent without its pauses.
type debt struct {
	bytes int64
	at    unit.Time // up to when it is counted
	off   unit.Time // time of the last resume of the port
	on    bool      // the port is paused
	// share is the debt's share of the queued bytes at that time. over is that share, integrated over time until
	// then.
	share, over float64
}

func newHolders(n *Network) *holders {
	return &holders{net: n, debts: map[int32]debt{}, open: map[int32]*explain.Hold{}, looked: map[int32]unit.Time{},
		byConn: map[int32]unit.Bytes{}}
}

// hear processes the trace of pauses.
func (h *holders) hear(now unit.Time, what string, port int32, prio int) {
	switch what {
	case "xoff":
		h.begin(now, port, prio)
	case "xon", "storm":
		if !h.server(port) { // a NIC's pause ends when its switch receives the resume frame
			h.end(now, port, prio)
		}
	case "pause":
		d := h.owed(now, port)
		d.at, d.on = now, true
		h.debts[port] = d
		if tx := &h.net.Net.Ports[port]; h.server(tx.Peer) && !h.server(port) {
			h.open[at(tx.Peer, prio)] = &explain.Hold{Port: tx.Peer, Priority: int32(prio), From: now,
				By: []explain.Holder{{Port: port, Share: 1, Queue: unit.Bytes(tx.Queued), Since: now}}}
			h.sample(now, port)
		}
	case "resume":
		tx, d := &h.net.Net.Ports[port], h.owed(now, port)
		d.at, d.off, d.on = now, now, tx.Paused != 0
		h.debts[port] = d
		if h.server(tx.Peer) && !h.server(port) {
			h.sample(now, port)
			h.end(now, tx.Peer, prio)
		}
	}
}

func (h *holders) server(port int32) bool {
	return h.net.Graph.Nodes[h.net.Net.Ports[port].Node].Role == topo.Host
}

// owed brings a port's debt up to date. While it is paused the debt grows by the port's rate. It is never more than
// the queue, and ends once all queued packets arrived after the port resumed.
func (h *holders) owed(now unit.Time, port int32) debt {
	d, was := h.debts[port]
	if !was {
		return d
	}
	tx, took, before := &h.net.Net.Ports[port], now-d.at, d.share
	queue := int64(tx.Queued)
	if d.on {
		d.bytes += int64(unit.InTime(tx.Rate, took))
	} else if h.net.Net.WaitsSince(port) >= d.off {
		d.bytes = 0
	}
	switch d.bytes = min(d.bytes, queue); {
	case queue > 0:
		d.share = float64(d.bytes) / float64(queue)
	case d.on:
		d.share = 1 // all data that arrive later wait because of the pause
	default:
		d.share = 0
	}
	grew := float64(took)
	if d.on && d.share > before { // debt grows by the bytes that it would have sent, and then stays constant
		grew = min(grew, (d.share-before)*float64(unit.Serialize(unit.Bytes(queue), tx.Rate)))
	}
	d.over += (before+d.share)/2*grew + d.share*(float64(took)-grew)
	d.at = now
	h.debts[port] = d
	return d
}

// holder returns the bytes of a link that a port holds now. Passed is integrated over time until now.
func (h *holders) holder(now unit.Time, port int32, share float64) explain.Holder {
	return explain.Holder{Port: port, Share: share, Queue: unit.Bytes(h.net.Net.Ports[port].Queued),
		Since: h.net.Net.WaitsSince(port), Passed: h.owed(now, port).over}
}

// begin opens a hold. Its shares are the shares of the bytes at that time until it ends.
func (h *holders) begin(now unit.Time, port int32, prio int) {
	hold := &explain.Hold{Port: port, Priority: int32(prio), From: now}
	h.open[at(port, prio)] = hold
	sum := unit.Bytes(0)
	h.net.Net.Holders(port, prio, func(x fabric.Holder) { sum += x.Bytes })
	h.net.Net.Holders(port, prio, func(x fabric.Holder) {
		if share := float64(x.Bytes) / float64(max(sum, 1)); share >= leastShare {
			hold.By = append(hold.By, h.holder(now, h.egress(x), share))
		}
	})
	h.biggest(now, hold)
}

// egress is the port that a holder's bytes leave by.
func (h *holders) egress(x fabric.Holder) int32 {
	if x.Port >= 0 {
		return x.Port
	}
	nic := h.net.Graph.NICs[x.NIC]
	return h.net.Net.Ports[h.net.Port(nic.Links[0], h.net.Graph.Hosts[nic.Host])].Peer
}

// biggest samples the queue that holds most.
func (h *holders) biggest(now unit.Time, hold *explain.Hold) {
	if len(hold.By) > 0 {
		top := slices.MaxFunc(hold.By, func(a, b explain.Holder) int { return cmp.Compare(a.Share, b.Share) })
		h.sample(now, top.Port)
	}
}

// end closes a hold.
func (h *holders) end(now unit.Time, port int32, prio int) {
	hold := h.open[at(port, prio)]
	if hold == nil {
		return
	}
	delete(h.open, at(port, prio))
	if h.rows = append(h.rows, h.closed(now, hold)); h.moment != nil {
		h.rowsAt = append(h.rowsAt, h.moment())
	}
	if !h.server(port) {
		h.biggest(now, &h.rows[len(h.rows)-1])
	}
}

// closed returns a hold up to now, with its holders' shares of bytes over time, the largest first.
func (h *holders) closed(now unit.Time, hold *explain.Hold) explain.Hold {
	out := explain.Hold{Port: hold.Port, Priority: hold.Priority, From: hold.From, To: now}
	if h.server(hold.Port) {
		out.By = slices.Clone(hold.By)
		out.By[0].Queue = (out.By[0].Queue + unit.Bytes(h.net.Net.Ports[out.By[0].Port].Queued)) / 2
		return out
	}
	var all []fabric.Holder
	sum := 0.0
	h.net.Net.Holders(hold.Port, int(hold.Priority), func(x fabric.Holder) {
		all = append(all, x)
		sum += float64(x.Moment)
	})
	for _, x := range all {
		share := float64(x.Moment) / max(sum, 1)
		i := slices.IndexFunc(hold.By, func(y explain.Holder) bool { return y.Port == h.egress(x) })
		switch {
		case sum > 0 && share < leastShare:
			continue
		case sum == 0 && i >= 0: // the hold ended at its start, or its bytes are not integrated over time
			share = hold.By[i].Share
		case sum == 0:
			continue
		}
		y, port := h.holder(now, h.egress(x), share), h.egress(x)
		if i >= 0 {
			was := &hold.By[i]
			y.Since = min(y.Since, was.Since)
			y.Queue = (y.Queue + was.Queue) / 2
			y.Passed -= was.Passed
		} else { // the pause state was constant since the hold began, and the queue was empty
			y.Passed = h.debts[port].share * float64(now-hold.From)
		}
		y.Passed = min(1, max(0, y.Passed)/float64(max(now-hold.From, 1)))
		if now == hold.From {
			y.Passed = h.debts[port].share
		}
		out.By = append(out.By, y)
	}
	if len(out.By) == 0 { // the hold ended at its start, with an empty queue
		out.By = slices.Clone(hold.By)
		for i := range out.By {
			out.By[i].Passed = h.debts[out.By[i].Port].share
		}
	}
	total := 0.0
	for _, x := range out.By {
		total += x.Share
	}
	for i := range out.By {
		out.By[i].Share /= total
	}
	slices.SortStableFunc(out.By, func(a, b explain.Holder) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// sample records the owners of a port's queued bytes, unless the last sample is recent.
func (h *holders) sample(now unit.Time, port int32) {
	if last, was := h.looked[port]; was && now-last < resample || len(h.held) >= maxHeldRows {
		return
	}
	h.looked[port] = now
	clear(h.byConn)
	h.ordered = h.ordered[:0]
	h.net.Net.Waiting(port, sampled, func(conn int32, bytes unit.Bytes) {
		if conn < 0 {
			return
		}
		if _, met := h.byConn[conn]; !met {
			h.ordered = append(h.ordered, conn)
		}
		h.byConn[conn] += bytes
	})
	slices.SortStableFunc(h.ordered, func(a, b int32) int { return cmp.Compare(h.byConn[b], h.byConn[a]) })
	for _, conn := range h.ordered[:min(len(h.ordered), mostHeld)] {
		h.held = append(h.held, explain.Held{At: now, Port: port, Conn: conn, Bytes: h.byConn[conn]})
		if h.moment != nil {
			h.heldAt = append(h.heldAt, h.moment())
		}
	}
}

// until returns the holds up to now, including unfinished ones.
func (h *holders) until(now unit.Time) []explain.Hold {
	return append(slices.Clone(h.rows), h.lasting(now)...)
}

// lasting returns the holds that last, as if they ended now. The run may continue: debts do not change.
func (h *holders) lasting(now unit.Time) (out []explain.Hold) {
	debts := maps.Clone(h.debts)
	defer func() { h.debts = debts }()
	slots := make([]int32, 0, len(h.open))
	for slot := range h.open {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	for _, slot := range slots {
		out = append(out, h.closed(now, h.open[slot]))
	}
	return out
}
