package scenario

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"railyard/cc"
	"railyard/internal/coll"
	"railyard/internal/exec"
	"railyard/internal/inside"
	"railyard/internal/model"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/internal/trace"
	"railyard/internal/workload"
	"railyard/param"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Plan is a resolved scenario: everything checked and built, nothing run. It contains the input of a run in
// resolved form. The source text is stored for the run directory (Text, Resolved) and to derive other scenarios
// (Settled).
type Plan struct {
	Name      string
	Seed      uint64
	BitErrors uint64 // added to the seed of bit errors, for another draw in the same scenario
	Fidelity  string // by name: see package fidelity

	Graph     *topo.Graph
	Shape     Shape // parameters of the graph
	Switching Switching
	Spec      queue.Spec    // configuration of the switch at the first NIC, by which NICs classify
	Base      queue.Spec    // the switch block: the platform below configurations
	specs     []*queue.Spec // by node
	// Ports whose configuration has other PFC priorities, or headroom, than their switch.
	PFC      map[topo.LinkEnd]uint8
	Headroom map[topo.LinkEnd]PortHeadroom
	Texts    map[string]string // switch configurations, by file
	// PFC modes of connected ports whose switch has a configuration. off also for ports without a PFC class that
	// others have.
	Modes    map[topo.LinkEnd]swconf.PFCMode
	Machines map[string]string // files that describe the inside of servers, by name
	Traces   []*trace.Trace    // traces of other tools, one for each job that has one
	Modelled *coll.Choice      // the last collective as NCCL's tuning model estimates it; nil: none
	LB       *route.Policy
	LBValues param.Values // its parameters
	Rise     queue.Rising // classes of packets on detours; none without
	Watched  bool         // whether pauses may close a circular dependency; as Deadlock found
	// settings of all switches together, for a scheduled fabric
	Scheduled *queue.Scheduled

	IPv6     bool // packets have its header
	NICs     NICs
	RC       rc.Config
	Tunnel   *Tunnel   // between edges and NICs; nil: none
	QPs      int       // queue pairs per pair of GPUs, that share each transfer
	Services []Service // services of connections, the default one first

	GPU       model.GPU // GPU of the server block, and of all servers whose type sets no other
	NVLink    unit.Rate // rate per GPU and direction
	NVLatency unit.Time
	Kinds     []*Kind           // by server
	Markings  map[int32]Marking // by NIC, for NICs whose marking differs from their service's
	Buses     []Bus             // PCIe buses that limit the rate
	Inside    []*inside.Fabric  // by domain: fabric between its GPUs; nil: a switch of NVLink's rate
	Boards    []*inside.Board   // by domain: NVSwitch chips between its GPUs; nil: unknown or none
	Chips     []inside.Change   // NVLinks of domains that fail or recover with chips, in the order of time
	Dark      []int             // circuits of an OCS that are not connected at first
	Phases    []Phase           // maps of OCSes by phases of the jobs
	Mirrors   unit.Time         // time in which these move
	PXN       bool              // transfers to another rail use NVLink first

	Storage *StoragePlan // nil: no server keeps data

	Jobs      []workload.Job // at least one
	Events    []LinkEvent    // events in the order of time
	Incidents []Incident     // likewise

	Patience   unit.Time // time for which collectives wait before they end the job
	Checkpoint unit.Time // checkpoint interval of a training; 0: unset
	Restart    unit.Time // restart time after a job has ended; 0: unset

	Sample     unit.Time // first sampling interval
	Rows       int       // most rows of the link table
	Causes     bool      // time above line rate is divided among causes
	Totals     bool      // the outcome has the totals of the run, no tables
	Steps      int       // number of kinds of recorded events, in order
	Notes      []string  // restrictions and assumptions that a reader should know
	Idle       []string  // the Notes about values without effect
	QueueNotes []string  // the Notes about the switches' configurations and queues
	Efficiency float64   // efficiency in percent that the training sets and Fabric omitted; 0: none
	Folded     int       // GPUs that each one of the omitted training stands for (fold); 0: it was not folded
	Unfit      string    // reason why a step has more operations than a simulation accepts; "": it does not

	// Ahead returns the part of the jobs already executed on the same host topology, for other plans with Totals,
	// too; nil: none.
	Ahead func(exec.Machine, *workload.Mix) *exec.Ahead

	pcieSwitches int // pcie switches of each server; 0: unknown

	doc    *Document
	origin *Document // the resolved document
	files  []string  // files read
	read   ReadFile
	inputs map[string]string // files that the scenario names, as far as a run directory stores them
}

// Shape is the parameters of a graph: a kind of fabric and its sizes. For an explicit one there are the kind and
// the servers.
type Shape struct {
	Kind string
	topo.Params
}

// Switching is the common settings of all switches.
type Switching struct {
	CutThrough bool
	Pipeline   unit.Time // latency of the ingress pipeline
	Response   unit.Time // response time to a pause; 0: by line rate
}

// NICs is the common settings of all NICs.
type NICs struct {
	Rate          unit.Rate  // of a port
	Bond          string     // how two ports share the load: hash, affinity, spray
	Latency       unit.Time  // GPU to NIC and NIC to GPU, each
	PCIe          unit.Rate  // payload rate between GPU and NIC, each direction; 0: no limit
	RxXOff, RxXOn unit.Bytes // receive buffer levels that pause the switch, and resume it
	Reorder       NICMemory  // memory for packets that arrive before earlier ones
}

// NICMemory is the memory of a NIC for RC packets that it cannot place yet; zero: it has no limit.
type NICMemory struct {
	Placement rc.Placement
	Bytes     unit.Bytes // bytes of payload; 0: no limit
	Entries   int        // packets; 0: no limit
	Rate      unit.Rate  // memory rate, where all packets ahead of a gap are written to memory
}

// Mix puts the jobs side by side on the fabric's GPUs.
func (p *Plan) Mix() (*workload.Mix, error) {
	gpus := p.Graph.TotalGPUs()
	return workload.NewMixOf(gpus, p.Graph.Ends()-gpus, p.Jobs...)
}

// MoreIP is the extra bytes of frames compared with IPv4.
func (p *Plan) MoreIP() unit.Bytes {
	if p.IPv6 {
		return roce.IPv6More
	}
	return 0
}

// DefaultService is the name of the service that the transport and cc blocks describe.
const DefaultService = "default"

// Default is the service that the transport and cc blocks describe.
func (p *Plan) Default() *Service { return p.Service(DefaultService) }

// Service returns the service of a name, nil when there is none.
func (p *Plan) Service(name string) *Service {
	for i := range p.Services {
		if p.Services[i].Name == name {
			return &p.Services[i]
		}
	}
	return nil
}

// Ops is the number of operations of all jobs.
func (p *Plan) Ops() (n int) {
	for i := range p.Jobs {
		n += len(p.Jobs[i].DAG.Ops)
	}
	return n
}

// Edges is the number of dependencies between operations of all jobs beyond two of each operation.
func (p *Plan) Edges() (n int) {
	for i := range p.Jobs {
		n += max(0, len(p.Jobs[i].DAG.Succ)-2*len(p.Jobs[i].DAG.Ops))
	}
	return n
}

// mostInputs bounds the bytes of files that a run directory stores. Measured sizes of messages and models of
// trainings are far smaller; traces may be larger.
const mostInputs = 4 << 20

// keep notes the text of a file that the scenario refers to.
func (p *Plan) keep(name string, text []byte) {
	if p.inputs == nil {
		p.inputs = map[string]string{}
	}
	total := len(text)
	for other, x := range p.inputs {
		if other != name {
			total += len(x)
		}
	}
	if total <= mostInputs && utf8.Valid(text) {
		p.inputs[name] = string(text)
	}
}

// Inputs returns the files that the scenario refers to, by name: texts up to 4 MiB together.
func (p *Plan) Inputs() map[string]string { return p.inputs }

// DefaultMarks describes the ECN thresholds of data if they are the default ones on all switches and congestion
// control reacts to marks; otherwise it returns "" (docs/references.md, ecn-thresholds).
func (p *Plan) DefaultMarks() string {
	s := p.Default()
	own := queue.Default()
	w := own.Queues[own.DSCP[24]].WRED
	if s.CC.Needs.Hears&cc.Marking == 0 {
		return ""
	}
	for _, spec := range p.specs {
		if spec != nil && spec.Queues[spec.DSCP[s.DSCP]].WRED != w {
			return ""
		}
	}
	return fmt.Sprintf("ECN thresholds are the default, %s to %s at any rate", w.Min.Show(), w.Max.Show())
}

// SpecOf returns the Spec of a switch.
func (p *Plan) SpecOf(node int) *queue.Spec { return p.specs[node] }

// Text returns the source of the scenario.
func (p *Plan) Text() string { return p.doc.Text }

// Sets are the overrides that it was read with.
func (p *Plan) Sets() []string { return p.doc.Sets }

// Read reads a file that the scenario names.
func (p *Plan) Read(name string) ([]byte, error) { return p.read(name) }

// Origin returns the document that was resolved.
func (p *Plan) Origin() *Document { return p.origin }

// Files returns the names of the files that were read for the plan, for Read.
func (p *Plan) Files() []string { return slices.Compact(slices.Sorted(slices.Values(p.files))) }

// Settled returns the scenario with every open value set, as the base of another scenario.
func (p *Plan) Settled() File { return p.doc.File }

// Refuse returns an error about a scenario's value, for users with stricter requirements than Resolve.
func (p *Plan) Refuse(key, format string, args ...any) error {
	return p.doc.Refuse(key, format, args...)
}

// note adds a warning for the user.
func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
