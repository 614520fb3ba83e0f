// Package explain reads what was executed and what the network was seen doing meanwhile, and
// says what came of it: completion times with their ideals and bounds, the step split by what
// held it up, the chain of operations that its end waited for, and what each collective lost
// to which cause. It knows no simulator: see Observation.
package explain

import (
	"fmt"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// Outcome turns an execution, finished or not, into what the run directory holds. Wall-clock
// figures are the caller's to fill in; limits say what the tables leave out.
func Outcome(p *scenario.Plan, x *exec.Execution, o *Observation, version string) (
	s *result.Summary, t *result.Tables, limits []string) {
	r := newReading(p, x, o)
	counted, recorded := o.Counted, o.Recorded
	s, t, limits = &counted, &recorded, o.Limits
	s.Name, s.Version, s.Seed, s.Fidelity = p.Name, version, p.Seed, o.Fidelity
	s.LB, s.Congestion = p.LB.Name, p.Services[0].Words
	s.Complete, s.GPUs, s.NVLinkBytes = x.Done(), r.graph.TotalGPUs(), int64(x.NVBytes)
	t.Topology = r.topology()
	r.queuePairs(t)
	r.critical(t)
	r.timeline(s)
	r.flows(s, t)
	r.ports(s, t)
	s.Collectives = r.collectives()
	b := r.newBlamer()
	s.Slowest = b.slowest()
	if last := r.lastOp(); last >= 0 {
		s.Chain = b.step(last)
	}
	if b.causes(t) {
		limits = append(limits, fmt.Sprintf("collectives.parquet holds the first %d collectives", maxCollectiveRows))
	}
	if r.ranks(t) {
		limits = append(limits, fmt.Sprintf("ranks.parquet holds the first %d operations of ranks", maxRankRows))
	}
	if m := p.Jobs[0].Training; m != nil {
		s.Params = m.Model.Params()
		s.Tokens, s.TrainingGPUs = m.Global()*m.Seq, m.GPUs()
		s.FLOPs = m.Model.StepFLOPs(s.Tokens, m.Seq)
		if s.StepTime > 0 && s.Complete {
			s.MFU = s.FLOPs / unit.Time(s.StepTime).Seconds() / (float64(m.GPUs()) * m.GPU.BF16)
		}
	}
	return s, t, limits
}
