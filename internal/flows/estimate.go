package flows

import (
	"railyard/internal/explain"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// Cost is the cost of a run, known before it is built.
type Cost struct {
	Messages int64
	Memory   unit.Bytes
	Seconds  float64
	Causes   float64 // seconds of dividing lost time among causes
	Ahead    float64 // of Seconds: the part that plans of one step share (scenario.Plan.Ahead)
	routes   *topo.Routes
}

// Costs, measured on training steps of 64 to 32,768 GPUs.
const (
	messagesPerSecond = 4e5
	opsPerSecond      = 1.5e6

	memoryBase    = 30 * unit.MB
	memoryPort    = 4 * unit.KB
	memoryOp      = 160
	memoryMessage = 330
)

// Estimate counts the work of a plan's workload.
func Estimate(p *scenario.Plan) Cost {
	c := Cost{routes: p.Graph.Reroute(nil, nil, scenario.Besides(p.LB, p.Scheduled))}
	mtu := unit.Bytes(p.RC.MTU)
	pairs, apart := map[[2]int]struct{}{}, int64(0)
	sim.Transfers(p, func(job *workload.Job, from, to int, bytes unit.Bytes) {
		if job.Apart {
			apart++
		} else if p.Causes {
			pairs[[2]int{from, to}] = struct{}{}
		}
		c.Messages += max(1, min(int64(max(p.QPs, p.Graph.Ways(from), p.Graph.Ways(to))), int64(bytes/mtu)))
	})
	tables, _ := sim.Tables(p)
	ops := int64(p.Ops())
	c.Seconds = tables.Seconds + float64(ops)/opsPerSecond + float64(c.Messages)/messagesPerSecond
	if len(p.Jobs) == 1 && len(p.Incidents) == 0 {
		c.Ahead = float64(ops) / opsPerSecond
	}
	c.Memory = tables.Memory + memoryBase + memoryPort*unit.Bytes(2*len(p.Graph.Links)) + memoryOp*unit.Bytes(ops) +
		sim.MemoryEdge*unit.Bytes(p.Edges()) + memoryMessage*unit.Bytes(c.Messages)
	c.Causes = explain.Seconds(p, c.Messages, int64(len(pairs))+apart, false)
	return c
}
