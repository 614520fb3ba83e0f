package layouts

import (
	"railyard/internal/field"
	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"
)

// Asked returns the search of configurations for a training on a number of GPUs of a plan's fabric, 0: all. The
// fabric's name is for errors.
func Asked(t workload.Training, plan *scenario.Plan, fabric string, gpus int) (in planner.SearchInput, err error) {
	all := plan.Graph.TotalGPUs()
	if gpus == 0 {
		gpus = all
	}
	if gpus > all {
		return in, field.New("--gpus", "the fabric of %s has %d, found %d", fabric, all, gpus)
	}
	if by := plan.HostLimited(); by != "" {
		return in, field.New("transport", "the cost model has the rates of links, and hosts limit %s; simulate it with run or compare", by)
	}
	return planner.SearchInput{Training: t, Site: SiteOf(plan, gpus)}, nil
}

// SiteOf describes a plan's fabric for the cost model.
func SiteOf(plan *scenario.Plan, gpus int) planner.Site {
	slow := plan.Slowest()
	s := planner.SiteOf(plan.Graph, slow.GPU, gpus, slow.Reach())
	s.Mesh, s.Switch = slow.Mesh(), plan.Adding()
	s.NVLatency, s.Latency = plan.NVLatency, 2*plan.NICs.Latency+2*unit.Microsecond
	if plan.Shape.Pods > 1 {
		s.Pod = plan.Shape.Hosts * plan.Shape.Segments
	}
	sum := 0.0
	for gpu := range gpus {
		sum += plan.KindOf(gpu).GPU.BF16
	}
	s.Others = sum / (float64(gpus) * slow.GPU.BF16)
	s.Mixed = s.Mixed || s.Others > 1
	s.Spread, s.QPs = !plan.LB.Fixed(), max(1, plan.QPs)
	return s
}
