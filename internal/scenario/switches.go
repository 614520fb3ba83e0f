package scenario

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
	"railyard/internal/topo"
	"railyard/unit"
)

// switches resolves the switch block, then the configurations on top of it.
func (p *resolver) switches() error {
	if err := p.platform(); err != nil {
		return err
	}
	before := len(p.Notes)
	if err := p.configured(); err != nil {
		return err
	}
	p.QueueNotes = slices.Clone(p.Notes[before:])
	if err := p.deviate(); err != nil {
		return err
	}
	if err := p.balancing(); err != nil {
		return err
	}
	if err := p.detours(); err != nil {
		return err
	}
	before = len(p.Notes)
	p.warnQueues()
	p.QueueNotes = append(p.QueueNotes, p.Notes[before:]...)
	if err := p.trimRoom(); err != nil {
		return err
	}
	return p.headroom()
}

// warnQueues notes once per configuration where PFC acts before ECN and where WRED drops packets that should be
// marked.
func (p *resolver) warnQueues() {
	seen := map[*queue.Spec]bool{}
	for n, node := range p.Graph.Nodes {
		if node.Role == topo.Host || seen[p.specs[n]] {
			continue
		}
		seen[p.specs[n]] = true
		for i, q := range p.specs[n].Queues {
			if q.Lossless && q.XOff > 0 && q.WRED.Max > q.XOff {
				p.note("queue %d (%s): wred_max %v lies above xoff %v; PFC will pause before ECN can slow senders down", i, node.Name, q.WRED.Max, q.XOff)
			}
			if q.Lossless && q.WRED.Max > 0 && !q.WRED.ECN {
				p.note("queue %d (%s) is lossless and its WRED drops instead of marking, from %v on: ecn is missing", i, node.Name, q.WRED.Min)
			}
		}
		if frame := p.largestFrame(); p.specs[n].LosslessMask() != 0 &&
			unit.Bytes(p.specs[n].PFCQuanta)*64/2 < frame {
			p.note("%s: pfc_quanta %d pauses for %d bytes and is repeated after half of them; after a frame of %d the repetition is late and lossless queues lose packets",
				node.Name, p.specs[n].PFCQuanta, p.specs[n].PFCQuanta*64, frame)
		}
		p.noteDSCP(&p.Graph.Nodes[n], p.specs[n])
		p.noteTags(&p.Graph.Nodes[n], p.specs[n])
		for _, s := range p.Services {
			i := p.specs[n].DSCP[s.CNPDSCP]
			if p.specs[n].Queues[i].WRED.Max > 0 && s.CC.CNPGap != nil {
				p.note("CNPs (DSCP %d) go to queue %d (%s), whose WRED drops them: they are not ECN-capable", s.CNPDSCP, i, node.Name)
			}
		}
	}
}

// largestFrame returns the largest frame of the workload and the pause after it, on the wire: headers of 82 bytes,
// a pause of 64, and 20 of preamble and gap each.
func (p *resolver) largestFrame() unit.Bytes {
	return unit.Bytes(p.File.Transport.MTU) + p.headers() + 64 + 2*20
}

// platform resolves the switch block.
func (p *resolver) platform() error {
	spec := p.File.Switch.Spec
	if !p.File.Switch.PFC {
		for i := range spec.Queues {
			lossy(&spec.Queues[i])
		}
	}
	if err := p.trimming(&spec); err != nil {
		return err
	}
	if err := spec.Validate(); err != nil {
		return field.Under("switch", err)
	}
	p.Base, p.Spec = spec, spec
	return nil
}

// smallestMTU returns the smallest MTU of all switches without deviations: the losses of a deviating switch are the
// intended effect.
func (p *resolver) smallestMTU() unit.Bytes {
	mtu := p.Spec.MTU
	for n, node := range p.Graph.Nodes {
		if node.Role != topo.Host && !p.narrow[n] {
			mtu = min(mtu, p.specs[n].MTU)
		}
	}
	return mtu
}

// textFor returns the key of switches that applies to a switch: its name, its role, or config.
func (p *resolver) textFor(n *topo.Node) (key string, ok bool) {
	for _, key := range append(append([]string{n.Name}, p.roleKeys[n.Role]...), "config") {
		if _, ok := p.File.Switches[key]; ok {
			return key, true
		}
	}
	return "", false
}

// configured reads the switches' own configurations and sets the Spec of each switch from its configuration.
func (p *resolver) configured() error {
	p.specs = make([]*queue.Spec, len(p.Graph.Nodes))
	bases := map[unit.Bytes]*queue.Spec{p.Base.Buffer: &p.Base}
	for i := range p.specs {
		var err error
		if p.specs[i], err = p.base(bases, &p.Graph.Nodes[i]); err != nil {
			return err
		}
	}
	p.classify()
	if len(p.File.Switches) == 0 {
		return nil
	}
	if err := p.checkSwitchKeys(); err != nil {
		return err
	}
	p.Texts, p.PFC = map[string]string{}, map[topo.LinkEnd]uint8{}
	p.Headroom, p.Modes = map[topo.LinkEnd]PortHeadroom{}, map[topo.LinkEnd]swconf.PFCMode{}
	type platform struct { // one configuration on switches of two types counts as two
		file string
		base *queue.Spec
	}
	specs := map[platform]*queue.Spec{}
	configs := map[string]*swconf.Config{}
	was := slices.Clone(p.specs)
	for i := range p.Graph.Nodes {
		node := &p.Graph.Nodes[i]
		key, ok := p.textFor(node)
		if node.Role == topo.Host || !ok {
			continue
		}
		file := p.File.Switches[key]
		on := platform{file, p.specs[i]}
		if specs[on] == nil {
			spec, c, err := p.readText("switches."+key, file, p.specs[i])
			if err != nil {
				return err
			}
			specs[on], configs[file] = spec, c
		}
		p.specs[i] = specs[on]
		p.portPFC(i, configs[file])
		p.portHeadroom(i, configs[file])
		p.portMarks(i, configs[file])
		p.portModes(i, configs[file])
		named := *configs[file]
		named.Hostname.V = node.Name // one configuration may apply to several switches
		p.configs = append(p.configs, &named)
	}
	if err := p.overruled(was); err != nil {
		return err
	}
	p.classify()
	if p.everywhere() { // then the configuration's values are part of the resolved values
		p.File.Switch.Spec = p.Spec
	}
	p.balance(configs)
	return nil
}

// overruled refuses an override of the switch block that the configurations replace on every switch: it would have no
// effect. If they replace it on some switches, a note names those. was: the switches without their configurations.
func (p *resolver) overruled(was []*queue.Spec) error {
	values := map[*queue.Spec]map[string]string{}
	value := func(s *queue.Spec, key string) string {
		if values[s] == nil {
			f := p.File
			f.Switch.Spec = *s
			_, values[s] = f.Values()
		}
		return values[s][key]
	}
	for _, set := range p.Document.Sets {
		key, _, _ := strings.Cut(set, "=")
		if !strings.HasPrefix(key, "switch.") {
			continue
		}
		var names []string
		why, all := "", true
		for i := range p.Graph.Nodes {
			n := &p.Graph.Nodes[i]
			if n.Role == topo.Host {
				continue
			}
			v := value(p.specs[i], key)
			if v == value(was[i], key) {
				all = false
				continue
			}
			names = append(names, n.Name)
			if k, _ := p.textFor(n); why == "" {
				why = fmt.Sprintf("%s (switches.%s) gives %s", p.File.Switches[k], k, v)
			}
		}
		switch {
		case len(names) == 0:
		case all:
			return field.New(key, "has no effect: %s; change it there, or take that text out of the scenario", why)
		default:
			p.note("%s has no effect on %s: %s", key, swconf.Compress(names), why)
		}
	}
	return nil
}

// base returns the platform of a switch: the switch block with the packet memory of its type, else of its model unless
// the block sets one.
func (p *resolver) base(bases map[unit.Bytes]*queue.Spec, n *topo.Node) (*queue.Spec, error) {
	buffer := n.Buffer
	if buffer == 0 && !p.says("switch.buffer") {
		buffer = n.ModelBuffer
	}
	if buffer == 0 {
		return &p.Base, nil
	}
	if bases[buffer] == nil {
		own := p.Base
		own.Buffer = buffer
		if err := own.Validate(); err != nil {
			return nil, field.New("fabric.types", "%v of packet memory on %s: switch.%v", buffer, n.Name, err)
		}
		bases[buffer] = &own
	}
	return bases[buffer], nil
}

// classify gives NICs the classes of the first NIC's switch, and notes other switches that classify a service's
// packets differently. Classes without a NIC are not compared.
func (p *resolver) classify() {
	first, seen := -1, map[*queue.Spec]bool{}
	for i := range p.Graph.NICs {
		nic := &p.Graph.NICs[i]
		for _, l := range nic.Links {
			at := p.Graph.Links[l].A
			if at == p.Graph.Hosts[nic.Host] {
				at = p.Graph.Links[l].B
			}
			if p.Graph.Nodes[at].Role == topo.Host || seen[p.specs[at]] {
				continue
			}
			seen[p.specs[at]] = true
			if first < 0 {
				first, p.Spec = at, *p.specs[at]
				continue
			}
			p.noteClasses(first, at)
		}
	}
}

// noteClasses notes packets of NICs that another switch classifies differently from the first one.
func (p *resolver) noteClasses(first, at int) {
	here, there := p.Graph.Nodes[first].Name, p.Graph.Nodes[at].Name
	said := map[int]bool{}
	for _, s := range p.Services {
		for _, dscp := range []int{s.DSCP, s.CNPDSCP} {
			a, b := p.Spec.DSCP[dscp], p.specs[at].DSCP[dscp]
			if a != b && !said[dscp] {
				said[dscp] = true
				p.note("DSCP %d goes to queue %d on %s and to queue %d on %s; all NICs classify as %s does",
					dscp, a, here, b, there, here)
			}
		}
	}
}

// everywhere reports whether all switches agree with the NICs' switch.
func (p *resolver) everywhere() bool {
	for i := range p.Graph.Nodes {
		if p.Graph.Nodes[i].Role != topo.Host && *p.specs[i] != p.Spec {
			return false
		}
	}
	return true
}

// portPFC finds the ports of a switch with fewer PFC priorities in the configuration than most.
func (p *resolver) portPFC(node int, c *swconf.Config) {
	all := p.specs[node].LosslessMask()
	var names []string
	for end, port := range p.portsIn(node, c) {
		if port.Paused()&all == all {
			continue
		}
		p.PFC[end] = port.Paused()
		names = append(names, port.Name)
	}
	if len(names) > 0 {
		p.note("%s: %s neither pause nor obey all lossless classes, and are simulated so",
			p.Graph.Nodes[node].Name, swconf.Compress(names))
	}
}

// portModes finds the PFC modes of a switch's ports; ports that the configuration does not have are like most.
func (p *resolver) portModes(node int, c *swconf.Config) {
	_, like := c.Typical()
	if like == nil || p.specs[node].LosslessMask() == 0 {
		return
	}
	for i, l := range p.Graph.Links {
		if end := (topo.LinkEnd{Link: i, Node: node}); node == l.A || node == l.B {
			port := cmp.Or(c.Plugged(p.Graph.Nodes[node].Panel, p.Graph.Jack(i, node)), like)
			if p.Modes[end] = port.PFC.V; port.Paused() == 0 {
				p.Modes[end] = swconf.PFCOff
			}
		}
	}
}

// portMarks notes ports whose configured marking differs from the simulated one, by their neighbours.
func (p *resolver) portMarks(node int, c *swconf.Config) {
	unmarked := c.Unmarked()
	if unmarked == nil {
		return
	}
	var names []string
	for end, port := range p.portsIn(node, c) {
		l := &p.Graph.Links[end.Link]
		if server := p.Graph.Nodes[l.A+l.B-node].Role == topo.Host; server != unmarked[port] {
			names = append(names, port.Name)
		}
	}
	if len(names) > 0 {
		p.note("%s: %s: the configuration has no marking on some ports to switches, or marking on others; in the simulation ports to servers mark nothing, and all others do", p.Graph.Nodes[node].Name,
			swconf.Compress(names))
	}
}

// portsIn returns a switch's connected ports that its configuration has.
func (p *resolver) portsIn(node int, c *swconf.Config) iter.Seq2[topo.LinkEnd, *swconf.Port] {
	return func(yield func(topo.LinkEnd, *swconf.Port) bool) {
		for i, l := range p.Graph.Links {
			if node != l.A && node != l.B {
				continue
			}
			port := c.Plugged(p.Graph.Nodes[node].Panel, p.Graph.Jack(i, node))
			if port != nil && !yield(topo.LinkEnd{Link: i, Node: node}, port) {
				return
			}
		}
	}
}

// checkSwitchKeys refuses keys that name no switch of the fabric.
func (p *resolver) checkSwitchKeys() error {
	var accepted []string
	for i := range p.Graph.Nodes {
		if n := &p.Graph.Nodes[i]; n.Role != topo.Host {
			accepted = append(accepted, n.Name)
			if r := n.Role.String(); !slices.Contains(accepted, r) {
				accepted = append(accepted, r)
			}
		}
	}
	accepted = append(accepted, "config")
	var faults field.List
	for _, key := range slices.Sorted(maps.Keys(p.File.Switches)) {
		role, err := topo.ParseRole(key)
		if err == nil && slices.Contains(accepted, role.String()) && (key == role.String() || p.Graph.Node(key) < 0) {
			if keys := append(p.roleKeys[role], key); len(keys) > 1 {
				faults = append(faults, field.New("switches."+key,
					"the role %s has its text from switches.%s already", role, keys[0]))
			} else {
				p.roleKeys[role] = keys
			}
			continue
		}
		if slices.Contains(accepted, key) {
			continue
		}
		e := field.Choice("switches."+key, key, accepted, "is neither a switch nor a role of this fabric").ListedBy("railyard topo SCENARIO --cables")
		if err == nil && role == topo.Leaf && slices.Contains(accepted, topo.Rail.String()) {
			e.Hint = topo.Rail.String() // a leaf that carries a rail
		}
		e.Accepted = []string{"config"}
		for _, a := range accepted {
			if _, err := topo.ParseRole(a); err == nil {
				e.Accepted = append(e.Accepted, a)
			}
		}
		e.Accepted = append(e.Accepted, "or a switch's name")
		faults = append(faults, e)
	}
	return faults.Err()
}

// readText reads one configuration.
func (p *resolver) readText(key, file string, base *queue.Spec) (*queue.Spec, *swconf.Config, error) {
	if p.read == nil {
		return nil, nil, field.New(key, "configuration files cannot be read here")
	}
	text, err := p.read(file)
	if err != nil {
		return nil, nil, field.Under(key, err)
	}
	p.Texts[file] = string(text)
	spec, c, notes, err := dialect.Spec(file, text, *base)
	if err != nil {
		return nil, nil, field.Under(key, err) // position is in another file
	}
	if len(c.Unknown) > 0 {
		notes = append(notes,
			fmt.Sprintf("%s: %s not understood, the first on line %d (railyard config lint %s)",
				file, unit.Plural(len(c.Unknown), "line"), c.Unknown[0].At.Line, file))
	}
	if !p.File.Switch.PFC && spec.LosslessMask() != 0 {
		return nil, nil, field.New("switch.pfc", "false, and %s turns PFC on: take it out of that text", file)
	}
	p.Notes = append(p.Notes, notes...)
	return &spec, c, nil
}

// balance derives load balancing from the configurations if all of them enable the same mode and the scenario sets
// none.
func (p *resolver) balance(configs map[string]*swconf.Config) {
	mode := ""
	var aging unit.Time
	for _, c := range configs {
		if c.DLB == nil || mode != "" && mode != c.DLB.Mode.V {
			return
		}
		mode, aging = c.DLB.Mode.V, max(aging, c.DLB.Aging.V)
	}
	lb := route.OfDLB(mode)
	if lb == nil || p.says("lb") {
		return
	}
	p.File.LB = lb.Name
	if aging > 0 && !p.says("lb_options.flowlet_gap") {
		p.File.setLB("flowlet_gap", aging)
	}
	p.note("the configuration turns DLB on (%s): lb is %s", mode, lb.Name)
}
