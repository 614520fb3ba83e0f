package exec

import (
	"railyard/internal/inside"
	"railyard/internal/workload"
	"railyard/unit"
)

// Carrier keeps the clock and carries bytes from server to server, at some fidelity. It calls methods of the
// execution that it carries for: Ring and Delivered.
type Carrier interface {
	Now() unit.Time
	// After rings the execution once a delay has passed. Bells of one time ring in the order of the calls.
	After(delay unit.Time, b Bell)
	// Send sends bytes from one GPU's NIC to that of another server's GPU. Delivered must be called with the
	// operation when the last byte is in the receiver's memory, in a separate event and not from within Send.
	Send(op int32, from, to int, bytes unit.Bytes)
	// Reaches reports whether the network connects the NICs of two GPUs at present.
	Reaches(from, to int) bool
}

// Bell is the value that a carrier returns when a delay is over: an operation and its stage.
type Bell struct {
	Op    int32
	Stage int32
}

// Stages at which an operation schedules a bell.
const (
	computed int32 = iota // the computation has ended
	arrived               // the bytes have passed NVLink and are at their destination
	relayed               // the bytes have passed NVLink and are at the GPU that forwards them
	begun                 // no operation: the job of that number begins
)

// Machine describes the GPUs to an execution. They are numbered server by server; all GPUs that share NVLink are one
// server, also the trays of a rack.
type Machine struct {
	Server []int // by GPU: its server
	Rail   []int // by GPU: rail of its NIC; AnyRail: no relay needed
	NVLink NVLink
	NICs   []unit.Rate // by GPU: total rate of its NICs; nil: unknown
	// Inside lists, by server, the fabrics between GPUs that differ from one pipe in and one out per GPU at
	// NVLink's rate; nil: there are none.
	Inside []*inside.Fabric
	// Changes are NVLinks that fail or recover with NVSwitch chips, in the order of time.
	Changes []inside.Change
}

// MaxWay is the maximum number of pipes of a transfer inside a server.
const MaxWay = inside.MaxWay

// AnyRail is the rail of a storage server: it sends and receives itself on any rail.
const AnyRail = -1

// NVLink is the fabric inside a server.
type NVLink struct {
	Rate    unit.Rate
	Latency unit.Time
	PXN     bool // transfers change rails here, not in the network
}

// Execution is the state of jobs that run on a machine.
type Execution struct {
	Work    *workload.Mix
	DAG     *workload.DAG // all jobs' operations, on GPUs
	Machine Machine

	Start []unit.Time // by operation
	End   []unit.Time // unit.Never while not done
	Cause []int32     // the operation whose end released this one, -1 for none
	Left  int         // operations that have not ended
	// Computing counts operations that run without bytes in the carrier: computations, transfers in NVLink, and jobs
	// that have not begun.
	Computing int

	NetBytes unit.Bytes // total bytes that the carrier delivers
	NVBytes  unit.Bytes // delivered by NVLink so far

	carrier Carrier
	dead    []bool  // by GPU: whether it is lost; nil: none
	deps    []int32 // operations that each waits for
	ahead   []int32 // operations executed ahead: see Ahead.Execution
	pipes   pipes
	copied  []unit.Time // by GPU: time at which its kernels have copied their data
}

// New prepares jobs for execution.
func New(c Carrier, m Machine, jobs *workload.Mix) *Execution {
	d := jobs.DAG
	x := &Execution{Work: jobs, DAG: d, Machine: m, carrier: c, Left: len(d.Ops)}
	x.deps = make([]int32, len(d.Ops))
	x.Cause = make([]int32, len(d.Ops))
	x.Start = make([]unit.Time, len(d.Ops))
	x.End = make([]unit.Time, len(d.Ops))
	x.pipes, x.copied = newPipes(&x.Machine), make([]unit.Time, len(m.Server))
	for i := range d.Ops {
		o := &d.Ops[i]
		x.deps[i], x.Cause[i], x.End[i] = o.Deps, -1, unit.Never
		if !o.Compute() && !x.Local(int(o.Rank), int(o.Peer)) {
			x.NetBytes += o.Bytes
		}
	}
	return x
}

// Local reports whether two GPUs share a server.
func (x *Execution) Local(a, b int) bool { return x.Machine.Server[a] == x.Machine.Server[b] }

// Relay returns the GPU through which one GPU reaches another. It is the GPU itself if the network connects their
// NICs, unless PXN is on. Otherwise it is the GPU in its server on the other's rail (PXN).
func (x *Execution) Relay(from, to int) int {
	m := &x.Machine
	if m.Rail[from] == m.Rail[to] || m.Rail[from] == AnyRail || m.Rail[to] == AnyRail ||
		!m.NVLink.PXN && x.carrier.Reaches(from, to) {
		return from
	}
	return m.OnRail(from, to)
}

// OnRail returns a GPU of one's server on the other's rail. It is the GPU at the other's position in its server if
// that is on the rail (as for NICs shared by several GPUs), else the first one on it. If its server has none there,
// it is the GPU itself.
func (m *Machine) OnRail(from, to int) int {
	first := func(gpu int) int {
		for gpu > 0 && m.Server[gpu-1] == m.Server[gpu] {
			gpu--
		}
		return gpu
	}
	start := first(from)
	if at := start + to - first(to); m.has(at, from) && m.Rail[at] == m.Rail[to] {
		return at
	}
	for at := start; m.has(at, from); at++ {
		if m.Rail[at] == m.Rail[to] {
			return at
		}
	}
	return from
}

// has reports whether a GPU exists and is in one's server.
func (m *Machine) has(at, gpu int) bool { return at < len(m.Server) && m.Server[at] == m.Server[gpu] }

// Unreachable returns the GPUs of the first transfer without a path, neither in the network nor through another GPU
// of the sender's server.
func (x *Execution) Unreachable() (from, to int, cut bool) {
	reached := map[[2]int]bool{}
	for i := range x.DAG.Ops {
		o := &x.DAG.Ops[i]
		from, to := int(o.Rank), int(o.Peer)
		if o.Compute() || x.Local(from, to) || reached[[2]int{from, to}] {
			continue
		}
		if !x.carrier.Reaches(x.Relay(from, to), to) {
			return from, to, true
		}
		reached[[2]int{from, to}] = true
	}
	return
}

// Begin starts the jobs without a delay, and sets timers for the rest.
func (x *Execution) Begin() {
	for _, i := range x.ahead {
		x.after(x.End[i]-x.carrier.Now(), i, computed)
	}
	for j := range x.Work.Jobs {
		if at := x.Work.Jobs[j].Start; at > 0 {
			x.after(at, int32(j), begun)
		} else {
			x.begin(j)
		}
	}
}

// begin starts the operations of a job that have no dependencies.
func (x *Execution) begin(j int) {
	for i := x.Work.Jobs[j].Ops[0]; i < x.Work.Jobs[j].Ops[1]; i++ {
		if x.DAG.Ops[i].Deps == 0 && x.End[i] == unit.Never {
			x.launch(i)
		}
	}
}

// Done reports whether every operation has ended.
func (x *Execution) Done() bool { return x.Left == 0 }

// launch starts an operation whose inputs are available.
func (x *Execution) launch(i int32) {
	o := &x.DAG.Ops[i]
	if x.Dead(int(o.Rank)) {
		return
	}
	x.Start[i] = x.carrier.Now()
	if o.Copies() {
		x.copy(i)
		return
	}
	if o.Compute() {
		x.after(o.Dur, i, computed)
		return
	}
	from, to := int(o.Rank), int(o.Peer)
	if x.Local(from, to) {
		x.inside(i, from, to, arrived)
		return
	}
	if relay := x.Relay(from, to); relay != from {
		x.inside(i, from, relay, relayed)
		return
	}
	x.carrier.Send(i, from, to, o.Bytes)
}

// copy copies the bytes of a transfer after the bytes that the GPU was given before. The transfer starts while they
// are copied: an idle path carries the last of them at once.
func (x *Execution) copy(i int32) {
	o, now := &x.DAG.Ops[i], x.carrier.Now()
	end := max(now, x.copied[o.Rank]) + o.Dur
	x.copied[o.Rank] = end
	carried := x.DAG.After(i)[0]
	for x.DAG.Ops[carried].Compute() { // a wait in between
		carried = x.DAG.After(carried)[0]
	}
	x.after(end-min(o.Dur, x.carriedIn(carried))-now, i, computed)
}

// carriedIn returns the time of a transfer's bytes on the first part of an idle path: NVLink or the sender's NICs.
func (x *Execution) carriedIn(i int32) (line unit.Time) {
	o := &x.DAG.Ops[i]
	from, to := int(o.Rank), int(o.Peer)
	if !x.Local(from, to) {
		if to = x.Relay(from, to); to == from {
			if nics := x.Machine.NICs; nics != nil {
				return unit.Serialize(o.Bytes, nics[from])
			}
			return 0
		}
	}
	line, _ = x.Alone(from, to, o.Bytes)
	return line
}

// after schedules a bell for an operation.
func (x *Execution) after(d unit.Time, op, stage int32) {
	x.Computing++
	x.carrier.After(d, Bell{op, stage})
}

// Ring continues an operation whose delay is over.
func (x *Execution) Ring(b Bell) {
	x.Computing--
	if b.Stage == begun {
		x.begin(int(b.Op))
		return
	}
	o := &x.DAG.Ops[b.Op]
	if x.Dead(int(o.Rank)) || b.Stage == arrived && x.Dead(int(o.Peer)) {
		return
	}
	x.NVBytes += o.Bytes // none of a computation
	if b.Stage == relayed {
		to := int(o.Peer)
		x.carrier.Send(b.Op, x.Relay(int(o.Rank), to), to, o.Bytes)
		return
	}
	x.finish(b.Op)
}

// Delivered ends an operation whose bytes have crossed the network.
func (x *Execution) Delivered(op int32) {
	if !x.Dead(int(x.DAG.Ops[op].Peer)) {
		x.finish(op)
	}
}

// Kill stops a GPU: its computations, and its transfers in either direction, never end.
func (x *Execution) Kill(gpu int) {
	if x.dead == nil {
		x.dead = make([]bool, len(x.Machine.Server))
	}
	x.dead[gpu] = true
}

// Dead reports whether a GPU was killed.
func (x *Execution) Dead(gpu int) bool { return x.dead != nil && x.dead[gpu] }

// finish ends an operation and launches those that waited only for it.
func (x *Execution) finish(i int32) {
	x.End[i] = x.carrier.Now()
	x.Left--
	d := x.DAG
	for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
		if x.deps[s]--; x.deps[s] == 0 {
			x.Cause[s] = i
			x.launch(s)
		}
	}
}

// Begun reports whether an operation's inputs were there and its job had begun.
func (x *Execution) Begun(i int32) bool {
	return x.deps[i] == 0 && x.Work.Jobs[x.Work.Of(i)].Start <= x.carrier.Now()
}

// Waiting returns the first transfer that has started and not ended, -1 for none. It is the one that blocks an idle
// network.
func (x *Execution) Waiting() int32 {
	for j := range x.Work.Jobs {
		p := &x.Work.Jobs[j]
		if p.Start > x.carrier.Now() {
			continue
		}
		for i := p.Ops[0]; i < p.Ops[1]; i++ {
			if x.deps[i] == 0 && x.End[i] == unit.Never && !x.DAG.Ops[i].Compute() {
				return i
			}
		}
	}
	return -1
}

// Progress is the state of a run in progress.
type Progress struct {
	Now        unit.Time
	PacketHops int64      // packets over links; 0 without packets
	Delivered  unit.Bytes // by the network
	Total      unit.Bytes
	OpsLeft    int
	Ops        int
}

// Share returns the completed share of a run: by bytes, or by operations without network.
func (p Progress) Share() float64 {
	if p.Total > 0 {
		return float64(p.Delivered) / float64(p.Total)
	}
	return float64(p.Ops-p.OpsLeft) / float64(max(p.Ops, 1))
}

// Observer is called every now and then; returning false interrupts the run. The observer must not change the
// execution.
type Observer func(Progress) bool
