package layouts

import (
	"fmt"

	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// RailsOf describes how a fabric's rails can be sliced, from its graph, for any kind of description. If they cannot,
// the result has the reason.
func RailsOf(plan *scenario.Plan) planner.Rails {
	r, err := plan.Graph.Rails()
	if err == nil && !ownRails(plan) {
		err = alike(plan)
	}
	if err != nil {
		return planner.Rails{Whole: err.Error()}
	}
	return planner.Rails{Hosts: r.Hosts, Segments: r.Segments, Uplinks: r.Spines * r.Uplinks, Separate: true}
}

// ownRails reports whether a scenario's fabric has rails defined by keys that can be made smaller.
func ownRails(plan *scenario.Plan) bool {
	return plan.Shape.Kind == "rail" || plan.Shape.Kind == "rail-only"
}

// alike refuses fabrics that a slice of rails cannot represent: servers or switches of several kinds.
func alike(plan *scenario.Plan) error {
	one := plan.Slowest()
	for h, k := range plan.Kinds {
		if k.GPU != one.GPU || k.NVLink != one.NVLink || k.Pair != k.GPU.Pair {
			return fmt.Errorf("%s has other GPUs, or another NVLink, than others",
				plan.Graph.Nodes[plan.Graph.Hosts[h]].Name)
		}
	}
	first := -1
	for n := range plan.Graph.Nodes {
		if plan.Graph.Nodes[n].Role == topo.Host {
			continue
		}
		if first < 0 {
			first = n
		}
		if plan.SpecOf(n).Buffer != plan.SpecOf(first).Buffer || through(plan, n) != through(plan, first) {
			return fmt.Errorf("%s has another packet memory, or another latency, than %s",
				plan.Graph.Nodes[n].Name, plan.Graph.Nodes[first].Name)
		}
	}
	return nil
}

func through(plan *scenario.Plan, n int) unit.Time {
	return plan.Graph.Nodes[n].Through(plan.Switching.Pipeline)
}

// cutFabric replaces a scenario's fabric by a slice of it.
func cutFabric(f *scenario.File, plan *scenario.Plan, cut planner.Slice) error {
	if !ownRails(plan) {
		r, err := plan.Graph.Rails()
		if err != nil {
			return err
		}
		asRails(f, plan, r)
	}
	f.Fabric.Hosts, f.Fabric.Segments, f.Fabric.Pods, f.Fabric.Supers = cut.Hosts, cut.Segments, 1, 0
	f.Fabric.Spines, f.Fabric.Uplinks = cutSpines(f.Fabric.Spines, cut.Uplinks)
	f.Failures, f.Events, f.Switches = nil, nil, nil
	return nil
}

// asRails converts a fabric of any description to one built of rails.
func asRails(f *scenario.File, plan *scenario.Plan, r topo.Rails) {
	link := func(c topo.Cable) scenario.Link {
		return scenario.Link{Rate: c.Rate, Cable: scenario.Length(c.LengthMM), Delay: c.Delay, BER: c.BER}
	}
	was := f.Fabric
	f.Fabric = scenario.Default().Fabric
	f.Fabric.Kind, f.Fabric.Spines, f.Fabric.HostLink = "rail", r.Spines, link(r.Host)
	if f.Fabric.FabricLink = link(r.Fabric); r.Spines == 0 {
		f.Fabric.Kind, f.Fabric.FabricLink = "rail-only", was.FabricLink
	}
	f.Fabric.CutThrough, f.Fabric.PauseDelay = was.CutThrough, was.PauseDelay
	for n := range plan.Graph.Nodes {
		if plan.Graph.Nodes[n].Role != topo.Host {
			f.Fabric.Pipeline, f.Switch.Buffer = through(plan, n), plan.SpecOf(n).Buffer
			break
		}
	}
	inside := plan.Slowest()
	f.Server.GPU, f.Server.NVLink = inside.GPU.Name, inside.NVLink
	f.Server.GPUs, f.Server.NICs, f.Server.NICPorts = r.Count, r.Count, 1
}
