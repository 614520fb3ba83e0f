package layouts

import (
	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/unit"
)

// SiteOf is what the cost model knows of a plan's fabric.
func SiteOf(plan *scenario.Plan, gpus int) planner.Site {
	slow := plan.Slowest()
	s := planner.SiteOf(plan.Graph, slow.GPU, gpus, slow.Reach())
	s.Mesh, s.Switch = slow.Mesh(), plan.Adding()
	s.NVLatency, s.Latency = plan.NVLatency, 2*plan.NICs.Latency+2*unit.Microsecond
	if plan.Shape.Pods > 1 {
		s.Pod = plan.Shape.Hosts * plan.Shape.Segments
	}
	s.Spread, s.QPs = !plan.LB.Fixed(), max(1, plan.QPs)
	return s
}
