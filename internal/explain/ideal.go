package explain

import (
	"slices"

	"railyard/internal/topo"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// idealizer computes the time of messages alone: every packet leaves each port as soon as it has arrived and the
// previous one has left. A message alone on its path takes exactly that, and none takes less: where paths differ the
// best of each hop counts, and where packets may spread over several ports, they do.
type idealizer struct {
	r       *reading
	routes  *topo.Routes // without permanently broken links; others only lengthen paths
	spread  bool         // packets of a message may use several ports of a stage at the same time
	moves   bool         // flowlets moved, which one packet behind another does not
	middles map[middleKey]middle
	paths   map[[2]int32][][]stage
	known   map[idealKey]unit.Time
	cables  [][]int // by node: to other switches; only with detours
	fronts  *topo.Fronts
	hops    map[*topo.Hop]stage // results of fronts
	maps    []*idealizer        // one per map of the circuits: paths of another map may be longer and wider
}

type idealKey struct {
	src, dst int32
	bytes    unit.Bytes
}

// stage is one hop: the links that packets of a message may take side by side.
type stage struct {
	rate  unit.Rate // of the fastest
	hop   unit.Time // of the shortest: propagation and the peer's pipeline
	ports int       // number of ports that send in parallel
	alike bool
	side  int       // number of links, which cells use in turn,
	back  unit.Time // and the return path over one
}

func (r *reading) newIdealizer() *idealizer {
	x := &idealizer{r: r, routes: r.seen.Routes, middles: map[middleKey]middle{},
		paths: map[[2]int32][][]stage{}, known: map[idealKey]unit.Time{}}
	x.spread = r.seen.Rules.Spreads || r.seen.Rules.SpreadsNIC
	x.moves = r.seen.Counted.FlowletMoves > 0
	gone, others := r.lives.gone()
	if others {
		x.spread = true // a message may go on by another path than it began
	}
	if len(gone) > 0 || others || x.routes == nil {
		x.routes = r.graph.Route(nil) // an ideal assumes a fabric without failures
	}
	x.fronts, x.hops = x.routes.Fronts(), map[*topo.Hop]stage{}
	for _, routes := range r.seen.Maps {
		one := *x
		one.routes, one.maps, one.middles, one.paths = routes, nil, map[middleKey]middle{},
			map[[2]int32][][]stage{}
		one.fronts, one.hops = routes.Fronts(), map[*topo.Hop]stage{}
		x.maps = append(x.maps, &one)
	}
	return x
}

// least returns the shortest time over the available paths, unit.Never without one.
func (x *idealizer) least(src, dst int32, bytes unit.Bytes) unit.Time {
	least := unit.Never
	for _, path := range x.between(src, dst) {
		least = min(least, x.cross(path, bytes, src, dst))
	}
	return least
}

// of returns how long a message would take alone, from being posted to being
// delivered.
func (x *idealizer) of(m int32) unit.Time {
	msg := &x.r.seen.Messages[m]
	src, dst := x.r.seen.peers(msg.Conn)
	k := idealKey{src, dst, msg.Bytes}
	if t, ok := x.known[k]; ok {
		return t
	}
	least := x.least(src, dst, msg.Bytes)
	for _, one := range x.maps {
		least = min(least, one.least(src, dst, msg.Bytes))
	}
	if least == unit.Never {
		least = 0 // no path is left to compute
	}
	x.known[k] = least + 2*x.r.seen.Rules.NICLatency
	return x.known[k]
}

// between returns the paths from one NIC to another: one per port, or one with all ports if packets are sprayed over
// them.
func (x *idealizer) between(src, dst int32) [][]stage {
	k := [2]int32{src, dst}
	if p, ok := x.paths[k]; ok {
		return p
	}
	nic := x.r.graph.NICs[src]
	var starts [][]int
	if x.r.seen.Rules.SpreadsNIC {
		starts = [][]int{nic.Links}
	} else {
		for _, l := range nic.Links {
			starts = append(starts, []int{l})
		}
	}
	var out [][]stage
	for _, links := range starts {
		if p := x.follow(x.r.graph.Hosts[nic.Host], links, int(dst)); p != nil {
			out = append(out, p)
		}
	}
	x.paths[k] = out
	return out
}

// follow walks all shortest paths from a server to a NIC in parallel, hop by hop.
func (x *idealizer) follow(from int, links []int, dst int) []stage {
	g := x.r.graph
	first := x.stage([]int{from}, links, nil)
	nodes := x.peers([]int{from}, links)
	if len(nodes) == 1 && nodes[0] == g.Hosts[g.NICs[dst].Host] {
		return []stage{first}
	}
	k := middleKey{nodes[0], nodes[len(nodes)-1], len(nodes), x.routes.Locator[dst], first}
	m, ok := x.middles[k]
	if !ok {
		m = x.middle(first, nodes, dst)
		x.middles[k] = m
	}
	if m.nodes == nil {
		return nil
	}
	var last []int
	for _, n := range m.nodes {
		if l, ok := x.routes.Near(n, dst); ok {
			last = append(last, l)
		}
	}
	return append(slices.Clone(m.path), x.stage(m.nodes, last, m.path))
}

// middle is the path from the switches of a NIC to those of another: equal for all NICs with the same switches.
type middle struct {
	path  []stage // with the first hop
	nodes []int   // its last nodes; nil: no path
}

type middleKey struct {
	a, b, n, loc int
	first        stage
}

func (x *idealizer) middle(first stage, nodes []int, dst int) middle {
	path := []stage{first}
	at := x.fronts.At(nodes, make([]float64, len(nodes)))
	for range len(x.r.graph.Nodes) {
		if x.arrives(x.fronts.Nodes(at), dst) {
			return middle{path, x.fronts.Nodes(at)}
		}
		hop := x.fronts.To(at, x.routes.Locator[dst])
		if len(hop.Links) == 0 {
			break
		}
		s, ok := x.hops[hop]
		if !ok {
			s = x.sum(x.fronts.Nodes(at), hop.Links, hop.From)
			x.hops[hop] = s
		}
		path, at = append(path, x.behind(s, path)), hop.Next
	}
	return middle{}
}

// peers lists the nodes at the other ends of links that lead away from some nodes.
func (x *idealizer) peers(nodes, links []int) (out []int) {
	for _, l := range links {
		link := &x.r.graph.Links[l]
		peer := link.B
		if !slices.Contains(nodes, link.A) {
			peer = link.A
		}
		if !slices.Contains(out, peer) {
			out = append(out, peer)
		}
	}
	return out
}

// arrives reports whether one of the switches has the NIC's cable.
func (x *idealizer) arrives(nodes []int, dst int) bool {
	return slices.ContainsFunc(nodes, func(n int) bool { _, ok := x.routes.Near(n, dst); return ok })
}

// stage sums up the links that lead on from some nodes, which a path led to.
func (x *idealizer) stage(nodes, links []int, path []stage) stage {
	return x.behind(x.sum(nodes, links, x.ends(nodes, links)), path)
}

// ends lists from which of some nodes links lead.
func (x *idealizer) ends(nodes, links []int) []int {
	from := make([]int, len(links))
	for i, l := range links {
		if from[i] = x.r.graph.Links[l].A; !slices.Contains(nodes, from[i]) {
			from[i] = x.r.graph.Links[l].B
		}
	}
	return from
}

// sum sums up links from some nodes, and from which of them each leads.
func (x *idealizer) sum(nodes, links, from []int) stage {
	if x.r.seen.Rules.Detours && x.joins(links[0]) {
		links = x.detours(nodes)
		from = x.ends(nodes, links)
	}
	s := stage{hop: unit.Never, ports: 1, alike: true, side: len(links), back: unit.Never}
	for i, l := range links {
		port := x.r.port(l, from[i])
		hop, rate := x.r.seen.Ports[port].Flight, x.r.rate(port)
		s.back = min(s.back, x.r.seen.Ports[x.r.seen.Ports[port].Peer].Flight)
		s.alike = s.alike && (i == 0 || hop == s.hop && rate == s.rate) && !x.r.varies(port)
		s.rate, s.hop = max(s.rate, rate), min(s.hop, hop)
	}
	return s
}

// behind reports whether packets use several ports of a stage at the same time. Moving a flowlet gains time only where
// its own packets are queued: after a faster stage.
func (x *idealizer) behind(s stage, path []stage) stage {
	slower := x.moves && slices.ContainsFunc(path, func(p stage) bool { return p.rate > s.rate })
	if x.spread || slower {
		s.ports = s.side
	}
	return s
}

// joins reports whether a link connects two switches.
func (x *idealizer) joins(link int) bool {
	g := x.r.graph
	return g.Nodes[g.Links[link].A].Role != topo.Host && g.Nodes[g.Links[link].B].Role != topo.Host
}

// detours lists all links from some switches to others: a detour is not shorter by links outside the shortest paths,
// but it may spread over them.
func (x *idealizer) detours(nodes []int) (all []int) {
	if x.cables == nil {
		x.cables = make([][]int, len(x.r.graph.Nodes))
		for l, link := range x.r.graph.Links {
			if x.joins(l) {
				x.cables[link.A], x.cables[link.B] = append(x.cables[link.A], l), append(x.cables[link.B], l)
			}
		}
	}
	for _, n := range nodes {
		all = append(all, x.cables[n]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// packets calls f for the packets of a message in runs of equal ones.
func (x *idealizer) packets(bytes unit.Bytes, f func(op roce.Opcode, payload, n int)) {
	mtu := int64(x.r.seen.Rules.MTU)
	most := int64(rc.MaxMessage)
	if x.r.seen.Rules.Frame != nil {
		most = max(most, int64(bytes))
	}
	for left, first := int64(bytes), true; left > 0 || first; left, first = left-most, false {
		piece := min(left, most)
		n := max(1, int((piece+mtu-1)/mtu))
		last := int(piece - int64(n-1)*mtu)
		switch {
		case x.r.seen.Rules.Frame != nil:
			f(roce.WriteOnly, int(mtu), n-1)
			f(roce.WriteOnly, last, 1)
		case x.r.seen.Rules.WriteOnly:
			f(roce.WriteOnly, int(mtu), n-1)
			f(roce.WriteOnlyImm, last, 1)
		case n == 1:
			f(roce.WriteOnly, last, 1)
		default:
			f(roce.WriteFirst, int(mtu), 1)
			f(roce.WriteMiddle, int(mtu), n-2)
			f(roce.WriteLast, last, 1)
		}
	}
}

// cross sends a message's packets over a path from one NIC to another and returns when
// the last one is in the receiver's memory.
func (x *idealizer) cross(path []stage, bytes unit.Bytes, src, dst int32) unit.Time {
	path, over := x.crosses(path)
	w := &way{frame: x.r.seen.Rules.Frame, more: x.r.seen.Rules.More, path: path, over: over,
		cut:  x.r.seen.Rules.CutThrough,
		pcie: x.pcie(src), into: x.pcie(dst), one: true}
	for _, s := range path {
		w.free = append(w.free, make([]unit.Time, s.ports))
		w.one = w.one && s.ports == 1
	}
	w.last = make([]unit.Time, len(path))
	if w.one {
		x.packets(bytes, w.run)
		return w.done
	}
	var runs []packetRun
	x.packets(bytes, func(op roce.Opcode, payload, n int) {
		if n > 0 {
			runs = append(runs, packetRun{op, payload, n})
		}
	})
	return w.spread(runs)
}

// pcie returns the rate of the PCIe link of a NIC, 0 if it is not slower than the NIC, as in package host.
func (x *idealizer) pcie(nic int32) unit.Rate {
	links := x.r.graph.NICs[nic].Links
	if rate := x.r.pcieOf(nic); rate < x.r.graph.Links[links[0]].Rate*unit.Rate(len(links)) {
		return rate
	}
	return 0
}

// way is a path with packets in flight.
type way struct {
	frame   func(payload int) int // nil: RC's
	more    int                   // bytes of those beyond IPv4's
	path    []stage
	over    func(frame unit.Bytes) unit.Time // behind the first stage; nil: nothing
	cut     bool
	pcie    unit.Rate     // of the sender; 0: it does not count
	into    unit.Rate     // of the receiver
	one     bool          // each stage is one port
	free    [][]unit.Time // times at which the ports of a stage are free
	last    []unit.Time   // time at which the last packet left each stage
	fetched unit.Time     // the next payload can be fetched over PCIe
	arrived unit.Time     // the last packet's end is at the receiver
	written unit.Time     // all that arrived is written over PCIe
	done    unit.Time
}

// run sends n equal packets. Once each stage follows the previous one at a constant pace, that of the slowest stage so
// far, the rest can be extrapolated.
func (w *way) run(op roce.Opcode, payload, n int) {
	size := w.size(op, payload)
	before := make([]unit.Time, len(w.last))
	for i := 0; i < n; i++ {
		copy(before, w.last)
		done := w.done
		w.send(size, unit.Bytes(payload))
		if left := unit.Time(n - 1 - i); left > 0 && w.one && w.steady(before, done, size,
			unit.Bytes(payload)) {
			w.skip(left, before, w.done-done)
			return
		}
	}
}

// size is a packet's frame.
func (w *way) size(op roce.Opcode, payload int) unit.Bytes {
	if w.frame != nil {
		return unit.Bytes(w.frame(payload))
	}
	return unit.Bytes(roce.DataLen(op, payload) + w.more)
}

// send lets one packet through.
func (w *way) send(size, payload unit.Bytes) {
	at, tail := w.fetched, w.fetched // when its header and its last bit are at the stage
	for h := range w.path {
		s := &w.path[h]
		if h > 0 && w.cut && s.rate > w.path[h-1].rate && s.alike && w.path[h-1].alike {
			at = tail // a faster link waits for the whole frame
		}
		port := 0
		for p, f := range w.free[h] {
			if f < w.free[h][port] {
				port = p
			}
		}
		start := max(at, w.free[h][port])
		ser := unit.Serialize(size+roce.PreambleIFG, s.rate)
		w.free[h][port], w.last[h] = start+ser, start
		if h == 0 && w.pcie > 0 {
			w.fetched = max(w.fetched, start) + unit.Serialize(payload, w.pcie)
		}
		tail = start + ser + s.hop
		if h == 0 && w.over != nil {
			tail += w.over(size)
		}
		at = tail
		if w.cut && h < len(w.path)-1 && size > w.header() {
			at -= unit.Serialize(size-w.header(), s.rate)
		}
	}
	w.arrived, w.done = tail, max(w.done, tail)
	if w.into > 0 {
		w.written = max(w.written, tail) + unit.Serialize(payload, w.into)
		w.done = w.written
	}
}

// header returns the bytes that a cut-through switch reads before it forwards (package fabric).
func (w *way) header() unit.Bytes { return cutHeader(w.more) }

func cutHeader(more int) unit.Bytes {
	return unit.Bytes(roce.EthernetLen + roce.IPv4Len + roce.UDPLen + roce.BTHLen + more)
}

// steady reports whether the last packet followed the previous one at the final pace of equal packets: at each stage
// the pace of the slowest stage so far.
func (w *way) steady(before []unit.Time, done unit.Time, size, payload unit.Bytes) bool {
	pace := unit.Time(0)
	for _, rate := range []unit.Rate{w.pcie, w.into} {
		if rate > 0 {
			pace = unit.Serialize(payload, rate) // they are one rate if both limit
		}
	}
	for h := range w.path {
		pace = max(pace, unit.Serialize(size+roce.PreambleIFG, w.path[h].rate))
		if w.last[h]-before[h] != pace {
			return false
		}
	}
	return w.done-done == pace
}

// skip lets n more packets through, each as much after the one before as the last.
func (w *way) skip(n unit.Time, before []unit.Time, pace unit.Time) {
	for h := range w.path {
		d := n * (w.last[h] - before[h])
		w.last[h] += d
		w.free[h][0] += d
		if h == 0 {
			w.fetched += d
		}
	}
	w.done += n * pace
	if w.into > 0 {
		w.written += n * pace
	}
}
