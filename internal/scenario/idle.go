package scenario

import (
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/param"
	"railyard/transport"
	"railyard/transport/protocols"
)

// idle notes keys of unselected options. A file may contain them for comparisons with --set, so they are not
// errors. Keys of another kind of fabric are. A file's keys are not noted if --set made the selection.
func (p *resolver) idle() error {
	def := Default()
	if p.File.Server.PCIe == 0 {
		p.noteIdle(&def, "", "no server.pcie slows the receiver down", "server.rx_xoff", "server.rx_xon")
	}
	if !p.watched() {
		p.noteIdle(&def, "", "no watchdog is on (switch.watchdog.on)", "switch.watchdog.poll",
			"switch.watchdog.detect", "switch.watchdog.restore", "switch.watchdog.action")
	}
	var options []string
	for _, par := range lbParams {
		if !slices.ContainsFunc(p.LB.Params, func(o param.Param) bool { return o.Name == par.Name }) {
			options = append(options, "lb_options."+par.Name)
		}
	}
	p.noteIdle(&def, "lb", "lb is "+p.LB.Name, options...)
	if used, _ := p.LBValues["credits"].(bool); used && !p.lossless() {
		p.note("lb_options.credits has no effect: only lossless queues return credit, and data is in none (switch.queues.%d.lossless)", p.Spec.DSCP[p.Default().DSCP])
	}
	for _, name := range cc.Names() {
		keys := []string{"cc." + name + ".profile"}
		for _, par := range cc.Lookup(name).Params {
			keys = append(keys, field.Join("cc."+name, par.Name))
		}
		chosen := p.Default().CC.Name
		used := func(s Service) bool { return s.CC.Name == name }
		if !slices.ContainsFunc(p.Services, used) {
			p.noteIdle(&def, "cc.algorithm", "cc.algorithm is "+chosen, keys...)
		}
	}
	for _, of := range protocols.All {
		p.idleProtocol(&def, of)
	}
	p.idleFabric(&def)
	if len(p.File.Jobs) == 0 {
		p.noteIdle(&def, "", "the scenario has no jobs, and ranks of a workload are in the order of hosts; jobs.NAME.on sets another order, as on: [host-2, host-1]", "placement")
	}
	placed := func(j Job) bool { return j.Place == "" && len(j.On) == 0 && !j.named() }
	if len(p.File.Jobs) > 0 && !slices.ContainsFunc(p.File.Jobs, placed) {
		p.noteIdle(&def, "", "each job sets its GPUs (jobs.NAME.placement, on)", "placement")
	}
	return nil
}

// idleFabric notes keys of links and failures that the scenario does not have.
func (p *resolver) idleFabric(def *File) {
	if p.Graph.Kind != "graph" && !slices.ContainsFunc(p.Graph.Links, p.betweenSwitches) {
		p.noteIdle(def, "", "the fabric has no links between switches", "fabric.fabric_link.rate", "fabric.fabric_link.delay",
			"fabric.fabric_link.cable", "fabric.fabric_link.bit_error_rate")
	}
	ported := p.File.Server.Bond == Apart || // which refuses NICs of one port, and leaves none of several
		slices.ContainsFunc(p.Graph.NICs, func(n topo.NIC) bool { return len(n.Links) > 1 })
	if key := "server.nic_ports"; !ported {
		if p.File.Fabric.Kind == "" {
			key = "nic_ports of the types in fabric.types"
		}
		p.noteIdle(def, "", "every NIC has one port ("+key+")", "server.bond")
	}
}

func (p *resolver) betweenSwitches(l topo.Link) bool {
	return p.Graph.Nodes[l.A].Role != topo.Host && p.Graph.Nodes[l.B].Role != topo.Host
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

// idleProtocol notes keys of an unused protocol, and keys that a flag of the used one makes idle.
func (p *resolver) idleProtocol(def *File, of *transport.Protocol) {
	c := p.Default().Carried
	kind := RoCE
	if c != nil {
		kind = c.Name
	}
	if kind != of.Name {
		p.noteIdle(def, "transport.kind", "transport.kind is "+kind, keysOf(of, of.Params...)...)
		return
	}
	for _, flag := range of.Params {
		if on, _ := c.Values[flag.Name].(bool); on {
			key := keysOf(of, flag)[0]
			used := func(x param.Param) bool { return x.Unless != flag.Name }
			idle := slices.DeleteFunc(slices.Clone(of.Params), used)
			p.noteIdle(def, key, key+" is true", keysOf(of, idle...)...)
		}
	}
}

// keysOf returns the keys of parameters of a protocol.
func keysOf(of *transport.Protocol, params ...param.Param) (keys []string) {
	for _, par := range params {
		keys = append(keys, field.Join("transport."+of.Name, par.Name))
	}
	return keys
}

// noteIdle notes keys whose values differ from the defaults and have no effect because of the value of chooser's
// key. Where --set gives the chooser, a file's keys are not noted.
func (p *resolver) noteIdle(def *File, chooser, why string, keys ...string) {
	fileToo := chooser == "" || !p.setBy(chooser)
	if keys = slices.DeleteFunc(keys, func(key string) bool {
		return !p.setByUser(key) && !(fileToo && p.says(key))
	}); len(keys) == 0 {
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
		p.idleNote("%s %s no effect: %s", strings.Join(keys, ", "), has, why)
	}
}

// idleNote adds a note about values without effect.
func (p *resolver) idleNote(format string, args ...any) {
	p.note(format, args...)
	p.Idle = append(p.Idle, p.Notes[len(p.Notes)-1])
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

// setBy reports whether --set gave a key, itself or as one of a transport's.
func (d *Document) setBy(key string) bool { return slices.Contains(d.given, key) || d.setByUser(key) }

// setByUser reports whether --set gave the key itself.
func (d *Document) setByUser(key string) bool {
	return slices.ContainsFunc(d.Sets, func(s string) bool { return strings.HasPrefix(s, key+"=") })
}
