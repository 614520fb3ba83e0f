package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/fluid"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/rc"
	"railyard/unit"
)

// without is what a replay leaves out: causes, and reactions of congestion control to causes.
// With a cause in deep what is there because of one that is left out is left out too: ports paused and packets
// trimmed for a queue.
// With kept, transports keep their own windows without the window limit of congestion control.
// With alone, it leaves out one cause to find its saving, and has what comes in the cause's place.
// With stays, connections keep their ports of NICs: faster links between switches choose no others.
type without struct {
	own, reactions, deep uint64
	alone                bool
	stays                bool
	kept                 bool
	free                 bool // nothing slows senders down: neither congestion control nor pauses
}

func (w without) has(id cause.ID) bool        { return w.own>>id&1 == 1 }
func (w without) reactionTo(id cause.ID) bool { return w.reactions>>id&1 == 1 }

// elsewhere reports whether messages meet at other links than in the run.
func (w without) elsewhere() bool {
	for _, id := range []cause.ID{cause.Collision, cause.SprayImbalance, cause.Oversubscription, cause.Incast,
		cause.SlowLink, cause.FailedCapacity, cause.PCIe, cause.OnePort} {
		if w.has(id) {
			return true
		}
	}
	return false
}

func (w without) with(o without) without   { w.own |= o.own; return w }
func (w without) and(id cause.ID) without  { w.own |= 1 << id; return w }
func (w without) calm(id cause.ID) without { w.reactions |= 1 << id; return w }

// model is a run as flows over links that they share max-min fairly, with what each message took beyond that.
//
// Its links are the ports, by number; then sets of ports among which bytes are spread; then PCIe of NICs; then what a
// connection may send alone: by one port, and with its largest window in flight.
type model struct {
	b     *blamer
	sets  [][]int32 // ports of each set
	setOf fluid.Sets
	in    map[int32][]int32     // by port: links of the sets that it is in
	buses []unit.Rate           // by PCIe link
	caps  []float64             // of connections, bytes per picosecond
	ways  []wayOf               // by connection
	kind  []unit.Rate           // by port: the highest rate among links that join the same two groups
	times []unit.Time           // at which links change
	at    map[unit.Time][]int32 // links that change at one
	whole *topo.Routes          // with nothing broken; nil: nothing is

	fronts  map[spreadOver]*topo.Fronts
	crossed map[*topo.Hop]*hopOver

	// aheads is what of the run waits for no network: without latency, without changes of NVLinks, without slow ranks,
	// without limits of storage media.
	aheads map[[4]bool]*exec.Ahead
	slower []workload.Slow // computations of slow ranks

	opened   []moment // of the run's messages
	unmoved  []excess // by message: before any fluid
	extra    []excess // by message
	limits   [][]fluid.Limit
	weights  []float64      // by message
	apart    []unit.Time    // by NIC: by how much latencies of messages to it differ
	tight    map[int32]bool // sets that are full however bytes are spread over them
	funnels  map[int32]bool // of sets that senders can fill: they lead to one NIC, which takes as much
	others   []float64      // replay.other and replay.into, of the replay that leaves nothing out
	into     []float64
	owned    bool        // some transport's own window limits a connection
	entered  []unit.Time // by connection: when its longest queue begins for it; nil: not asked for
	rated    int         // rates of flows, the last time that the run's messages were let begin
	grain    unit.Time
	often    int               // how often a replay of this grain may set rates
	shared   []bool            // by link: several NICs send over it
	offered  []float64         // by link: the sum of their rates, bytes per picosecond
	queued   []queued          // by port
	backs    map[int32]wayBack // by connection, as far as asked for
	lost     bool              // switches or links have lost or trimmed packets
	hot      []bool            // by connection: its links between switches are full however bytes are spread over them
	discards bool              // go-back-N: what comes behind a loss goes twice
	grants   []int32           // by NIC: the link of the credit that it grants; -1: its senders need none
	grantors map[int32]grantor // by link of credit
	pauses   bool              // nothing but pauses slows senders down
	crowds   bool              // some port is crowded without pauses
	rebinds  bool              // queue pairs would share a NIC's ports evenly with balancing
	evenly   bool              // packets are spread over ports evenly, whatever these carry
	steers   bool              // congestion control leads packets around links that are slow or down
	data     []float64         // by port of a NIC: what of its rate is for data; nil: all
	uneven   [2][]float64      // by set: what hashing lets it carry of its ports' rates, nil: all; were nothing broken
	// What replays can leave out: causes, those that congestion control reacted to, causes that are there because of
	// others, and these.
	there, reacts, derived, behinds uint64
	replays                         map[without]*replay
	direct                          map[[2]int32]bool     // from one GPU to another without a relay
	memory                          []unit.Rate           // by NIC: what PCIe and its ports take or send
	nicAt                           map[int32]int32       // by port to a NIC with PCIe that limits: the NIC
	formerly                        map[int32][]formerWay // by port between switches: who had it before routes changed
	moved                           map[unit.Time][]int32 // connections that take other ways since then
	states                          []unit.Time           // from which on links have other rates; none: one state
	broken                          unit.Time             // when routes first avoid something; 0: never, or always
	wholeAt                         unit.Time             // routes were those where nothing is broken; Never: unknown
}

// wayOf is the links that a connection uses.
type wayOf struct {
	egress, ingress       int32 // of its NICs, as it uses them
	home                  int32 // egress were nothing broken
	egressAll, ingressAll int32 // all ports of its NICs
	ports                 []fluid.Use
	arrive                []fluid.Use // its last ports, where its NIC spreads packets over hashed paths
	sets, full            []int32     // of the fabric, as balancing could use it, and were nothing broken
	// The same ports, each with its share where packets are spread evenly, and where switches send to their least
	// loaded ports; the second: were nothing broken.
	even               [2][][]fluid.Use
	least              [2][][][]fluid.Use // by state of links
	scale              []float64          // by ports: what of its load it would have were nothing broken
	one, window, grant int32              // its caps, and its receiver's credit; -1: it has none
	owned              int32              // cap of its transport's own window; -1: none
	cores              int32              // what its hosts' cores carry of it; -1: it takes none
	hosts              unit.Time          // that its hosts take for a message beside
	pcie               []int32            // out of memory of the sender, and into the receiver's, where they limit
	sends              int                // of pcie: how many are the sender's
	latency            unit.Time
	was                []pastWay  // before routes changed
	bundle             int        // ports of its NIC where fewer queue pairs use one each; 0: more do, or all use all
	around             [2][]int32 // sets of the fabric by all these ports; the second: were nothing broken
}

// excess is what a message took beyond its fluid time, by cause and reaction to a cause; part is what of its bytes
// the fluid had moved when it was done already: 1, or less.
type excess struct {
	part  float64
	of    []excessPart
	began unit.Time
	fluid unit.Time       // when the fluid had moved it
	took  unit.Time       // until its last bit was sent
	again cause.ID        // behind resends; LineRate: nothing
	stays bool            // without pauses, queues have their cost
	paced [len(upTo)]bool // it took no less than a part of its way takes, whatever comes behind
}

// excessPart is due to a cause, or is congestion control's reaction to it. What it is due to may be there because of
// another one: packets are trimmed where senders meet, ports are paused for a queue elsewhere.
type excessPart struct {
	id       cause.ID
	reaction bool
	behind   cause.ID // LineRate: none
	time     unit.Time
	beside   unit.Time // of a time-out or a full window, the rest of it: meanwhile the fluid went on
	trips    bool      // it consists of round trips,
	waits    float64   // of which this share is waits in queues
	last     float64   // of imbalance, the share at the receiver's ports, of which packets choose one
}

func (b *blamer) newModel() *model {
	r := b.r
	m := &model{b: b, in: map[int32][]int32{}, direct: map[[2]int32]bool{},
		replays: map[without]*replay{}, aheads: map[[4]bool]*exec.Ahead{},
		at: map[unit.Time][]int32{}, fronts: map[spreadOver]*topo.Fronts{},
		crossed: map[*topo.Hop]*hopOver{}, backs: map[int32]wayBack{}}
	if gone, others := r.lives.gone(); len(gone) > 0 || others {
		m.whole = r.graph.Reroute(nil, r.seen.Routes, scenario.Besides(r.plan.LB, r.plan.Scheduled))
	}
	for _, e := range r.plan.Events {
		for _, at := range []unit.Time{e.At, e.At + e.Converge} {
			m.times, m.at[at] = append(m.times, at), append(m.at[at], int32(e.Link))
		}
	}
	for i := range r.seen.Moves {
		m.times = append(m.times, r.seen.Moves[i].At)
	}
	slices.Sort(m.times)
	m.times = slices.Compact(m.times)
	m.kinds()
	m.setStates()
	pcie := m.pcie()
	m.discards = r.plan.RC.Recovery != rc.Selective && r.plan.Default().Carried == nil
	uneven := m.whole != nil
	for p := range m.kind {
		uneven = uneven || m.slow(int32(p))
	}
	service, spec := r.plan.Default(), r.plan.Spec
	m.evenly = uneven && service.Carried == nil && r.plan.Scheduled == nil
	nic := r.plan.LB.NIC
	m.steers = uneven && (r.seen.Rules.Entropy || nic != nil && nic.Hears)
	m.pauses = service.Carried == nil && (service.CC.Name == "none" || r.uncut()) && r.plan.Scheduled == nil &&
		spec.Queues[spec.DSCP[service.DSCP]].Lossless && (r.seen.Packets == nil || r.seen.Counted.PFCPauses > 0)
	m.rebinds = r.plan.NICs.Bond == "hash" && r.plan.QPs > 1
	type route struct{ node, loc, port int32 }
	type found struct {
		sets  [2][]int32
		even  [2][][]fluid.Use
		least [2][][][]fluid.Use
	}
	known := map[route]found{}
	m.ways = make([]wayOf, len(r.seen.Conns))
	for c := range m.ways {
		w := &m.ways[c]
		src, dst := r.seen.peers(int32(c))
		w.latency = b.share.cost(int32(c), r.seen.Rules.MTU).whole
		all := b.share.nicPorts(src, true)
		w.egressAll = m.set(all)
		w.egress = r.seen.Conns[c].Port
		if r.seen.Rules.SpreadsNIC {
			w.egress = w.egressAll
		}
		w.home = w.egress
		if h := r.seen.Conns[c].Home; m.whole != nil && w.egress != w.egressAll && m.leads(h, dst) {
			w.home = h
		}
		k := route{r.seen.Ports[r.seen.Ports[r.seen.Conns[c].Port].Peer].Node, int32(r.seen.Routes.Locator[dst]), -1}
		if len(all) > 1 {
			k.port = r.seen.Conns[c].Port
		}
		f, ok := known[k]
		if !ok {
			for i, routes := range []*topo.Routes{r.seen.Routes, m.whole} {
				if i > 0 && routes == nil {
					f.sets[i], f.even[i], f.least[i] = f.sets[0], f.even[0], f.least[0]
					break
				}
				f.sets[i], f.even[i] = m.walk(int32(c), spreadOver{routes: routes})
				for state := 0; m.evenly && state < max(1, len(m.states)); state++ {
					_, least := m.walk(int32(c), spreadOver{routes, true, state})
					f.least[i] = append(f.least[i], least)
				}
			}
			known[k] = f
		}
		w.sets, w.full, w.even, w.least = f.sets[0], f.sets[1], f.even, f.least
		w.ingressAll = m.set(b.share.nicPorts(dst, false))
		w.ingress = w.ingressAll
		m.own(int32(c), w)
		m.bundled(int32(c), w)
		w.pcie, w.sends = slices.Concat(pcie[src][0], pcie[dst][1]), len(pcie[src][0])
	}
	m.past()
	m.hashing()
	m.answering()
	m.grants, m.grantors = make([]int32, len(r.graph.NICs)), map[int32]grantor{}
	for nic := range m.grants {
		m.grants[nic] = -1
	}
	first := int32(len(r.seen.Ports) + len(m.sets))
	for c := range m.ways {
		for i := range m.ways[c].pcie {
			m.ways[c].pcie[i] += first
		}
		m.capped(int32(c), &m.ways[c])
	}
	for i := range r.dag.Ops {
		if x := b.first[i]; x >= 0 {
			o := &r.dag.Ops[i]
			from, _ := r.seen.peers(r.seen.Messages[x].Conn)
			m.direct[[2]int32{o.Rank, o.Peer}] = m.uses(int(o.Rank), from)
		}
	}
	return m
}

// uses reports whether a GPU sends by a NIC.
func (m *model) uses(gpu int, nic int32) bool {
	g := m.b.r.graph
	for k := range g.Ways(gpu) {
		if g.WayOf(gpu, k) == int(nic) {
			return true
		}
	}
	return false
}

// leads reports whether a NIC's port would lead to another NIC were nothing broken.
func (m *model) leads(port, dst int32) bool {
	first := int(m.b.r.seen.Ports[m.b.r.seen.Ports[port].Peer].Node)
	_, near := m.whole.Near(first, int(dst))
	return near || len(m.whole.Next(first, m.whole.Locator[dst])) > 0
}

// own sets the ports that a connection has taken: the one way that hashing gave it, or those where its packets
// queued, with the share of them that did.
func (m *model) own(c int32, w *wayOf) {
	r := m.b.r
	path := &m.b.share.path[c]
	for i, p := range path.ports {
		node := &r.graph.Nodes[r.seen.Ports[p].Node]
		switch {
		case node.Role == topo.Host:
			continue
		case r.peer(p).Role == topo.Host:
			switch {
			case !r.seen.Rules.Hashed:
			case path.shares != nil:
				w.arrive = append(w.arrive, fluid.Use{Link: p, Share: path.shares[i], Holds: true})
			default:
				w.ingress = p
			}
			continue
		}
		share := 1.0
		if path.shares != nil {
			if r.seen.Rules.Spreads {
				continue // its packets go wherever there is room
			}
			if share = path.shares[i]; !r.seen.Rules.Hashed {
				share = m.shareOf(w, path, i)
			}
		}
		w.ports = append(w.ports, fluid.Use{Link: p, Share: share})
		scale := 1.0
		if m.whole != nil {
			_, dst := r.seen.peers(c)
			now := len(r.seen.Routes.Next(int(r.seen.Ports[p].Node), r.seen.Routes.Locator[dst]))
			all := len(m.whole.Next(int(r.seen.Ports[p].Node), m.whole.Locator[dst]))
			if now > 0 && all > now {
				scale = float64(now) / float64(all)
			}
		}
		w.scale = append(w.scale, share*scale)
	}
}

// over lists what a connection uses in a replay at a time: its path in order, then what it has alone and the sender's
// PCIe.
func (m *model) over(c int32, at unit.Time, v without) (buf []fluid.Use) {
	w := &m.ways[c]
	add := func(link int32, holds bool) { buf = append(buf, fluid.Use{Link: link, Share: 1, Holds: holds}) }
	spread := func(hops [][]fluid.Use) {
		for _, ports := range hops {
			for _, u := range ports {
				u.Holds = true
				buf = append(buf, u)
			}
		}
	}
	egress, ingress, one := w.egress, w.ingress, false
	moved := v.has(cause.FailedCapacity) && w.home != w.egress
	if v.has(cause.FailedCapacity) {
		at = m.wholeAt
	}
	then := w.then(at)
	if v.has(cause.Collision) && !v.stays {
		then = nil
	}
	switch {
	case then != nil:
		egress, ingress, moved = then.egress, then.ingress, false
	case v.has(cause.Collision) && !v.stays:
		switch ingress = w.ingressAll; {
		case m.rebinds && w.one >= 0:
			egress, one = w.egressAll, true
		case moved:
			egress = w.home
		}
	case moved:
		egress, ingress = w.home, w.ingressAll
	}
	add(egress, false)
	balanced := v.has(cause.Collision) && !v.stays || moved || len(w.ports) == 0 && then == nil
	near := len(w.sets) == 0 && !v.has(cause.Collision) && !v.has(cause.FailedCapacity) // one switch is its path
	switch {
	case then != nil:
		buf = append(buf, then.ports...)
	case balanced && m.spread(v):
		spread(m.shares(w, at, v))
	case balanced && (v.has(cause.FailedCapacity) || at < m.broken && m.b.r.seen.Rules.Entropy):
		for _, s := range w.full {
			add(s, true)
		}
	case balanced:
		for _, s := range w.sets {
			add(s, true)
		}
	default:
		for i, u := range w.ports {
			if v.has(cause.FailedCapacity) {
				u.Share = w.scale[i]
			}
			u.Holds = true
			buf = append(buf, u)
		}
	}
	if v.has(cause.OnePort) && w.bundle > 1 {
		one = false
		buf = m.overBundle(w, buf, v)
	}
	switch {
	case v.has(cause.Incast):
	case v.has(cause.OnePort) && w.bundle > 1:
		buf = append(buf, m.each(w.ingressAll, true)...)
	case w.arrive != nil && (!balanced || near):
		buf = append(buf, w.arrive...)
	default:
		add(ingress, true)
	}
	if !v.has(cause.PCIe) {
		for i, l := range w.pcie {
			if i >= w.sends {
				add(l, true)
			}
		}
		for _, l := range w.pcie[:w.sends] {
			add(l, false)
		}
	}
	windows := len(buf)
	switch {
	case w.window >= 0 && !v.has(cause.Window):
		add(w.window, false)
	case w.owned >= 0 && v.kept:
		add(w.owned, false)
	}
	if v.has(cause.OnePort) && w.bundle > 1 && len(buf) > windows {
		buf[windows].Share /= float64(w.bundle) // each queue pair has its own
	}
	if w.cores >= 0 && !v.has(cause.HostCores) {
		add(w.cores, false)
	}
	if one {
		add(w.one, false)
	}
	if w.grant >= 0 && !v.has(cause.Credit) && !v.has(cause.Incast) {
		add(w.grant, false)
	}
	return buf
}

// send lists what a message uses of what its connection does. Packets that a switch trims leave the NIC twice, which
// takes room from what else it sends: a message alone goes again for as long as it waits. A burst begins without
// credit, which a first grant voids where senders ask for it.
func (m *model) send(x int32, uses []fluid.Use, burst bool, v without) []fluid.Use {
	msg, last := &m.b.r.seen.Messages[x], len(uses)-1
	if met := m.b.r.trouble(x); met.Trimmed > 0 && last >= 0 && m.trims(msg.Conn, v) &&
		len(m.b.share.bySender[m.b.r.seen.Conns[msg.Conn].From]) > 1 {
		again := unit.Bytes(met.Trimmed) * m.b.r.wireBytes(m.b.r.seen.Rules.MTU)
		uses = slices.Clone(uses)
		uses[0].Share *= 1 + float64(again)/m.bytes(x, v)
	}
	k := &m.b.r.seen.Conns[msg.Conn]
	if last < 0 || m.ways[msg.Conn].grant < 0 || uses[last].Link != m.ways[msg.Conn].grant || !burst {
		return uses
	}
	left := max(0, 1-float64(k.Unasked)/float64(m.b.r.wireBytes(msg.Bytes)))
	if left > 0 && !k.Pulls {
		return uses
	}
	uses = slices.Clone(uses)
	uses[last].Share = left
	return uses
}

// trims reports whether switches trim packets of a connection in a replay too: neither trimming nor the queue that was
// full is left out.
func (m *model) trims(conn int32, v without) bool {
	at := m.overflowed(conn)
	if v.has(cause.Trimmed) || at < 0 {
		return !v.has(cause.Trimmed)
	}
	queue := m.portCause(at)
	return queue == cause.LineRate || !v.has(queue) && !(queue == cause.Collision && v.has(cause.Oversubscription))
}
