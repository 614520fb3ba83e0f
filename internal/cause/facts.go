package cause

import "railyard/unit"

// Facts is what remedies and counterfactuals need to know of a run. Whoever has a resolved plan fills it in.
type Facts struct {
	Transport string // roce, mrc, uec, srd, falcon
	CC        string // congestion control's name, "none" without
	LB        string // path choice: ecmp, flowlet, spray, …
	Recovery  string // go-back-n, selective; RC only
	WriteOnly bool   // each packet carries its address
	Lossless  bool   // PFC is on
	PFC       bool
	Scheduled bool // a scheduled fabric

	Kind       string // fabric.kind; "" for described fabrics
	HostRate   unit.Rate
	FabricRate unit.Rate
	Switches   int // tiers of switches with several paths: 0 where a fabric has one switch per rail
	FanIn      int // senders at the receiver that is blamed, 0 unknown
	PCIe       unit.Rate
	BitErrors  bool // a link has a bit error rate
	Events     bool // links, switches, NICs fail or change rate
	Jobs       int
}

// Change is a scenario's settings that differ, as --set takes them.
type Change struct {
	Says string   // what to change, in words
	Set  []string // key=value
	Drop []string // keys to take out of the file
	// Impossible says why there is no such run; Set and Drop are empty then.
	Impossible string
	// Doubt says what else the change takes away; "" where it takes the cause alone.
	Doubt string
}

// no is a cause that no run can be without.
func no(why string) func(*Facts) Change {
	return func(*Facts) Change { return Change{Impossible: why} }
}

// none is a cause without a remedy.
func none(*Facts) []Change { return nil }

// sprays is per-packet balancing, with NICs that place packets in any order where the transport needs to be told.
func sprays(f *Facts) Change {
	if f.Transport != "roce" {
		return Change{Says: "spraying over all paths", Set: []string{"lb=spray"}}
	}
	return Change{Says: "per-packet spraying with NICs that place packets in any order",
		Set: []string{"lb=spray", "transport.recovery=selective", "transport.write=only"}}
}

// anyOrder is NICs that place packets in any order.
func anyOrder(*Facts) Change {
	return Change{Says: "NICs that place packets in any order",
		Set: []string{"transport.recovery=selective", "transport.write=only"}}
}

// unlimited is buffers that neither drop nor pause.
var unlimited = []string{"switch.buffer=2000MB", "switch.queues.3.xoff=600MB", "switch.queues.3.xon=500MB"}

// failing is what breaks links and slows them down.
var failing = []string{"events", "failures"}
