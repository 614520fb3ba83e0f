package swconf

import (
	"fmt"
	"slices"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"
)

// Input is the input of lint.
type Input struct {
	Configs  []*Config
	Graph    *topo.Graph // nil: no fabric is known
	DataDSCP int         // of RoCE data
	CNPDSCP  int         // Unsaid: unknown
	Assumed  Assumed     // which of them neither a flag nor a scenario sets
	PathMTU  int         // payload bytes
	Response unit.Time   // response of a port to a pause; 0: the IEEE budget of its speed
	Pipeline unit.Time   // of a switch
	Lossy    bool        // data need no PFC: their transport retransmits lost packets
	Base     queue.Spec  // the platform: values that configurations do not set
	// Specs returns the switch that a scenario has at a node of the fabric; nil: there is no scenario
	Specs   func(node int) *queue.Spec
	Hosts   []*Host   // servers, checked against their switches
	Plugged []Plugged // links between switches and servers, if known
	// Sockets returns the port of a link's end at a node, if ports have names; nil: never
	Sockets func(link, node int) string
}

// Assumed reports which DSCPs are those of UsualDSCPs.
type Assumed struct{ Data, CNP bool }

// UsualDSCPs returns the DSCPs that these switches assign to RoCE data and CNPs, among the common ones: 24 or 26,
// and 48 (docs/references.md, configurations). Maps of SONiC's images have 3 and 4 lossless, AMD's guides 10. If
// neither 24 nor 26 is lossless, data have the lowest of the DSCPs that most ports pause; the CNPs' DSCP is then
// unknown. If none is lossless, the DSCPs of queues with ECN are used likewise; others than 24 and 26 only if it is
// one queue.
func UsualDSCPs(configs []*Config) (data, cnp int) {
	for _, of := range []func(*Queue) bool{
		func(q *Queue) bool { return q.Pause.Is() }, func(q *Queue) bool { return q.WRED.V.ECN },
	} {
		switch usual, other := saidSwitches(configs, 24, of), saidSwitches(configs, 26, of); {
		case usual > 0 && usual >= other: // some systems' maps have both: the majority of the switches decides
			return 24, 48
		case other > 0:
			return 26, 48
		}
	}
	data, most := 24, 0
	for d := range 64 { // lossless DSCPs of most ports, because uplinks of dual ToRs have others
		if n := losslessPorts(configs, d); n > most {
			data, most = d, n
		}
	}
	if most == 0 {
		if data = markedDSCP(configs); data == Unsaid {
			return 24, 48
		}
	}
	return data, Unsaid
}

// saidSwitches returns the number of switches that put a DSCP into a queue of a kind.
func saidSwitches(configs []*Config, d int, of func(*Queue) bool) (n int) {
	in := func(q *QoS) bool { return q != nil && q.DSCP[d].Is() && of(&q.Queues[q.DSCP[d].V&7]) }
	for _, c := range configs {
		q, _ := c.Typical()
		if in(q) || (c.OS == SONiC || c.OS == EOS) && slices.ContainsFunc(c.Ports, func(p *Port) bool {
			return in(p.QoS) // maps of the whole switch also apply to unused ports
		}) {
			n++
		}
	}
	return n
}

// markedDSCP returns the lowest DSCP of the only queue with ECN that has DSCPs, Unsaid for none or several queues.
func markedDSCP(configs []*Config) int {
	data, queue := Unsaid, Unsaid
	for _, c := range configs {
		for _, p := range c.Ports {
			for d := range 64 {
				q := p.QoS
				if q == nil || !q.DSCP[d].Is() || !q.Queues[q.DSCP[d].V&7].WRED.V.ECN {
					continue
				}
				if i := int(q.DSCP[d].V & 7); queue == Unsaid {
					data, queue = d, i
				} else if i != queue {
					return Unsaid
				}
				data = min(data, d)
			}
		}
	}
	return data
}

// losslessPorts returns the number of ports that pause the queue of a DSCP.
func losslessPorts(configs []*Config, d int) (n int) {
	for _, c := range configs {
		for _, p := range c.Ports {
			if p.Lossless(d) {
				n++
			}
		}
	}
	return n
}

// Lossless reports whether the queue of a DSCP is under PFC at a port.
func (p *Port) Lossless(dscp int) bool {
	q := p.QoS
	return q != nil && q.DSCP[dscp].Is() && q.Queues[q.DSCP[dscp].V&7].Pause.Is()
}

// Unsaid is an unknown DSCP.
const Unsaid = -1

// Headers bounds the bytes that RoCEv2 adds to a path MTU of payload: Ethernet, IPv4,
// UDP, BTH, RETH with immediate data, ICRC and FCS.
const Headers = 82

// inIP is the part of Headers within the IP packet, which an MTU counts: without Ethernet header and FCS.
const inIP = Headers - 18

// LongestRoCE is the longest IP packet of RoCEv2: the largest path MTU over IPv6, whose header has 20 bytes more.
const LongestRoCE = 4096 + inIP + 20

// HostHeaders is the part of a network device's MTU that Linux reserves for RoCE headers before it rounds down to a
// path MTU: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4 (include/rdma/ib_addr.h, iboe_get_mtu).
const HostHeaders = 96

// A Rule is one possible fault.
type Rule struct {
	ID       string
	Severity Severity
	Short    string // the checked condition
	Why      string // the consequence
	check    func(*linter)
}

// linter carries the input and collects findings.
type linter struct {
	Input
	rule      *Rule
	nodes     map[*Config]int  // switch of the fabric, -1 for none
	plugged   map[*Port]bool   // connected in the fabric, computed on first use
	companion map[*Config]bool // FRR files of switches that have another one
	named     map[*Config]bool // whether ports have the same names in Sockets and in the configuration
	findings  []Finding
	on        *[]string // the ports that the variant at hand is of
	wired     []cable   // links, computed on first use
	hostSides []hosted  // hosts with their switches, computed on first use
}

// cable is a link between two ends, from the fabric or from descriptions.
type cable struct {
	i    int // number of the switch in the fabric
	a, b end
}

// Lint checks configurations against the rules and returns the findings, in the order of files and lines.
func Lint(in Input) []Finding {
	companions := in.join()
	l := &linter{Input: in, nodes: map[*Config]int{}, companion: companions}
	for _, c := range l.Configs {
		l.nodes[c] = -1
		if in.Graph != nil && !companions[c] {
			l.nodes[c] = in.Graph.Node(c.Name())
		}
		l.findings = append(l.findings, c.Faults...)
	}
	for _, h := range l.Hosts {
		l.findings = append(l.findings, h.Faults...)
	}
	for i := range rules {
		if l.rule = &rules[i]; l.rule.check != nil {
			l.rule.check(l)
		}
	}
	l.soften()
	return Sort(l.findings)
}

// join adds to a switch the routing from a separate FRR file, as on SONiC, and returns these files, which are no
// switches.
func (in *Input) join() map[*Config]bool {
	routing := map[string]*Config{}
	for _, c := range in.Configs {
		if c.OS == FRR {
			routing[c.Name()] = c
		}
	}
	companions := map[*Config]bool{}
	configs := slices.Clone(in.Configs)
	for i, c := range configs {
		if r := routing[c.Name()]; c.OS != FRR && r != nil {
			companions[r] = true
			if c.BGP == nil {
				both := *c
				both.BGP = r.BGP
				configs[i] = &both
			}
		}
	}
	in.Configs = configs
	return companions
}

// Rules lists every rule.
func Rules() []Rule { return rules }

// say reports a finding of the current rule at a position.
func (l *linter) say(at Place, fix, format string, args ...any) {
	l.findings = append(l.findings, Finding{Severity: l.rule.Severity, Rule: l.rule.ID, File: at.File,
		Line: at.Line, Column: at.Col,
		Message: fmt.Sprintf(format, args...), Why: l.rule.Why, Fix: fix, on: l.on})
}

// variant is one distinct treatment of packets in a configuration, and a port with it.
type variant struct {
	c    *Config
	q    *QoS
	port *Port // nil: the switch's own, no port is configured
}

// variants visits every distinct treatment of every configuration with queues.
func (l *linter) variants(visit func(variant)) {
	for _, c := range l.Configs {
		if !c.HasQoS() {
			continue
		}
		of := map[*QoS][]string{}
		for _, p := range c.Ports {
			if p.QoS != nil && !p.Down.V {
				of[p.QoS] = append(of[p.QoS], p.Name)
			}
		}
		seen := map[*QoS]bool{}
		for _, p := range c.Ports {
			if p.QoS != nil && !seen[p.QoS] && !p.Down.V {
				seen[p.QoS] = true
				on := of[p.QoS]
				l.on = &on
				visit(variant{c, p.QoS, p})
				l.on = nil
			}
		}
		if len(seen) == 0 && c.QoS != nil {
			visit(variant{c, c.QoS, nil})
		}
	}
}

// queues visits every queue of every variant.
func (l *linter) queues(visit func(v variant, i int, q *Queue)) {
	l.variants(func(v variant) {
		for i := range v.q.Queues {
			visit(v, i, &v.q.Queues[i])
		}
	})
}

// data and cnp return the queues of RoCE data and of CNPs.
func (l *linter) data(q *QoS) int { return int(q.DSCP[l.DataDSCP].V & 7) }

// cnp returns the queue of CNPs, and whether the configuration classifies them into it.
func (l *linter) cnp(q *QoS) (queue int, said bool) {
	if l.CNPDSCP == Unsaid {
		return 0, false
	}
	return int(q.DSCP[l.CNPDSCP].V & 7), q.DSCP[l.CNPDSCP].Is()
}

// roce reports whether a variant is meant for RoCE at all: it classifies, or pauses a queue.
func (v variant) roce() bool {
	if v.q.Input.Is() {
		return true
	}
	for i := range v.q.Queues {
		if v.q.Queues[i].Pause.Is() {
			return true
		}
	}
	return false
}

// first returns the first known position.
func first(places ...Place) Place {
	for _, p := range places {
		if p.Line > 0 {
			return p
		}
	}
	return places[0]
}

// top is the beginning of a file: the position of missing settings.
func (c *Config) top() Place {
	if c.Hostname.Is() {
		return c.Hostname.At
	}
	return Place{File: c.File, Line: 1, Col: 1}
}

// end is one end of a cable between two configured switches.
type end struct {
	c    *Config
	port *Port
	link topo.Link
	peer *end

	panel *panel.Panel // panel of the switch in the fabric
	jack  panel.Jack
	name  string // name of the port, if fabric and configuration use the same
}

// find finds the port in the configuration.
func (l *linter) find(e *end, link, node int) {
	e.panel, e.jack = l.Graph.Nodes[node].Panel, l.Graph.Jack(link, node)
	switch {
	case e.c == nil:
	case l.named[e.c]:
		e.name = l.Sockets(link, node)
		e.port = e.c.Port(e.name)
	default:
		e.port = e.c.Plugged(e.panel, e.jack)
	}
}

// name finds the switches whose ports have the same names in the fabric and in the configurations.
func (l *linter) name(of map[int]*Config) {
	if l.Sockets == nil || l.named != nil {
		return
	}
	l.named = map[*Config]bool{}
	for i, k := range l.Graph.Links {
		for _, node := range []int{k.A, k.B} {
			if c := of[node]; c != nil && c.Port(l.Sockets(i, node)) != nil {
				l.named[c] = true
			}
		}
	}
}

// cables visits the cables of the fabric, each once. An end without a configuration, or at a server, has a nil c.
// Without a fabric the links are derived from the descriptions of interfaces.
func (l *linter) cables(visit func(a, b *end)) { l.numbered(func(_ int, a, b *end) { visit(a, b) }) }

// numbered visits the cables with their numbers in the fabric.
func (l *linter) numbered(visit func(i int, a, b *end)) {
	if l.wired == nil {
		if l.Graph == nil {
			l.wired = l.told()
		} else {
			l.wired = l.plugs()
		}
	}
	for i := range l.wired {
		k := &l.wired[i]
		visit(k.i, &k.a, &k.b)
	}
}

// told returns the links derived from descriptions.
func (l *linter) told() []cable {
	list := Described(l.Configs)
	out := make([]cable, len(list))
	for i, c := range list {
		k := topo.Link{Rate: max(c.A.Speed.V, c.B.Speed.V), LengthMM: max(c.A.CableMM.V, c.B.CableMM.V)}
		a, b := &out[i].a, &out[i].b
		*a, *b = end{c: c.From, port: c.A, link: k, peer: b}, end{c: c.To, port: c.B, link: k, peer: a}
	}
	return out
}

// plugs returns the fabric's links with a configured end.
func (l *linter) plugs() []cable {
	of := map[int]*Config{}
	for _, c := range l.Configs {
		if n := l.nodes[c]; n >= 0 && of[n] == nil {
			of[n] = c
		}
	}
	l.name(of)
	out := make([]cable, 0, len(l.Graph.Links)) // never grows, because ends point at one another
	for i, k := range l.Graph.Links {
		if of[k.A] == nil && of[k.B] == nil {
			continue
		}
		out = append(out, cable{i: i})
		a, b := &out[len(out)-1].a, &out[len(out)-1].b
		*a, *b = end{c: of[k.A], link: k, peer: b}, end{c: of[k.B], link: k, peer: a}
		l.find(a, i, k.A)
		l.find(b, i, k.B)
	}
	return out
}

// majority returns the value that most configurations have; of equally common
// ones the first.
func majority[T comparable](values []T) (most T) {
	count := map[T]int{}
	for _, v := range values {
		count[v]++
	}
	for i, v := range values {
		if i == 0 || count[v] > count[most] {
			most = v
		}
	}
	return most
}
