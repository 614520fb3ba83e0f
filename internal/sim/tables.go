package sim

import (
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// What routes and forwarding tables cost, measured on chains, rings with chords and Clos fabrics of 2,000
// to 32,000 switches.
const (
	secondsVisit = 4e-9
	secondsSet   = 3e-6 // of next links: found, laid out, made a group
	secondsEntry = 6e-9

	memoryEntry = 2 // of a table, by locator
	memoryRun   = 12
	memorySet   = 450
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
	c.Memory = memoryBase + memoryEntry*unit.Bytes(e.Entries()) + memoryRun*unit.Bytes(e.Runs) +
		memorySet*unit.Bytes(e.Sets)
	c.Seconds = secondsVisit*float64(e.Visits) + secondsSet*float64(e.Sets) + secondsEntry*float64(e.Entries())
	return c, e
}
