package scenario

import (
	"reflect"
	"slices"
	"strings"

	"railyard/cc"
	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/param"
	"railyard/transport"
	"railyard/transport/protocols"
	"railyard/unit"
)

// RoCE is the kind of transport that is RC: the queue pairs that the rest of the block describes.
const RoCE = "roce"

// Protocols are the parameter blocks of the protocols other than RC, built from their list. Each is a key of the
// transport block with the name of the protocol. Unset parameters have the protocol's defaults.
type Protocols any

// protocolsType is the struct of Protocols.
var protocolsType = func() reflect.Type {
	var blocks []reflect.StructField
	for _, p := range protocols.All {
		var keys []reflect.StructField
		for _, par := range p.Params {
			keys = append(keys, key(len(keys), reflect.PointerTo(par.Kind.Type()), par.Name, par.Doc, nil))
		}
		blocks = append(blocks, key(len(blocks), reflect.StructOf(keys), p.Name, "parameters of "+p.Title, nil))
	}
	return reflect.StructOf(blocks)
}()

// newProtocols returns the default blocks.
func newProtocols() Protocols { return reflect.New(protocolsType).Interface() }

// protocolBounds are the rows of the table of bounds for their parameters.
func protocolBounds() (rows []bound) {
	for _, p := range protocols.All {
		rows = append(rows, paramBounds("transport."+p.Name+".", p.Params)...)
	}
	return rows
}

// transports lists the transports of connections.
func transports() []string { return append([]string{RoCE}, protocols.All.Names()...) }

// ownerOf returns the protocol that owns an unknown key of the transport block, if any.
func ownerOf(key string) string {
	below, ok := strings.CutPrefix(key, "transport.")
	for _, p := range protocols.All {
		for _, par := range p.Params {
			if own := p.Name + "." + par.Name; ok && below[strings.LastIndex(below, ".")+1:] == par.Name {
				return ", it is a parameter of " + p.Title + " (transport." + own + ")"
			}
		}
	}
	return ""
}

// Carried is the protocol of a service whose connections do not use RC.
type Carried struct {
	*transport.Protocol
	Values param.Values
	Common transport.Common // less the congestion control
	Own    bool             // whether it has its own congestion control

	Segments bool // whether its packets name their path (SRv6), with static routes
}

// Maker makes the ends of a service's connections. control makes its senders' congestion control.
func (c *Carried) Maker(control cc.Make) transport.Maker {
	common := c.Common
	if !c.Own {
		common.CC = control
	}
	if c.Segments {
		return tunnelled{c.New(c.Values, common)}
	}
	return c.New(c.Values, common)
}

// carried resolves the kind of transport and the parameters of its protocol.
func (p *resolver) carried() error {
	t := &p.File.Transport
	if t.Kind == nil || *t.Kind == RoCE {
		return nil
	}
	c := &Carried{Protocol: protocols.All.Lookup(*t.Kind), Values: param.Values{}}
	block := member(reflect.ValueOf(t.Protocols).Elem(), c.Name)
	for _, par := range c.Params {
		c.Values[par.Name], _ = settle(c.Defaults[par.Name], member(block, par.Name))
	}
	c.Common = transport.Common{MTU: unit.Bytes(t.MTU), Planes: p.planes(), IPv6: p.IPv6}
	if c.Check != nil {
		if param, fault := c.Check(c.Values, c.Common); fault != "" {
			return field.New(field.Join("transport."+c.Name, param), "%s", fault)
		}
	}
	if p.LB.NIC != nil {
		return field.New("lb", "%s chooses source ports of RC queue pairs; %s chooses its paths itself: take a policy of switches, as ecmp, which hashes the chosen ports", p.LB.Name, c.Title)
	}
	s := p.Default()
	if q := p.Spec.DSCP[s.DSCP]; c.Lossy && p.Spec.Queues[q].Lossless {
		return field.New("transport.kind", "%s finds its rate by drops and marks, and its data (DSCP %d) is in queue %d, which PFC protects; accepted: transport: %s, which sets switch.pfc false, or a transport.data_dscp of another queue", c.Title, s.DSCP, q, c.Name)
	}
	s.Carried = c
	if !p.says("cc.algorithm") {
		name := c.CC
		if name == "" {
			name = "none"
		}
		member(p.File.cc(), "algorithm").SetString(name)
		s.CC = cc.Lookup(name)
	}
	fits := c.Controls
	if !slices.Contains(fits, c.CC) {
		fits = append([]string{c.CC}, fits...)
	}
	switch {
	case c.CC == "" && c.Controls == nil && s.CC.Name == "none":
		c.Own = true
	case c.CC == "" && c.Controls == nil:
		return field.New("cc.algorithm", "%s has a congestion control of its own and does not run %s: set none, or leave the key out", c.Title, s.CC.Name)
	case !slices.Contains(fits, s.CC.Name):
		return field.Choice("cc.algorithm", s.CC.Name, slices.DeleteFunc(fits, func(name string) bool {
			return name == ""
		}), "%s does not run %s", c.Title, s.CC.Name)
	}
	return nil
}

// planes returns the maximum number of ports of a NIC, each connected to separate switches.
func (p *resolver) planes() (n int) {
	for i := range p.Graph.NICs {
		n = max(n, len(p.Graph.NICs[i].Links))
	}
	return n
}

// framed checks a protocol's frame size against the switches' limits, and the header size of a trimmed one.
func (p *resolver) framed() error {
	s := p.Default()
	if s.Carried == nil {
		return nil
	}
	m := s.Maker(s.CC.New(s.Values))
	t := &p.File.Transport
	frame := s.frame(m, t.MTU)
	if most := p.smallestMTU(); frame > most {
		return field.New("transport.mtu", "%d bytes and %d of %s's headers do not fit the switches' mtu of %v", t.MTU, frame-unit.Bytes(t.MTU), s.Carried.Title, most)
	}
	headers := frame - unit.Bytes(t.MTU)
	for n, node := range p.Graph.Nodes {
		if spec := p.specs[n]; node.Role != topo.Host && spec.TrimMask() != 0 && spec.Trim.Size < headers {
			return field.New("switch.trim.size", "%v is less than the %v of headers that %s needs to identify a packet", spec.Trim.Size, headers, s.Carried.Title)
		}
	}
	return nil
}

// frame returns how long a full packet's frame is.
func (s *Service) frame(m transport.Maker, mtu int) unit.Bytes {
	full := transport.Packet{Kind: transport.Data, Payload: uint32(mtu), Bytes: uint64(mtu)}
	return unit.Bytes(m.Wire(&full))
}

// Titled describes the congestion control of a service's senders in sentences, with their transport if it is not RC.
func (s *Service) Titled() string {
	switch {
	case s.Carried == nil:
		return s.CC.Title
	case s.Carried.Own:
		return s.Carried.Title
	}
	return s.Carried.Title + " with " + s.CC.Title
}

// Counted returns the counters of a service's transport and of its control of senders.
func (s *Service) Counted() []cc.Term {
	if s.Carried == nil {
		return s.CC.Counters
	}
	return joined(s.Carried.Counters, s.CC.Counters)
}

// Signalled returns a service's signals.
func (s *Service) Signalled() []cc.Term {
	if s.Carried == nil {
		return s.CC.Signals
	}
	return joined(s.Carried.Signals, s.CC.Signals)
}

// joined returns the terms of a protocol, and the terms of its congestion control that it does not list itself.
func joined(own, more []cc.Term) []cc.Term {
	own = slices.Clip(own)
	for _, t := range more {
		if !slices.ContainsFunc(own, func(o cc.Term) bool { return o.Name == t.Name }) {
			own = append(own, t)
		}
	}
	return own
}
