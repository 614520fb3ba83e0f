package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/cc"
	"railyard/extend"
	"railyard/internal/field"
	"railyard/internal/queue"
	"railyard/roce"
	"railyard/transport/protocols"
	"railyard/unit"
)

// A preset is one word, in place of the transport block, for a complete network design: transport, congestion control,
// load balancing, and the behaviour of full queues. In a file, other keys override the preset's values; a preset by
// --set overrides the file.
type preset struct {
	name, words          string
	kind, recovery       string
	cc, lb               string
	pfc, trims, lastHop  bool
	scheduled, ownQueues bool // ownQueues: the data queue holds one bandwidth-delay product, as UET's does
	switches, nics       string
}

// presets are the comparable transports. SRD, Falcon, MRC and UEC's transports are run as published, without PFC.
// Transports that trim have the queues of UET (main_uec.cpp: one product, marks from 0.2 to 0.8 of it). The
// scheduled fabric has endpoints that send at line rate and pause, as its operators run it.
var presets = append([]preset{
	{name: "roce", words: "RoCEv2 with PFC and DCQCN", kind: RoCE, recovery: "go-back-n",
		cc: "dcqcn", lb: "ecmp",
		pfc: true, switches: "PFC with headroom, ECN", nics: "CNPs, rate and one PSN per QP"},
	{name: "roce-selective", words: "RoCEv2 that retransmits lost packets, without PFC", kind: RoCE,
		recovery: "selective", cc: "dcqcn", lb: "ecmp", switches: "ECN",
		nics: "CNPs, rate, bitmap of the window per QP"},
	{name: "srd", words: "SRD over 64 paths, without PFC", kind: "srd", cc: "none", lb: "ecmp"},
	{name: "falcon", words: "Falcon with Swift, without PFC", kind: "falcon", cc: "swift", lb: "ecmp"},
	{name: "eqds", words: "receivers' credit over trimming switches that spray", kind: RoCE,
		recovery: "selective", cc: "eqds", lb: "spray", trims: true, ownQueues: true,
		switches: "trimming, spraying", nics: "pacer of credit, bitmap of the window per QP"},
	{name: "uec", words: "UEC's windows and credit over trimming switches, paths by bitmap and REPS",
		kind:     RoCE,
		recovery: "selective", cc: "uec", lb: "mixed", trims: true, ownQueues: true,
		switches: "trimming, ECN", nics: "window, credit, 16 paths, bitmap per QP"},
	{name: "mrc", words: "MRC with NSCC over trimming switches", kind: "mrc", cc: "nscc", lb: "ecmp",
		trims:   true,
		lastHop: true, ownQueues: true, switches: "trimming by hop, ECN"},
	{name: "tcp", words: "kernel TCP with Cubic, without PFC", kind: "tcp", cc: "none", lb: "ecmp"},
	{name: "scheduled", words: "a scheduled fabric below RoCEv2 at line rate", kind: RoCE,
		recovery: "go-back-n", cc: "none", lb: "ecmp", pfc: true, scheduled: true,
		switches: "VOQs, credits, cells", nics: "one PSN per QP"},
}, presetsOf(extend.All().Transports)...)

// presetsOf returns presets of transports that extensions add: each without PFC, with its own congestion control or its
// default one.
func presetsOf(names []string) (all []preset) {
	for _, name := range names {
		p := protocols.All.Lookup(name)
		all = append(all, preset{name: name, words: p.Words + ", without PFC", kind: name, cc: cmp.Or(p.CC, "none"),
			lb: "ecmp"})
	}
	return all
}

// Presets are the names that transport may have instead of a block.
func Presets() (names []string) {
	for i := range presets {
		names = append(names, presets[i].name)
	}
	return names
}

// presetOf returns a preset, nil if none has that name.
func presetOf(name string) *preset {
	if i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name }); i >= 0 {
		return &presets[i]
	}
	return nil
}

// sets returns the values that it sets, by key. q is the data queue.
func (s *preset) sets(f *File, q int) (keys, values []string) {
	give := func(key, value string) { keys, values = append(keys, key), append(values, value) }
	give("transport.kind", s.kind)
	give("cc.algorithm", s.cc)
	give("lb", s.lb)
	if s.kind == RoCE {
		give("transport.recovery", s.recovery)
		write := map[string]string{"selective": "only", "go-back-n": "first-middle-last"}
		give("transport.write", write[s.recovery])
		give("transport.acks", map[bool]string{true: "cnp", false: "data"}[s.trims])
	} else {
		give("transport.acks", "cnp")
	}
	give("switch.pfc", strconv.FormatBool(s.pfc))
	if s.trims || f.Switch.Queues[q].Trim {
		give("switch.queues."+strconv.Itoa(q)+".trim", strconv.FormatBool(s.trims))
	}
	if s.lastHop || f.Switch.CoreMarks {
		give("switch.mark_core_only", strconv.FormatBool(s.lastHop))
	}
	if s.scheduled || f.Fabric.Scheduled != (Scheduled{}) {
		give("fabric.scheduled.on", strconv.FormatBool(s.scheduled))
	}
	if s.trims {
		cnp := f.Transport.CNPDSCP & 63 // invalid DSCPs are rejected under their own key
		give("switch.trim.dscp", strconv.Itoa(cnp))
		last := cnp
		if s.lastHop {
			last = (cnp + 1) % 64
			give("switch.dscp."+strconv.Itoa(last), strconv.Itoa(int(f.Switch.DSCP[cnp])))
		}
		give("switch.trim.last_hop_dscp", strconv.Itoa(last))
	}
	return keys, values
}

// dataQueue is the number of the queue of data.
func (f *File) dataQueue() int { return int(f.Switch.DSCP[f.Transport.DataDSCP&63]) }

// preset applies one. Keys that the file, or --set, sets do not change; file reports whether the file's keys count.
func (d *Document) preset(name string, file bool) error {
	s := presetOf(name)
	if s == nil {
		if strings.Contains(name, ",") {
			return compared("transport", "transport", name)
		}
		e := field.Choice("transport", name, Presets(), "unknown value %s", field.Quote(name))
		if cc.Lookup(name) != nil {
			e.Msg += fmt.Sprintf("; %s is a congestion control: --set cc.algorithm=%[1]s", name)
		}
		return e
	}
	if !slices.Contains(transports(), s.kind) {
		return field.New("transport", "%s needs %s, which this version does not have", s.name, s.kind)
	}
	d.Preset = s.name
	keys, values := s.sets(&d.File, d.File.dataQueue())
	if _, said := d.b.where["switch.trim"]; !s.trims && !(file && said) {
		d.File.Switch.Trim = queue.Trim{}
	}
	for i, key := range keys {
		if _, said := d.b.where[key]; said && file || d.setBy(key) {
			continue
		}
		if delete(d.b.where, key); !file {
			d.given = append(d.given, key)
		}
		if err := d.put(key, values[i]); err != nil {
			return err
		}
	}
	return nil
}

// presets sizes the queues of a preset with its own queues, and notes the values that a preset sets.
func (p *resolver) presets() error {
	s := presetOf(p.Preset)
	if s == nil {
		return nil
	}
	q := p.File.dataQueue()
	keys, values := s.sets(&p.File, q)
	var all []string
	_, now := p.File.Values()
	for i, key := range keys {
		if now[key] == values[i] { // otherwise the file or --set overrides it
			all = append(all, key+" "+values[i])
		}
	}
	if s.ownQueues {
		product, buffer := p.product(), p.File.Switch.Buffer
		if buffer > 0 && product > buffer {
			p.note("a round trip at the rate of a NIC's port holds %v, and the buffer %v: queues are sized by the buffer", product, buffer)
			product = buffer
		}
		at := &p.File.Switch.Queues[q]
		for _, x := range []struct {
			key   string
			value *unit.Bytes
			share float64
		}{{"limit", &at.Limit, 1}, {"wred_min", &at.WRED.Min, 0.2}, {"wred_max", &at.WRED.Max, 0.8}} {
			key := fmt.Sprintf("switch.queues.%d.%s", q, x.key)
			if _, said := p.b.where[key]; said && !p.presetSet || p.setBy(key) {
				continue
			}
			*x.value = unit.Bytes(float64(product) * x.share)
			all = append(all, key+" "+x.value.String())
		}
		if key := fmt.Sprintf("switch.queues.%d.probability", q); !p.setBy(key) {
			at.WRED.Probability, at.WRED.ECN = 1, true
			all = append(all, key+" 100")
		}
	}
	p.note("transport %s (%s) sets %s", s.name, s.words, strings.Join(all, ", "))
	return nil
}

// product returns the bytes that a NIC's port sends in the round trip of a full packet between the first and the last
// GPU, at least two full packets.
func (p *resolver) product() unit.Bytes {
	g := p.Graph
	routes := g.Route(nil)
	src, dst := g.NICOf[0], g.NICOf[len(g.NICOf)-1]
	frame := unit.Bytes(p.File.Transport.MTU) + roce.PreambleIFG + roce.EthernetLen + roce.IPv6Len
	link := g.NICs[src].Links[0]
	node, rtt := g.Hosts[g.NICs[src].Host], unit.Time(0)
	for hop := 0; hop < len(g.Nodes); hop++ {
		l := &g.Links[link]
		rtt += 2*l.Propagation() + unit.Serialize(frame, l.Rate) + unit.Serialize(roce.AckLen+p.MoreIP(), l.Rate)
		if node = l.A + l.B - node; node == g.Hosts[g.NICs[dst].Host] {
			break
		}
		rtt += 2 * g.Nodes[node].Through(p.Switching.Pipeline)
		if near, ok := routes.Near(node, dst); ok {
			link = near
		} else if next := routes.Next(node, routes.Locator[dst]); len(next) > 0 {
			link = next[0]
		} else {
			break
		}
	}
	return max(unit.InTime(g.Links[g.NICs[src].Links[0]].Rate, rtt), 2*frame+2*queue.MinTrim)
}

// Costs is the costs of a preset: header bytes of a full packet, state in a NIC, and requirements for switches and
// NICs, in words.
type Costs struct {
	Headers          unit.Bytes
	Connection, Peer unit.Bytes // state; 0: described in words
	Switch, NIC      string
}

// Costs returns the costs of a plan whose scenario names a preset; false if it names none.
func (p *Plan) Costs() (c Costs, ok bool) {
	s := presetOf(p.doc.Preset)
	if s == nil {
		return c, false
	}
	c.Switch, c.NIC = s.switches, s.nics
	of := p.Default()
	if of.Carried == nil {
		op := roce.WriteMiddle
		if p.RC.WriteOnly {
			op = roce.WriteOnly
		}
		c.Headers = unit.Bytes(roce.DataLen(op, p.RC.MTU)-p.RC.MTU) + p.MoreIP()
		return c, true
	}
	m := of.Maker(of.CC.New(of.Values))
	c.Headers = of.frame(m, p.RC.MTU) - unit.Bytes(p.RC.MTU)
	connection, peer := m.State()
	c.Connection, c.Peer = unit.Bytes(connection), unit.Bytes(peer)
	if c.Switch == "" {
		c.Switch = of.Carried.Needs.Switch
	}
	c.NIC = of.Carried.Needs.NIC
	return c, true
}
