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
	file := plan.Settled()
	if n := plan.Folded; n > 1 {
		return in, field.New("--fabric", "%s is one of %d rails (workload.training.fold), with 1 of %[2]d GPUs of each group, and the cost model takes all; with server: --set server.gpus=%[3]d --set server.nics=%[4]d --set workload.training.fold=false",
			fabric, n, n*file.Server.GPUs, n*file.Server.NICs)
	}
	if gpus == 0 {
		gpus = all
	}
	if gpus > all {
		return in, field.New("--gpus", "the fabric of %s has %d, found %d", fabric, all, gpus)
	}
	if by := plan.HostLimited(); by != "" {
		return in, field.New("transport", "the cost model has the rates of links, and hosts limit %s; simulate it with run or compare", by)
	}
	return planner.SearchInput{Training: t, Site: SiteOf(plan, gpus, &t)}, nil
}

// SiteOf describes a plan's fabric for the cost model of a training.
func SiteOf(plan *scenario.Plan, gpus int, t *workload.Training) planner.Site {
	slow := plan.Slowest()
	s := planner.SiteOf(plan.Graph, slow.GPU, gpus, slow.Reach())
	s.Mesh, s.Switch = slow.Mesh(), plan.Adding()
	s.NVLatency, s.Latency = plan.NVLatency, 2*plan.NICs.Latency+2*unit.Microsecond
	if plan.Shape.Pods > 1 {
		s.Pod = plan.Shape.Hosts * plan.Shape.Segments
	}
	least, sum := t.PeakOf(slow.GPU), 0.0
	for gpu := range gpus {
		sum += t.PeakOf(plan.KindOf(gpu).GPU)/least - 1 // 0 of equal ones, to the digit
	}
	if sum > 0 {
		s.Mixed, s.Others = true, 1+sum/float64(gpus)
	}
	s.Spread, s.QPs = !plan.LB.Fixed(), max(1, plan.QPs)
	return s
}
