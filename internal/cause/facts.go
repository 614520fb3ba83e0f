package cause

import (
	"fmt"

	"railyard/unit"
)

// Facts holds the facts of a run that remedies and counterfactuals need. internal/facts fills it from a resolved
// plan, and Lost from what the run counted.
type Facts struct {
	Transport  string  // roce, mrc, srd, falcon
	OwnControl bool    // the transport's congestion control is its own, and cannot be turned off
	CC         string  // congestion control's name, "none" without
	Delays     bool    // targets or windows of that control follow round-trip times
	Credits    bool    // receivers grant credit
	LB         string  // path choice: ecmp, flowlet, spray, …
	SameSeed   bool    // all switches hash with one seed
	Timeout    int     // RC: exponent of the local ACK timeout; 0: others, or never
	Recovery   string  // go-back-n, selective; RC only
	Overtakes  bool    // packets of a flow may overtake one another
	NakAfter   int     // selective: packets after a gap before it counts as loss
	Flight     int     // packets in flight that the transport's own setting permits; 0: it has none
	Telemetry  bool    // packets keep their paths, whose switches fit the header of INT
	Named      bool    // acknowledgements name packets, which limits Flight
	MaxWindow  float64 // largest window of congestion control, in bandwidth-delay products; 0: no such parameter
	Window     int     // selective: packets that overtake a gap on the longest path; 0: the window suffices
	Mixes      bool    // whether packets of a flow overtake one another, and go-back-N treats that as loss
	WriteOnly  bool    // each packet carries its address
	Lossless   bool    // PFC protects the queue of data
	PFC        bool    // PFC protects some queue
	ToLossless string  // the setting that puts data of a lossy queue into one with PFC; "": none does
	Trims      bool    // the queue of data trims
	Scheduled  bool    // a scheduled fabric
	Queue      string  // number of the queue of data
	XOff       unit.Bytes
	Headroom   unit.Bytes // of the queue of data; 0: computed
	Limit      unit.Bytes // limit of the data queue; 0: dynamic, by alpha

	Kind       string // fabric.kind; "" for described fabrics
	HostRate   unit.Rate
	FabricRate unit.Rate // rate of the fastest link between switches; 0: no such link
	Uplinks    int       // fabric.uplinks; 0: the kind has no such key
	Switches   int       // tiers of switches with several paths: 0 where a fabric has one switch per rail
	Channels   bool      // cables between switches are channels, over whose members switches hash
	Ports      int       // of a NIC
	Bond       string    // server.bond
	QPs        int       // per pair of GPUs
	Far        bool      // packets are in the longest path's cables for much longer than in its switches
	PCIe       unit.Rate // server.pcie; 0: no limit
	SlowPCIe   bool      // whether some server's PCIe limits its NICs, whichever key sets it
	BitErrors  bool      // a link has a bit error rate
	Events     bool      // links, switches, NICs fail or change rate
	Circuits   bool      // circuits of an OCS move, and nothing fails
	Noticed    unit.Time // when routes first change for a failure, where hashing gives each connection a path; 0: none
	Unmet      bool      // what failed changed no connection's path and lost no packet
	Storms     bool      // a NIC pauses continuously
	Jobs       int
	Trees      bool // the workload is one collective, by trees
	// Reorder is the memory of a NIC for packets that overtook others. ReorderEntries is its limit in packets, 0
	// for none. ReorderLocal reports whether all such packets pass through it.
	Reorder        unit.Bytes
	ReorderEntries int
	ReorderLocal   bool
	Hosted         bool // the transport takes cores of hosts
	GPUDirect      bool // GPUDirect: no copies in host memory
	Lost           Lost
	Store          Store
	Inside         bool // no packet crossed the network
	MixedGPUs      bool // a training has GPUs of several kinds
	NVLinkLatency  bool // most of the latency on the critical path is NVLink's
	Stores         bool // switches receive whole packets first, which takes 0.5 % of the step
}

// Lost counts the packets that a run lost, by reason. In a run that was not simulated, missing reasons count 0.
type Lost struct {
	Known     bool  // the run was simulated
	BitErrors int64 // corrupted on links
	Down      int64 // sent into links that are down, or without a route
	Full      int64 // dropped by full queues, WRED or trimmed
	Timeouts  int64 // local ACK timeouts
}

// Change is the difference of a run from another one: settings of the scenario, and edits of the resolved plan.
type Change struct {
	Says  string   // the change as a sentence
	Set   []string // key=value, as --set takes it
	Drop  []string // keys to take out of the file
	Edits []Edit   // edits of a remedy that no setting makes in every fabric and transport
	// Cables changes each link of the resolved plan, as an edit; nil: none. Extensions have it.
	Cables func(c *Cable)
	// Needs describes the hardware that the remedy requires and the fabric may lack; "" where settings are enough.
	Needs string
	// Also lists the other causes that the change removes.
	Also []ID
	// Impossible says why there is no such run; Set, Drop, Edits and Cables are empty then.
	Impossible string
	// Doubt says what else the change takes away, or adds; "" where it takes the cause alone.
	Doubt string
}

// Edit is a change of a resolved plan that no setting makes for every kind of fabric and transport. internal/whatif
// makes it; the seed stays.
type Edit uint8

// The edits.
const (
	NoDelay        Edit = iota + 1 // cables, switches, NICs and NVLink add no delay, switches cut through
	FastReceivers                  // links to NICs carry the rate of all senders together, in that direction
	FastFabric                     // links between switches are 16 times as fast
	NoBitErrors                    // bit errors of links, also by events
	NoPCIe                         // PCIe is as fast as the wire
	NoLimits                       // buffers neither drop, trim nor pause
	NoFailures                     // nothing goes down
	NoSlowdowns                    // links run at the rate of their kind
	NoStorms                       // no NIC pauses continuously
	NoReorderLimit                 // NICs have memory for all packets that overtake others
	NoHostTime                     // hosts take no time for a transport in software
	EvenRanks                      // slow ranks compute as long as their siblings, or the fastest GPU
	edits
)

// FabricTimes is how much faster links between switches become by FastFabric.
const FabricTimes = 16

var editNames = [edits]string{NoDelay: "delays 0 and cut-through switches",
	FastReceivers: "links to receivers as fast as all senders together",
	FastFabric:    "links between switches 16 times as fast", NoBitErrors: "no bit errors",
	NoPCIe: "PCIe as fast as the wire", NoLimits: "buffers without limit", NoFailures: "no failure",
	NoSlowdowns: "every link at the rate of its kind", NoStorms: "no PFC storm",
	NoReorderLimit: "reorder memory without limit", NoHostTime: "hosts that take no time",
	EvenRanks: "ranks that compute as long as their siblings"}

// String returns the edit in words.
func (e Edit) String() string { return editNames[e] }

// Edited reports whether the change is more than words and settings: it takes a plan to make it.
func (c *Change) Edited() bool { return len(c.Edits) > 0 || c.Cables != nil }

// IsPossible reports whether such a run exists.
func (c *Change) IsPossible() bool { return c.Impossible == "" }

// edit is a change by edits alone.
func edit(says string, edits ...Edit) Change { return Change{Says: says, Edits: edits} }

// no is a cause that no run can be without.
func no(why string) func(*Facts) Change {
	return func(*Facts) Change { return Change{Impossible: why} }
}

// none is a cause without a remedy.
func none(*Facts) []Change { return nil }

// anyPlace says which hardware receives packets in any order.
const anyPlace = "NICs that place packets in any order"

// sprays is per-packet balancing over all paths and ports, with NICs that place packets in any order where the
// transport needs to be told.
func sprays(f *Facts) Change {
	switch {
	case f.Scheduled:
		return Change{Impossible: "a scheduled fabric already sprays cells over all links"}
	case f.LB == "dimension-order" || f.LB == "minimal":
		return otherPaths(f)
	case f.Channels && (f.LB != "ecmp" || f.Transport != "roce"):
		return Change{Impossible: "switches hash over the members of channels"}
	case f.Transport != "roce":
		return Change{Says: "spraying over all paths", Set: []string{"lb=spray-least"}}
	}
	c := Change{Says: "per-packet spraying",
		Set: []string{"lb=spray-least"}, Also: []ID{Reordering}}
	if f.Channels {
		c.Says, c.Set = "per-packet spraying by source ports (REPS)", []string{"lb=reps"}
	}
	if f.Ports > 1 && f.Bond == "hash" && f.QPs >= f.Ports {
		c.Set = append(c.Set, "server.bond=affinity")
	}
	inAnyOrder(f, &c)
	return c
}

// otherPaths are the paths that fixed routing of a torus or a dragonfly leaves unused.
func otherPaths(f *Facts) Change {
	switch f.LB {
	case "dimension-order":
		c := Change{Says: "adaptive minimal paths", Set: []string{"lb=minimal-adaptive"}, Also: []ID{Reordering}}
		if f.Transport == "roce" {
			inAnyOrder(f, &c)
		}
		return c
	case "minimal":
		return Change{Says: "paths through other groups, by load", Set: []string{"lb=ugal"}}
	}
	return Change{Impossible: "switches already choose among all paths"}
}

// inAnyOrder adds what NICs need to place packets in any order.
func inAnyOrder(f *Facts, c *Change) {
	if f.Recovery != "selective" {
		c.Set, c.Needs = append(c.Set, selective(f)...), anyPlace
		if f.Lost.BitErrors+f.Lost.Down > 0 {
			c.Doubt = "packets that links lose are recovered in another way"
		}
	}
	if !f.WriteOnly {
		c.Set, c.Needs = append(c.Set, "transport.write=only"), anyPlace
	}
}

// selective sets selective retransmission, with a window that fills the longest path.
func selective(f *Facts) []string {
	set := []string{"transport.recovery=selective"}
	if f.Window > 0 {
		set = append(set, fmt.Sprint("transport.window=", f.Window))
	}
	return set
}

// anyOrder is NICs that place packets in any order.
func anyOrder(f *Facts) Change {
	c := Change{Says: anyPlace}
	if inAnyOrder(f, &c); len(c.Set) == 0 {
		return Change{Impossible: "the NICs already place packets in any order"}
	}
	return c
}

// uncontrolledWords is what uncontrolled changes.
const uncontrolledWords = "without congestion control"

// uncontrolled is a run without congestion control, in which buffers never overflow.
func uncontrolled(f *Facts) Change {
	switch {
	case f.Scheduled && f.CC == "none":
		return Change{Impossible: "credit is how a scheduled fabric admits packets"}
	case f.OwnControl:
		return Change{Impossible: "the transport's congestion control is its own"}
	case f.CC == "none":
		return Change{Impossible: "no congestion control runs"}
	}
	c := edit("no congestion control, buffers without limit", NoLimits)
	if c.Set = []string{"cc.algorithm=none"}; f.Mixes {
		c.Doubt = "packets overtake one another more, which go-back-N takes for loss"
	}
	return c
}

// controls are other congestion controls than a run has, the most promising first; RC only.
func controls(f *Facts, names ...string) (all []Change) {
	needs := map[string]string{"hpcc": "switches that write telemetry into packets (INT)",
		"swift": "NICs with hardware timestamps"}
	for _, cc := range names {
		if cc == "swift" && f.SlowPCIe { // Swift counts the wait for PCIe as queueing, without end
			continue
		}
		if cc == "hpcc" && !f.Telemetry {
			continue
		}
		if f.Transport == "roce" && !f.Scheduled && f.CC != cc {
			all = append(all, Change{Says: "congestion control " + cc, Needs: needs[cc],
				Set: []string{"cc.algorithm=" + cc}})
		}
	}
	return all
}
