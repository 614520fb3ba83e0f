package scenario

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// Scheduled is a scheduled fabric, if it is on.
type Scheduled struct {
	On bool `yaml:"on" doc:"the switches are one scheduled fabric, or a modular chassis: VOQs, credits and cells; true where the block is set"`
	queue.Scheduled
}

// Silent turns it on.
func (s *Scheduled) Silent() { *s = Scheduled{true, queue.DefaultScheduled()} }

// scheduled resolves the block, and refuses settings that conflict with a scheduled fabric or have no effect in it.
func (p *resolver) scheduled() error {
	s := &p.File.Fabric.Scheduled
	if !s.On {
		if *s != (Scheduled{}) {
			*s = Scheduled{}
			p.note("fabric.scheduled is off: it has no effect")
		}
		return nil
	}
	if err := p.schedulable(); err != nil {
		return err
	}
	packet := unit.Bytes(p.File.Transport.MTU) + p.headers()
	q := &s.Scheduled
	need := p.egressNeeds(q, packet)
	if q.Egress == 0 {
		q.Egress = need
	}
	if err := q.Validate(min(p.smallestMTU(), packet)); err != nil {
		return field.Under("fabric.scheduled", err)
	}
	if q.Egress < need {
		p.note("fabric.scheduled.egress %v is less than the %v that a port sends while a grant and its packet travel: it will not always be busy", q.Egress, need)
	}
	*p.Scheduled = *q
	if err := p.egressFits(); err != nil {
		return err
	}
	p.LB, p.LBValues, p.File.LB = &route.Cells, nil, route.Cells.Name
	p.noteScheduled(packet)
	return nil
}

// schedulable rejects fabrics and settings that are meaningless with scheduled cells.
func (p *resolver) schedulable() error {
	f := p.File
	if p.says("lb") && f.LB != route.Cells.Name {
		return field.New("lb", "%s selects paths, which a scheduled fabric (fabric.scheduled) does not: cells take all links in turn; leave lb out", f.LB)
	}
	if f.Fabric.CutThrough {
		return field.New("fabric.cut_through", "a scheduled fabric (fabric.scheduled) has whole packets wait for credit; it cannot cut through")
	}
	g, edge := p.Graph, make([]bool, len(p.Graph.Nodes))
	for _, nic := range g.NICs {
		for _, l := range nic.Links {
			edge[p.nodeOf(nic, l)] = true
		}
	}
	for i := range g.Links {
		if l := &g.Links[i]; edge[l.A] && edge[l.B] {
			return field.New("fabric.scheduled", "%s and %s both have servers and a cable between them%s: cells go from one such switch to another by fabric nodes, switches without servers",
				g.Nodes[l.A].Name, g.Nodes[l.B].Name, ofKind(f.Fabric.Kind))
		}
	}
	for n, node := range g.Nodes {
		if node.Role == topo.Host || p.specs[n].TrimMask() == 0 {
			continue
		}
		for c := range p.specs[n].Queues {
			if p.specs[n].Queues[c].Trim {
				return field.New(fmt.Sprintf("switch.queues.%d.trim", c), "%s would trim, and in a scheduled fabric (fabric.scheduled) packets wait at the ingress for credit", node.Name)
			}
		}
	}
	return nil
}

func ofKind(kind string) string {
	if kind == "" || kind == "graph" {
		return ""
	}
	return " in a " + kind
}

// unstamped rejects algorithms that need what switches write into packets, because fabric nodes only see cells.
func (p *resolver) unstamped() error {
	if s := p.Default(); p.Scheduled != nil && roce.Telemetry(s.CC.Reports(s.Values)) != roce.NoTelemetry {
		return field.New("cc.algorithm", "%s needs telemetry of every switch, and switches of a scheduled fabric (fabric.scheduled) write none into cells; accepted: algorithms without telemetry, such as none", s.CC.Name)
	}
	return nil
}

// egressNeeds returns the bytes that the fastest egress port sends during the round trip of a grant and its packet
// to the farthest interface node. This amount must be granted ahead, and needs memory on arrival.
func (p *resolver) egressNeeds(q *queue.Scheduled, packet unit.Bytes) unit.Bytes {
	g := p.Graph
	var hop, host unit.Time // times of the slowest link
	line := unit.Rate(0)
	for i := range g.Links {
		l := &g.Links[i]
		if g.Nodes[l.A].Role == topo.Host || g.Nodes[l.B].Role == topo.Host {
			line = max(line, l.Rate)
			host = max(host, unit.Serialize(packet+roce.PreambleIFG, l.Rate))
			continue
		}
		through := max(g.Nodes[l.A].Through(p.Switching.Pipeline), g.Nodes[l.B].Through(p.Switching.Pipeline))
		cell := unit.Serialize(q.Cell, l.Rate) // one cell may precede the grant, and one the packet
		hop = max(hop, 2*(l.Propagation()+through+cell)+unit.Serialize(q.Message, l.Rate)+
			unit.Serialize(q.Wire(packet), l.Rate))
	}
	loop := host + hop*unit.Time(max(0, g.Longest().Switches-1))
	return q.Credit + packet + unit.Bytes(float64(unit.InTime(line, loop))*q.Speedup)
}

// noteScheduled notes properties of the fabric's links.
func (p *resolver) noteScheduled(packet unit.Bytes) {
	g := p.Graph
	up, down := make([]unit.Rate, len(g.Nodes)), make([]unit.Rate, len(g.Nodes))
	for i := range g.Links {
		for _, n := range []int{g.Links[i].A, g.Links[i].B} {
			if other := g.Links[i].A + g.Links[i].B - n; g.Nodes[other].Role == topo.Host {
				down[n] += g.Links[i].Rate
			} else {
				up[n] += g.Links[i].Rate
			}
		}
	}
	tight := -1
	share := func(n int) float64 {
		wire := float64(packet + roce.PreambleIFG)
		return wire / p.Scheduled.Load(packet) * float64(up[n]) / float64(down[n])
	}
	for n, node := range g.Nodes {
		if node.Role != topo.Host && down[n] > 0 && up[n] > 0 && (tight < 0 || share(n) < share(tight)) {
			tight = n
		}
	}
	if tight >= 0 && share(tight) < 1 {
		p.note("the fabric links of %s (%v) carry %.1f %% of the rate of its servers (%v): cells of %v for packets of %v, and the messages for credit, leave %.1f %% of them to packets",
			g.Nodes[tight].Name, up[tight], 100*share(tight), down[tight], p.Scheduled.Cell, packet,
			100*p.Scheduled.Efficiency(packet))
	}
	if p.Spec.Timed {
		p.note("switch.limits_in_time has no effect: VOQs are at the ingress")
	}
	for c := range p.Spec.Queues {
		if w := &p.Spec.Queues[c].WRED; w.Max > 0 && w.Weight > 0 {
			p.note("switch.queues.%d.wred_weight has no effect: VOQs go by what they hold now", c)
		}
	}
}

// ScheduledFigures returns the figures derived from a scheduled fabric's settings, by name; none for other fabrics.
func (p *Plan) ScheduledFigures() map[string]string {
	s := p.Scheduled
	if s == nil {
		return nil
	}
	packet := unit.Bytes(p.RC.MTU) + p.headers()
	classes := map[uint8]bool{}
	for _, c := range p.Spec.DSCP {
		classes[c] = true
	}
	ports, g := map[int]int{}, p.Graph // by interface node
	for _, nic := range g.NICs {
		for _, l := range nic.Links {
			ports[p.nodeOf(nic, l)]++
		}
	}
	most, all := 0, 0
	for _, n := range ports {
		most, all = max(most, n), all+n
	}
	queues := len(ports) * all * len(classes)
	room := unit.Bytes(all*len(classes)) * s.Egress
	return map[string]string{
		"cells_of_a_packet":       fmt.Sprint(s.Cells(packet)),
		"efficiency":              fmt.Sprintf("%.4f", s.Efficiency(packet)),
		"interface_nodes":         fmt.Sprint(len(ports)),
		"fabric_nodes":            fmt.Sprint(len(g.Nodes) - len(g.Hosts) - len(ports)),
		"egress_ports":            fmt.Sprint(most),
		"voqs_of_a_node":          fmt.Sprint(all * len(classes)),
		"voqs":                    fmt.Sprint(queues),
		"egress_buffer_of_a_node": (unit.Bytes(most*len(classes)) * s.Egress).String(),
		"egress_buffer":           room.String(),
	}
}

// nodeOf returns the switch at the other end of a NIC's cable.
func (p *Plan) nodeOf(nic topo.NIC, link int) int {
	l := &p.Graph.Links[link]
	return l.A + l.B - p.Graph.Hosts[nic.Host]
}

// egressFits checks that an interface node's memory has room for its egress ports' grants, besides headroom.
func (p *resolver) egressFits() error {
	g := p.Graph
	reserved, ports := make([]unit.Bytes, len(g.Nodes)), make([]int, len(g.Nodes))
	for _, nic := range g.NICs {
		for _, l := range nic.Links {
			n := p.nodeOf(nic, l)
			classes := map[uint8]bool{}
			for _, c := range p.specs[n].DSCP {
				classes[c] = true
			}
			for c := range queue.Classes {
				reserved[n] += p.reserve(l, n, c)
			}
			reserved[n] += unit.Bytes(len(classes)) * p.Scheduled.Egress
			ports[n]++
		}
	}
	for n, all := range reserved {
		if all > 0 && all >= p.specs[n].Buffer {
			return field.New("fabric.scheduled.egress", "%v for each class of %s of %s takes %v with headroom, and its buffer is %v (switch.buffer): VOQs have nothing left", p.Scheduled.Egress,
				unit.Plural(ports[n], "egress port"), g.Nodes[n].Name, all, p.specs[n].Buffer)
		}
	}
	return nil
}
