package scenario

import (
	"railyard/internal/field"
	"railyard/unit"
)

// MaxPackets bounds what packet fidelity will start: about a day at ten
// million packets a second.
const MaxPackets = 1_000_000_000_000

// work builds the workload.
func (p *resolver) work() error {
	if err := p.accelerators(); err != nil {
		return err
	}
	p.NVLatency, p.PXN = p.File.Server.NVLatency, p.File.Server.PXN
	w := &p.File.Workload
	n := 0
	for _, set := range []bool{w.Training != nil, w.Traffic != nil, len(w.Ops) > 0} {
		if set {
			n++
		}
	}
	if n != 1 {
		return field.New("workload", "holds %d workloads, expected exactly one of training, traffic, ops", n)
	}
	var err error
	switch {
	case w.Training != nil:
		err = p.training(w.Training)
	case w.Traffic != nil:
		err = p.traffic(w.Traffic)
	default:
		err = p.ops(w.Ops)
	}
	if err != nil {
		return err
	}
	return p.bound()
}

// endOfTime is half of what a clock of picoseconds can count, 53 days.
const endOfTime = float64(unit.Never / 2)

// bound refuses work that could not end in reasonable time, or not before the clock
// overflows: by the longest chain of computing, and all transfers one after the other
// on the slowest link.
func (p *resolver) bound() error {
	packets, bytes := int64(0), 0.0
	computing := 0.0
	for j := range p.Jobs {
		job := &p.Jobs[j]
		for i := range job.DAG.Ops {
			o := &job.DAG.Ops[i]
			if !o.Compute() && !p.Graph.Together(job.GPU(o.Rank), job.GPU(o.Peer)) {
				packets += int64(o.Bytes)/int64(p.RC.MTU) + 1
				if packets < 0 || packets > MaxPackets {
					return field.New("workload", "needs more than %d packets; packet fidelity stops there",
						int64(MaxPackets))
				}
			}
			bytes += float64(o.Bytes)
		}
		computing = max(computing, float64(job.Start)+job.DAG.Computing(endOfTime))
	}
	slowest := p.NVLink
	for _, k := range p.Kinds {
		slowest = min(slowest, k.Reach())
	}
	for _, l := range p.Graph.Links {
		slowest = min(slowest, l.Rate)
	}
	for i := range p.Events {
		slowest = min(slowest, p.Events[i].Rate)
	}
	if end := computing + bytes*8/float64(slowest)*float64(unit.Second); end > endOfTime {
		return field.New("workload",
			"could take %.3g days by its computing and transfers; simulated time ends after 53",
			end/float64(unit.Second)/86400)
	}
	return nil
}
