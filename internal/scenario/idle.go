package scenario

import (
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/param"
	"railyard/transport/protocols"
)

// idle notes what somebody gave for something that is not chosen. It may stand there to be compared
// with, by --set: so it is no error, as keys of another kind of fabric are, and where --set chose
// nothing is said.
func (p *resolver) idle() error {
	def := Default()
	if p.File.Server.PCIe == 0 {
		p.noteIdle(&def, "no server.pcie slows the receiver down", "server.rx_xoff", "server.rx_xon")
	}
	if !p.watched() {
		p.noteIdle(&def, "no watchdog is on (switch.watchdog.on)", "switch.watchdog.poll",
			"switch.watchdog.detect", "switch.watchdog.restore", "switch.watchdog.action")
	}
	var options []string
	for _, par := range lbParams {
		if !slices.ContainsFunc(p.LB.Params, func(o param.Param) bool { return o.Name == par.Name }) {
			options = append(options, "lb_options."+par.Name)
		}
	}
	if !p.setBy("lb") {
		p.noteIdle(&def, "lb is "+p.LB.Name, options...)
	}
	if used, _ := p.LBValues["credits"].(bool); used && !p.lossless() {
		p.note("lb_options.credits has no effect: only lossless queues return credit, and data is in none (switch.queues.%d.lossless)", p.Spec.DSCP[p.Default().DSCP])
	}
	for _, name := range cc.Names() {
		var keys []string
		for _, par := range cc.Lookup(name).Params {
			keys = append(keys, field.Join("cc."+name, par.Name))
		}
		chosen := p.Default().CC.Name
		used := func(s Service) bool { return s.CC.Name == name }
		if !slices.ContainsFunc(p.Services, used) && !p.setBy("cc.algorithm") {
			p.noteIdle(&def, "cc.algorithm is "+chosen, keys...)
		}
	}
	for _, of := range protocols.All {
		var keys []string
		for _, par := range of.Params {
			keys = append(keys, field.Join("transport."+of.Name, par.Name))
		}
		if c := p.Default().Carried; (c == nil || c.Name != of.Name) && !p.setBy("transport.kind") {
			p.noteIdle(&def, "transport.kind is not "+of.Name, keys...)
		}
	}
	if len(p.File.Jobs) == 0 && !p.setBy("placement") {
		p.noteIdle(&def, "the scenario has no jobs: a workload takes GPUs in their order", "placement")
	}
	placed := func(j Job) bool { return j.Place == "" && len(j.On) == 0 && !j.named() }
	if len(p.File.Jobs) > 0 && !slices.ContainsFunc(p.File.Jobs, placed) {
		p.noteIdle(&def, "each job sets its GPUs (jobs.NAME.placement, on)", "placement")
	}
	return nil
}

// lossless reports whether a switch has PFC for the data of a service.
func (p *resolver) lossless() bool {
	for n := range p.Graph.Nodes {
		spec := p.specs[n]
		if spec != nil && slices.ContainsFunc(p.Services, func(s Service) bool {
			return spec.Queues[spec.DSCP[s.DSCP]].Lossless
		}) {
			return true
		}
	}
	return false
}

// noteIdle notes which of some keys somebody gave other values than they have anyway.
func (p *resolver) noteIdle(def *File, why string, keys ...string) {
	if keys = slices.DeleteFunc(keys, func(key string) bool { return !p.says(key) }); len(keys) == 0 {
		return
	}
	_, now := p.File.Values()
	_, before := def.Values()
	keys = slices.DeleteFunc(keys, func(key string) bool { return now[key] == before[key] })
	if len(keys) > 0 {
		has := "has"
		if len(keys) > 1 {
			has = "have"
		}
		p.note("%s %s no effect: %s", strings.Join(keys, ", "), has, why)
	}
}

// watched reports whether a switch has the watchdog on.
func (p *resolver) watched() bool {
	for i, n := range p.Graph.Nodes {
		if n.Role != topo.Host && p.specs[i].Watchdog.On {
			return true
		}
	}
	return false
}

// setBy reports whether --set gave a key.
func (d *Document) setBy(key string) bool {
	return slices.Contains(d.given, key) ||
		slices.ContainsFunc(d.Sets, func(s string) bool { return strings.HasPrefix(s, key+"=") })
}
