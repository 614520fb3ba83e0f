package design

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/topo"
	"railyard/unit"
)

// Methods of addressing the links between switches.
const (
	Unnumbered = "unnumbered"
	Numbered   = "p2p" // a /31 per cable
)

// Methods of attaching a bundle of two ports to two switches.
const (
	MLAG = "mlag"
	ESI  = "esi"
)

// Fabric is the fabric to be configured.
type Fabric struct {
	Name       string
	Graph      *topo.Graph
	Spec       func(node int) queue.Spec
	LB         string // name of the fabric's load balancing
	DLB        string // mode of dynamic load balancing; none: switches hash
	FlowletGap unit.Time
	SameSeed   bool
	DataDSCP   int
	CNPDSCP    int
	Response   unit.Time // response time to a pause; 0: the IEEE budget
	Pipeline   unit.Time
	OS         swconf.OS
	ASIC       string // ASIC of SONiC's headroom calculation; "": chosen by each switch's fastest port
	Addressing string
	Multihome  string
	Segments   bool // packets contain their path (SRv6), and routes are static
	Apart      bool // each port of a NIC is routed individually, also where two would form a bundle
	// Modes are the PFC modes of ports whose switch has its own configuration.
	Modes map[topo.LinkEnd]swconf.PFCMode
	// Naming returns port names; nil: the language's.
	Naming func(*panel.Panel, panel.Jack) string
}

// Design is a fabric with everything decided.
type Design struct {
	Fabric
	Switches []*Switch
	Hosts    []*Host
	byNode   map[int]*Switch
	numbers  [][2]int // by cable: its number at each of its two nodes
	peers    int      // pairs so far
	planes   []int    // by node
	nextLink netip.Addr
}

// Switch is one switch's part.
type Switch struct {
	Node     int
	Name     string
	Role     topo.Role
	Tier     int
	Index    int // among the switches, from 0
	ASN      uint32
	RouterID netip.Addr
	Mgmt     netip.Prefix
	Seed     int
	Spec     queue.Spec // headroom worked out
	Notes    []string   // differences of its configuration from its Spec, after rendering
	InCells  *InCells   // greatest headroom by SONiC's own calculation; nil: headroom for whole frames is enough
	Ports    []*Port
	Panel    *panel.Panel // nil: unknown
	VLANs    []*VLAN
	Peer     *Switch // other switch of an MLAG or ESI pair
	PairID   int     // from 1
	First    bool    // of the pair
	Trunks   []*Trunk
	SIDs     []SID // own SIDs of Segments,
	Ways     []Way // routes to its neighbors' SIDs
}

// told reports whether SONiC's names of a switch's ports, which depend on its device, are known.
func (s *Switch) told() bool { return s.Panel != nil && s.Panel.Device != nil }

// Kind is the kind of a port's far end.
type Kind uint8

// Kinds of ports.
const (
	ToSwitch Kind = iota
	ToHost
	ToPeer // the other switch of an MLAG pair
)

// Port is one cabled port of a switch.
type Port struct {
	Number   int // number of the cable at the switch
	Jack     panel.Jack
	Name     string // in the language
	Kind     Kind
	Rate     unit.Rate
	LengthMM int64
	Prop     unit.Time // one way
	Far      *Switch   // nil for hosts
	FarName  string
	FarPort  string       // name in the graph: Eth3, nic1
	FarJack  panel.Jack   // at a switch
	FarLabel string       // FarPort in the language
	far      int          // Number at a switch, 0 at a server
	Addr     netip.Prefix // a /31; invalid when unnumbered or switched
	FarAddr  netip.Addr
	Addr6    netip.Prefix // a /127 between switches, of Segments
	FarAddr6 netip.Addr
	VLAN     *VLAN  // switched
	Channel  int    // member of a port channel
	Trunk    *Trunk // trunk of a port to a switch
	Rail     int
	Mapped   bool                      // a map assigns the port to its rail
	PFC      swconf.PFCMode            // PFC of the switch's own configuration, if Own; else negotiated
	Own      bool                      // the switch has its own configuration
	Headroom [queue.Classes]unit.Bytes // headroom of each lossless class, for the port's cable
}

// FarNumber is the number at the far end, 0 for a server's.
func (p *Port) FarNumber() int { return p.far }

// VLAN is a rail where rails are VLANs, or a rail's subnet below a pair.
type VLAN struct {
	ID      int
	VNI     int
	Name    string
	Subnet  netip.Prefix
	Gateway netip.Addr // invalid: switched only
	Own     map[*Switch]netip.Addr
}

// Host is a server's NICs with their addresses.
type Host struct {
	Name string
	NICs []HostNIC
}

// HostNIC is one NIC.
type HostNIC struct {
	Index   int
	Port    int      // number of a port of a NIC whose ports have separate addresses; 0: the whole NIC
	Ports   []string // ports of the switch: rail-1:Eth3
	Own     []string // ports of the server: nic1
	Addr    netip.Prefix
	Gateway netip.Addr
	VLAN    int
}

// An Error is a feature that a language or a topology does not support.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Refuse reports that a switch cannot be written in a language.
func Refuse(os swconf.OS, s *Switch, format string, args ...any) error {
	return refuse("%s in %s: %s", s.Name, os, fmt.Sprintf(format, args...))
}

// Make decides everything.
func Make(f Fabric) (*Design, error) {
	d := &Design{Fabric: f, byNode: map[int]*Switch{}}
	if f.Naming == nil {
		d.Naming = func(p *panel.Panel, j panel.Jack) string { return p.Name(string(f.OS), j) }
	}
	d.count()
	if f.Addressing != Unnumbered && f.Addressing != Numbered {
		return nil, refuse("addressing %q is not known; accepted: %s, %s", f.Addressing, Unnumbered, Numbered)
	}
	for n, node := range f.Graph.Nodes {
		if node.Role == topo.Host {
			continue
		}
		i := len(d.Switches)
		if i >= 60_000 {
			return nil, refuse("the address plan holds 60000 switches")
		}
		s := &Switch{Node: n, Name: node.Name, Role: node.Role, Tier: node.Tier, Index: i,
			Panel: node.Panel, Seed: 101 + i,
			RouterID: add(netip.AddrFrom4([4]byte{10, 255, 0, 1}), i),
			Mgmt:     netip.PrefixFrom(add(netip.AddrFrom4([4]byte{172, 31, 0, 1}), i), 16)}
		if f.SameSeed {
			s.Seed = 1
		}
		d.Switches = append(d.Switches, s)
		d.byNode[n] = s
	}
	d.numberASes()
	d.cable()
	if err := d.trunks(); err != nil {
		return nil, err
	}
	if err := d.attach(); err != nil {
		return nil, err
	}
	if err := d.segments(); err != nil {
		return nil, err
	}
	for _, s := range d.Switches {
		s.Spec = d.spec(s)
		for _, p := range s.Ports {
			switch os := s.language(p.Far, d.OS); {
			case p.Far == nil || os == swconf.SONiC && !p.Far.told():
				p.FarLabel = p.FarPort
			case os != d.OS:
				p.FarLabel = p.Far.Panel.Own(p.FarJack)
			default:
				p.FarLabel = d.Naming(p.Far.Panel, p.FarJack)
			}
		}
	}
	return d, nil
}

// add returns the n-th address after a.
func add(a netip.Addr, n int) netip.Addr {
	b := a.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// numberASes follows RFC 7938: a private AS per leaf, one shared by the switches of the top tier, and one per pod
// in between. In a graph without regular tiers every switch has a separate AS. It also has one if a link connects
// two switches of a tier above the leaves, which would not peer within one AS, or if paths lead down and up again.
func (d *Design) numberASes() {
	const leaf, upper, irregular = 4_200_010_001, 4_200_000_000, 4_200_020_001
	top := 0
	for _, s := range d.Switches {
		top = max(top, s.Tier)
	}
	alone := d.Graph.Kind == "graph" || d.Graph.Kind == "site" && top > 1 && d.valleys()
	for i, s := range d.Switches {
		switch {
		case alone:
			s.ASN = uint32(irregular + i)
		case s.Tier == 1:
			s.ASN = uint32(leaf + i)
		case s.Tier == top:
			s.ASN = uint32(upper + 1000*s.Tier)
		default:
			s.ASN = uint32(upper + 100_000*s.Tier + 1 + d.pod(s))
		}
	}
	for _, l := range d.Graph.Links {
		if a, b := d.byNode[l.A], d.byNode[l.B]; a != nil && b != nil && a.ASN == b.ASN {
			for i, s := range d.Switches {
				s.ASN = uint32(irregular + i)
			}
			return
		}
	}
}

// pod returns the number of a switch's part of the fabric with its lower tiers, by the first switch in it.
func (d *Design) pod(s *Switch) int { return d.podOf(s.Tier)[s.Node] }

// podOf numbers the connected parts of tiers 1 to t.
func (d *Design) podOf(t int) map[int]int {
	part := map[int]int{}
	var visit func(n, p int)
	adj := map[int][]int{}
	for _, l := range d.Graph.Links {
		a, b := d.byNode[l.A], d.byNode[l.B]
		if a != nil && b != nil && a.Tier <= t && b.Tier <= t {
			adj[l.A], adj[l.B] = append(adj[l.A], l.B), append(adj[l.B], l.A)
		}
	}
	visit = func(n, p int) {
		if _, ok := part[n]; ok {
			return
		}
		part[n] = p
		for _, m := range adj[n] {
			visit(m, p)
		}
	}
	next := 0
	for _, s := range d.Switches {
		if s.Tier <= t {
			if _, ok := part[s.Node]; !ok {
				visit(s.Node, next)
				next++
			}
		}
	}
	return part
}

// cable makes the ports. Cables between switches get a /31 when they are
// numbered.
func (d *Design) cable() {
	d.nextLink = netip.AddrFrom4([4]byte{10, 64, 0, 0})
	for i, l := range d.Graph.Links {
		a, b := d.byNode[l.A], d.byNode[l.B]
		if a == nil || b == nil {
			continue
		}
		pa, pb := d.port(a, i), d.port(b, i)
		pa.Far, pa.FarName, pa.FarPort, pa.FarJack, pa.far = b, b.Name, l.BPort, pb.Jack, pb.Number
		pb.Far, pb.FarName, pb.FarPort, pb.FarJack, pb.far = a, a.Name, l.APort, pa.Jack, pa.Number
		if l.Channel == 0 || len(d.Graph.Channels[l.Channel-1].Links) < 2 {
			d.number(pa, pb)
		}
		a.Ports, b.Ports = append(a.Ports, pa), append(b.Ports, pb)
	}
}

// count numbers the cables of each node.
func (d *Design) count() {
	at := make([]int, len(d.Graph.Nodes))
	for _, l := range d.Graph.Links {
		at[l.A]++
		at[l.B]++
		d.numbers = append(d.numbers, [2]int{at[l.A], at[l.B]})
	}
}

// port makes the port of a switch that a cable is plugged into.
func (d *Design) port(s *Switch, link int) *Port {
	l, n := &d.Graph.Links[link], d.numbers[link][0]
	if l.A != s.Node {
		n = d.numbers[link][1]
	}
	j := d.Graph.Jack(link, s.Node)
	mode, own := d.Modes[topo.LinkEnd{Link: link, Node: s.Node}]
	return &Port{Number: n, Jack: j, Name: d.Naming(s.Panel, j), Rate: l.Rate, LengthMM: l.LengthMM,
		Prop: l.Propagation(), PFC: mode, Own: own}
}

// number gives a cable between switches its /31 if cables have one.
func (d *Design) number(a, b *Port) {
	if d.Addressing != Numbered {
		return
	}
	other := add(d.nextLink, 1)
	a.Addr, a.FarAddr = netip.PrefixFrom(d.nextLink, 31), other
	b.Addr, b.FarAddr = netip.PrefixFrom(other, 31), d.nextLink
	d.nextLink = add(d.nextLink, 2)
}

// spec returns a switch's Spec with the headroom that links need, for classes with a fixed pause threshold. On
// SONiC, whose profiles always contain headroom, it is for all classes. Each port has its own headroom; the Spec,
// which has one for all, has that of the longest and fastest. On SONiC it is at least the result of SONiC's own
// calculation.
func (d *Design) spec(s *Switch) queue.Spec {
	spec, through := d.Spec(s.Node), d.Graph.Nodes[s.Node].Through(d.Pipeline)
	for i := range spec.Queues {
		k := &spec.Queues[i]
		if !k.Lossless || k.Headroom > 0 || k.XOff == 0 && d.OS != swconf.SONiC {
			for _, p := range s.Ports {
				p.Headroom[i] = k.Headroom
			}
			continue
		}
		for _, p := range s.Ports {
			response := d.Response
			if response == 0 {
				response = queue.Response(p.Rate)
			}
			own := &p.Headroom[i]
			*own = queue.Headroom(p.Rate, p.Prop, response, through, spec.MTU)
			if d.OS == swconf.SONiC {
				*own = d.inCells(s, p, *own, spec.MTU)
			}
			k.Headroom = max(k.Headroom, *own)
		}
	}
	return swconf.Normal(spec)
}

// Most returns the headroom of most ports, the greater of two equally frequent ones.
func (s *Switch) Most() (most [queue.Classes]unit.Bytes) {
	count := map[[queue.Classes]unit.Bytes]int{}
	for _, p := range s.Ports {
		count[p.Headroom]++
	}
	for _, p := range s.Ports {
		h := p.Headroom
		if n := count[h]; n > count[most] || n == count[most] && slices.Compare(h[:], most[:]) > 0 {
			most = h
		}
	}
	return most
}

// Neighbors are the ports to other switches.
func (s *Switch) Neighbors() (out []*Port) {
	for _, p := range s.Ports {
		if p.Kind == ToSwitch {
			out = append(out, p)
		}
	}
	return out
}

// Routed reports whether a switch takes part in BGP.
func (s *Switch) Routed() bool { return len(s.Neighbors()) > 0 && len(s.SIDs) == 0 }

// Channels are the numbers of its port channels towards hosts, in order, with
// one of their ports.
func (s *Switch) Channels() (out []*Port) {
	seen := map[int]bool{}
	for _, p := range s.Ports {
		if p.Kind == ToHost && p.Channel > 0 && !seen[p.Channel] {
			seen[p.Channel] = true
			out = append(out, p)
		}
	}
	return out
}

// PeerPorts are the ports to the other switch of the pair.
func (s *Switch) PeerPorts() (out []*Port) {
	for _, p := range s.Ports {
		if p.Kind == ToPeer {
			out = append(out, p)
		}
	}
	return out
}

// EVPN reports whether EVPN combines bundles.
func (d *Design) EVPN() bool {
	if d.Multihome != ESI {
		return false
	}
	return slices.ContainsFunc(d.Switches, func(s *Switch) bool { return s.Peer != nil })
}

// ESIMAC is the system MAC of a port channel's Ethernet segment: equal on both
// switches of a pair, different for every bundle.
func (s *Switch) ESIMAC(channel int) string {
	return fmt.Sprintf("02:00:%02x:%02x:%02x:%02x", s.PairID>>8&255, s.PairID&255, channel>>8&255, channel&255)
}

// Balanced reports whether switches balance dynamically, and how in DLB's words.
func (d *Design) Balanced() (mode string, ok bool) { return d.DLB, d.DLB != "" }

// File is one file of a rendered fabric, its path relative to the output.
type File struct {
	Path string
	Text string
}

// Writer writes one switch's configuration line by line.
type Writer struct {
	strings.Builder
	D    *Design
	S    *Switch
	Step int // columns per level of indentation
}

// Line writes a command at a level of indentation.
func (w *Writer) Line(level int, format string, args ...any) {
	fmt.Fprintf(w, "%*s", w.Step*level, "")
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// Description returns a port's description in a form that lint parses (swconf.Described): its far end, and its rail
// if a map determines that.
func (p *Port) Description() string {
	to := "to " + p.FarName + " " + p.FarLabel
	if p.Mapped {
		return fmt.Sprintf("rail-%d %s", p.Rail+1, to)
	}
	return to
}
