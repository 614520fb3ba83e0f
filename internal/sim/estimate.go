package sim

import (
	"math"

	"railyard/internal/exec"
	"railyard/internal/explain"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/rc"
	"railyard/unit"
)

// Cost is the estimated need of a run before it is built. Packets that congestion makes
// senders repeat are not in it.
type Cost struct {
	Packets, PacketHops int64 // ACKs included
	QPs, Messages       int64
	Memory              unit.Bytes
	Seconds             float64
	Causes              float64 // seconds of dividing lost time among causes
	ports, ops          int64
	routes              *topo.Routes // over all links
}

// Costs, measured on all-to-alls, permutations and training steps of 64 to 1,024 GPUs (Xeon, 2 MB of second-level
// cache per core; TestEstimate checks them).
const (
	hopsPerSecond = 5e6
	opsPerSecond  = 1.5e6 // outside the network
	qpsPerSecond  = 2e5   // set up, and written in the end

	memoryBase = 75 * unit.MB // the program, its tables and the garbage collector's, resident
	memoryPort = 9 * unit.KB
	memoryOp   = 160
	// memory of a dependency between operations beyond two of each: collected, sealed, and what the collector leaves
	MemoryEdge = 12
	memoryCopy = 60 // memory of an operation in a mix: 40 bytes, and 4, and 4 or 8 for each successor
	memoryQP   = 2600
	// further memory of a queue pair whose NICs choose among paths or whose transport is not RC
	memoryEnds = 13_000
	// further memory of an RC queue pair with selective recovery: twice its bitmap and window
	memorySelective = 2900
	memoryMessage   = 330
	memoryReplay    = 15_000        // memory of a flow under way while replays explain the run, several at a time
	memoryTables    = 100 * unit.MB // memory of sampled tables in a long run
	longRun         = 20_000_000    // packet-hops
)

// Transfers calls f for each transfer of a plan's jobs between GPUs that NVLink does not connect.
func Transfers(p *scenario.Plan, f func(job *workload.Job, from, to int, bytes unit.Bytes)) {
	for j := range p.Jobs {
		job := &p.Jobs[j]
		for i := range job.DAG.Ops {
			o := &job.DAG.Ops[i]
			if o.Compute() {
				continue
			}
			if from, to := job.GPU(o.Rank), job.GPU(o.Peer); !p.Graph.Together(from, to) {
				f(job, from, to, o.Bytes)
			}
		}
	}
}

// Estimate counts the work of a plan's workload.
func Estimate(p *scenario.Plan) Cost {
	e := &estimator{plan: p, gpus: Machine(p), links: map[[2]int]int64{}}
	e.routes = p.Graph.Reroute(nil, nil, scenario.Besides(p.LB, p.Scheduled))
	if route.Is[route.Steerer](p.LB) {
		e.regions = p.Graph.RegionOf()
	}
	gpus := p.Graph.Ends()
	if gpus <= manyGPUs {
		e.seen = make([]uint64, (gpus*gpus+63)/64)
	}
	e.rare = map[int]struct{}{}
	c := Cost{routes: e.routes, ports: 2 * int64(len(p.Graph.Links)), ops: int64(p.Ops())}
	Transfers(p, func(job *workload.Job, from, to int, bytes unit.Bytes) { e.transfer(&c, job, from, to, bytes) })
	c.Seconds = float64(c.PacketHops)/hopsPerSecond + float64(c.ops)/opsPerSecond + float64(c.QPs)/qpsPerSecond
	c.Causes = explain.Seconds(p, c.Messages, c.QPs, true)
	if len(p.Jobs) > 1 || p.Jobs[0].Place != nil {
		c.Memory += memoryCopy * unit.Bytes(c.ops)
	}
	tables, _ := Tables(p)
	c.Memory, c.Seconds = c.Memory+tables.Memory, c.Seconds+tables.Seconds
	// The number of flows in flight at once is between that of the queue pairs that can be busy at once, and that
	// of the messages.
	c.Memory += unit.Bytes(memoryReplay * math.Sqrt(float64(e.pairs)*float64(c.Messages)))
	switch {
	case p.LB.NIC != nil || p.Default().Carried != nil:
		c.Memory += memoryEnds * unit.Bytes(c.QPs)
	case p.RC.Recovery != rc.GoBackN:
		c.Memory += memorySelective * unit.Bytes(c.QPs)
	}
	c.Memory += memoryBase + memoryPort*unit.Bytes(c.ports) + memoryOp*unit.Bytes(c.ops) +
		MemoryEdge*unit.Bytes(p.Edges()) + memoryQP*unit.Bytes(c.QPs) + memoryMessage*unit.Bytes(c.Messages) +
		unit.Bytes(float64(memoryTables)*min(1, float64(c.PacketHops)/longRun))
	return c
}

type estimator struct {
	plan    *scenario.Plan
	gpus    exec.Machine
	routes  *topo.Routes
	regions []int32          // by node; nil unless packets may take detours through regions
	links   map[[2]int]int64 // links from a switch to a locator, both cables of NICs included
	pairs   int64            // number of queue pairs; GPU pairs with separate ones for each message count once
	seen    []uint64         // pairs of GPUs, one bit each; nil if there are too many:
	rare    map[int]struct{} // by key: pairs that exist
}

// manyGPUs is from how many on bits for all pairs take more than 32 MB.
const manyGPUs = 16_384

// again reports whether a pair of GPUs was there before.
func (e *estimator) again(pair int) bool {
	if e.seen == nil {
		n := len(e.rare)
		e.rare[pair] = struct{}{}
		return len(e.rare) == n
	}
	bit := uint64(1) << (pair % 64)
	was := e.seen[pair/64]&bit != 0
	e.seen[pair/64] |= bit
	return was
}

// transfer adds one transfer between servers.
func (e *estimator) transfer(c *Cost, job *workload.Job, src, dst int, bytes unit.Bytes) {
	g := e.plan.Graph
	if e.plan.PXN && !g.Stored(src, dst) && g.NICs[g.NICOf[src]].Rail != g.NICs[g.NICOf[dst]].Rail {
		src = e.gpus.OnRail(src, dst)
	}
	mtu := unit.Bytes(e.plan.RC.MTU)
	parts := max(1, min(int64(max(e.plan.QPs, g.Ways(src), g.Ways(dst))), int64(bytes/mtu)))
	data := max(parts, int64((bytes+mtu-1)/mtu))
	packets := data + parts + data/int64(max(e.plan.RC.AckEvery, 1)) // and ACKs
	c.Messages += parts
	c.Packets += packets
	from, to := g.NICOf[src], g.NICOf[dst]
	if g.Stored(src, dst) {
		from, to = g.Pair(src, dst, 0)
	}
	hops := e.distance(from, to)
	if s := e.plan.Scheduled; s != nil && hops > 2 {
		c.PacketHops += e.crossings(s, data, packets-data, hops-2, from, to)
		hops = 2
	}
	c.PacketHops += packets * hops
	again := e.again(src*g.Ends() + dst)
	if !again {
		e.pairs += parts
	}
	if !again || job.Apart {
		c.QPs += parts
	}
}

// distance is the number of cables between two NICs.
func (e *estimator) distance(src, dst int) int64 {
	g := e.plan.Graph
	first := g.NICs[src].Links[0]
	node := g.Links[first].A + g.Links[first].B - g.Hosts[g.NICs[src].Host]
	if _, near := e.routes.Near(node, dst); near {
		return 2
	}
	k := [2]int{node, e.routes.Locator[dst]}
	if n, ok := e.links[k]; ok {
		return n
	}
	n := int64(0)
	if via := e.detour(node, k[1]); via >= 0 { // the path through one region represents all
		node, n = e.walk(node, e.routes.Regions[via])
	}
	_, rest := e.walk(node, k[1])
	e.links[k] = n + rest + 2
	return n + rest + 2
}

// walk follows a path to a locator and returns its end and its number of cables.
func (e *estimator) walk(node, loc int) (end int, cables int64) {
	for next := e.routes.Next(node, loc); len(next) > 0; next = e.routes.Next(node, loc) {
		l := &e.plan.Graph.Links[next[0]]
		node = l.A + l.B - node
		cables++
	}
	return node, cables
}

// detour returns a region through which packets may take a detour from a switch to a locator, -1 for none.
func (e *estimator) detour(node, loc int) int {
	of := e.regions
	if of == nil || loc < 0 || of[node] == of[e.routes.Sets[loc][0]] {
		return -1
	}
	for r := range e.routes.Regions {
		if int32(r) != of[node] && int32(r) != of[e.routes.Sets[loc][0]] {
			return r
		}
	}
	return -1
}

// What routes and forwarding tables cost, measured on chains, rings with chords and Clos fabrics of 2,000
// to 32,000 switches.
const (
	secondsVisit = 4e-9
	secondsSet   = 3e-6 // time of a set of next links: search, store and group
	secondsEntry = 6e-9

	memoryRoutes = 30 * unit.MB
	memoryEntry  = 2 // memory entry of a table, by locator
	memoryRun    = 12
	memorySet    = 450
)

// fewEntries is the number of table entries below which no estimate is made: 8 MB.
const fewEntries = 1 << 22

// Tables returns the estimated need of a plan's routes before they are computed. Nothing to speak of:
// zero.
func Tables(p *scenario.Plan) (c Cost, e topo.Effort) {
	switches := int64(len(p.Graph.Nodes) - len(p.Graph.Hosts))
	if switches*min(switches, int64(len(p.Graph.NICs))) < fewEntries { // sets of switches: hardly more
		return Cost{}, topo.Effort{}
	}
	e = p.Graph.Effort(scenario.Besides(p.LB, p.Scheduled))
	c.Memory = memoryRoutes + memoryEntry*unit.Bytes(e.Entries()) + memoryRun*unit.Bytes(e.Runs) +
		memorySet*unit.Bytes(e.Sets)
	c.Seconds = secondsVisit*float64(e.Visits) + secondsSet*float64(e.Sets) + secondsEntry*float64(e.Entries())
	return c, e
}

// Routes returns the routes over all links.
func (c *Cost) Routes() *topo.Routes { return c.routes }
