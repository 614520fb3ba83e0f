package swconf

import (
	"fmt"
	"net/netip"
	"slices"

	"railyard/internal/panel"
	"railyard/internal/queue"
	"railyard/internal/swconf/cli"
	"railyard/unit"
)

// OS is a configuration language.
type OS string

// Languages.
const (
	NXOS  OS = "nxos"
	SONiC OS = "sonic"
	FRR   OS = "frr"
	EOS   OS = "eos"
	NVUE  OS = "nvue"
	Dell  OS = "dell"
	Junos OS = "junos"
)

// Place is a position in a file. Line 0 is nowhere: a default.
type Place struct {
	File      string
	Line, Col int
}

// Said is a value with its position in the configuration.
type Said[T any] struct {
	V  T
	At Place
}

// Is reports whether the configuration sets it.
func (s Said[T]) Is() bool { return s.At.Line > 0 }

// Say makes a value with its position.
func Say[T any](v T, at Place) Said[T] { return Said[T]{v, at} }

// Config is one switch's configuration.
type Config struct {
	OS       OS
	File     string
	Hostname Said[string]
	HwSKU    Said[string] // switch model in SONiC's notation
	LLDP     Said[bool]   // LLDP is enabled; default of the language
	Part     bool         // whether a part is enabled by another key
	Watchdog Watchdog
	Floors   bool             // the watchdog looks at queues with guaranteed bandwidth alone
	Strict   bool             // queues without a priority setting are strict
	Buffer   Said[unit.Bytes] // packet memory; most switches' configurations do not contain it
	Trim     Trim
	HashSeed Said[string] // of ECMP
	Hash     Said[string] // fields that ECMP hashes, by the language's names
	DLB      *DLB
	Ports    []*Port
	Bundles  []*Port // port channels, by their Number
	Subs     []*Port // subinterfaces of both
	BGP      *BGP
	ASN      Said[uint32] // AS number of a device whose sessions are in another file
	VTEP     Said[bool]   // ends VXLAN tunnels
	Shares   Said[bool]   // EVPN multihoming is on
	SRv6     SRv6
	Routes   []Route // static ones of the default VRF, IPv6
	QoS      *QoS    // QoS of a port without policies of its own
	MLAG     *MLAG
	Alike    []Alike // settings that must be equal on switches with shared port channels
	Objects  []Object
	Refs     []Ref
	Bundling Bundling       // which settings apply at members of port channels
	Idle     []Idle         // members' settings without effect
	Apart    []Said[string] // lines that affect packets and that are not simulated
	ByPort   []Said[string] // classes that match RoCE's packets by their UDP port, in words
	Faults   []Finding      // findings of the dialect itself
	Unknown  []Unknown
	Read     int    // lines that were understood
	Passed   int    // known and irrelevant lines
	Total    int    // lines with content
	Source   string // the text

	lines    []string         // lines of Source, once they are needed
	byName   map[string]*Port // first indexed ports by name
	byNumber map[int]*Port
	indexed  int
	spent    int
	over     Place // place at which the configuration exceeded its limits
}

// MaxPorts is the maximum number of interfaces of a configuration. maxSaid is that of settings on them; a command
// for a range of interfaces counts for each.
const (
	MaxPorts = 4096
	maxSaid  = 1_000_000
)

// Room reports whether a line may set a value on n interfaces. After the first rejection every later call is
// rejected, and the configuration is an error.
func (c *Config) Room(at Place, ports int) bool {
	c.spent += ports
	if c.over.Line == 0 && (len(c.Ports) > MaxPorts || ports > MaxPorts || c.spent > maxSaid) {
		c.over = at
	}
	return c.over.Line == 0
}

// Over refuses a configuration that exceeded the limits.
func (c *Config) Over() error {
	if c.over.Line == 0 {
		return nil
	}
	return &cli.SyntaxError{File: c.over.File, Line: c.over.Line, Col: c.over.Col,
		Msg: fmt.Sprintf("names more interfaces than a switch has (%d), or expands to too many lines", MaxPorts)}
}

// index adds the ports added since its last call.
func (c *Config) index() {
	if c.byName == nil {
		c.byName, c.byNumber = map[string]*Port{}, map[int]*Port{}
	}
	for ; c.indexed < len(c.Ports); c.indexed++ {
		p := c.Ports[c.indexed]
		if c.byName[p.Name] == nil {
			c.byName[p.Name] = p
		}
		if c.byNumber[p.Number] == nil {
			c.byNumber[p.Number] = p
		}
	}
}

// Unknown is a line that was not understood.
type Unknown struct {
	At   Place
	Text string
	Why  string
	Near []string // commands that begin as the line does
}

// Object is a named object that other lines refer to.
type Object struct {
	Kind, Name string
	At         Place
	Quiet      bool // may be unused: predefined, or only a description
}

// Ref is a use of a name.
type Ref struct {
	Kind, Name string
	At         Place
}

// Watchdog is the PFC storm watchdog (docs/references.md, watchdog).
type Watchdog struct {
	On                    Said[bool]
	Poll, Detect, Restore Said[unit.Time]
	Forward               Said[bool]
}

// DLB is dynamic load balancing (seed, chapter 12).
type DLB struct {
	At    Place
	Mode  Said[string] // flowlet, per-packet
	MAC   Said[string]
	Aging Said[unit.Time]
	All   bool
	Ports []Said[string]
}

// DefaultDLBMAC is the default of switches (source document, chapter 12).
const DefaultDLBMAC = "00:cc:cc:cc:cc:cc"

// PFCMode is the PFC mode of an interface.
type PFCMode uint8

// Modes. Auto negotiates with the neighbour through DCBX.
const (
	PFCOff PFCMode = iota
	PFCOn
	PFCAuto
)

func (m PFCMode) String() string { return [...]string{"off", "on", "auto"}[m] }

// Port is one physical interface.
type Port struct {
	Name     string // name in the language's full form: Ethernet1/3, Ethernet16, swp3
	Number   int    // front panel number from 1, 0 if the name has none
	At       Place
	Desc     Said[string]
	Speed    Said[unit.Rate]
	FEC      Said[string] // mode as the language names it
	Nego     Said[bool]   // negotiates speed and FEC with the other end (IEEE 802.3 clause 73)
	CableMM  Said[int64]
	MTU      Said[unit.Bytes]
	Down     Said[bool]
	Addrs    []Said[netip.Prefix]
	LinkOnly Said[bool] // IPv6 link-local address only: unnumbered
	Channel  Said[int]  // member of a port channel
	Least    Said[int]  // minimum of active members: with fewer, the port channel is down
	VLAN     Said[int]
	PFC      Said[PFCMode]
	Unpaused [8]Place // lines that remove a PFC priority from the port despite a profile
	Watchdog Said[bool]
	LLDPOff  Said[bool]
	DCBX     Said[string]   // ieee, cee, auto
	Policies []Said[string] // attached to the interface itself: "qos input NAME"
	QoS      *QoS
	VRF      Said[string] // "" and unsaid: the default one
	Parent   string       // parent of a subinterface: the interface that it is a part of
	Tag      Said[int]    // VLAN tag of a subinterface's packets
	Segment  Said[bool]   // an Ethernet segment of EVPN, which a server shares with another switch
	ESI      Said[string] // identifier of the segment, if set
	Core     Said[bool]   // EVPN watches the port: without working core links, segments fail
	MLAG     Said[int]    // MLAG of a port channel: the bundle with the other switch's channel
	Alike    []Alike      // settings of a port channel that must be equal on the other switch
	Floors   uint8        // its queues with guaranteed bandwidth, one bit each
	Switched bool         // known to be a layer 2 port, whose frames no MTU of packets bounds
}

// MLAG combines a switch and another for bundles.
type MLAG struct {
	At     Place
	Domain Said[string]
	Local  Said[string] // interface for the communication of the two
	Peer   Said[netip.Addr]
	Link   Said[string] // interface of the peer link
	Side   Said[int]    // number of the switch in the pair, if the language has one
	Active Said[bool]   // whether this switch decides for both, if the language has such a role
}

// Alike is a value that must be equal on both switches of a pair.
type Alike struct {
	What string // LACP system ID, mc-ae mode
	Said[string]
}

// QoS is the treatment of a port's packets, policies applied.
type QoS struct {
	Input   Said[string] // applied classification, by name
	Output  Said[string] // queueing policy
	Network Said[string] // NX-OS network-qos
	DSCP    [64]Said[uint8]
	COS     [8]Said[uint8]       // 802.1p priority of tagged packets
	Trust   Said[Trust]          // which marking classifies packets without Input
	Feeds   [queue.Classes]Place // the line that sends DSCPs to a queue
	Ratio   bool                 // shares are relative, with any sum
	Stops   [8]Said[uint8]       // the queue paused by a PFC priority, if it is mapped
	Lossy   Said[bool]           // RoCE is configured as lossy
	Queues  [queue.Classes]Queue
	Away    Said[string] // another file classifies, by a map of this name
	Default bool         // DSCPs that no line maps have the platform's queues, not a default class's
}

// Queue is one queue of a port and the PFC priority of its number.
type Queue struct {
	Name   string // name as in the language
	At     Place
	Strict Said[bool]
	Share  Said[int] // percent
	WRED   Said[WRED]
	Pause  Said[int]    // lossless: the paused PFC priority
	Silent bool         // no pauses of that priority are sent: its packets are in a priority group without headroom
	PG     Said[Pause]  // thresholds of the lossless priority group
	Sized  Said[string] // the switch computes them itself, by a method of this name
	Limit  Said[unit.Bytes]
	Floor  Said[string] // guaranteed bandwidth: "100 kbps"
	Alpha  Said[float64]
	Trim   Said[bool] // trims packets without room, as set in Config.Trim
	MTU    Said[unit.Bytes]
	Net    Place // the line that opens the class's lossless settings
}

// WRED is random detection as configured.
type WRED struct {
	Min, Max unit.Bytes
	Percent  float64
	Open     bool // no probability is set
	Weight   int
	ECN      bool
	MinText  string // thresholds not in bytes, as written: "20 segments"; Min and Max are then 0
	MaxText  string
	Away     string // the profile's name, if it is in another file
	MinAt    Place  // places of the thresholds if they are on lines of their own
	MaxAt    Place
	ECNAt    Place
}

// Pause holds the thresholds of a lossless priority group.
type Pause struct {
	XOff, XOn unit.Bytes // XOff 0: dynamic by Alpha
	XOnOffset unit.Bytes // below the threshold, if that is above XOn; 0: unset
	Alpha     float64
	Headroom  unit.Bytes
	XOffAt    Place // places of the thresholds if they are on lines of their own
	XOnAt     Place
	HeadAt    Place
}

// BGP is the underlay.
type BGP struct {
	ASN         Said[uint32]
	RouterID    Said[netip.Addr]
	MaxPaths    Said[int]
	Relax       Said[bool] // multipath over different AS paths of equal length
	Neighbors   []*Neighbor
	Networks    []Said[netip.Prefix]
	Connected   Said[bool] // announces connected networks
	NoPolicy    Said[bool] // FRR: eBGP works without policies
	NeedsPolicy bool       // the language drops eBGP routes without policies
	NoDefault   Said[bool] // neighbours are in no address family by default (no bgp default ipv4-unicast)
	Others      Said[bool] // announces routes of other protocols, or an aggregate
}

// Neighbor is a BGP neighbour.
type Neighbor struct {
	At      Place
	Addr    netip.Addr   // numbered
	Port    string       // unnumbered
	Remote  Said[string] // AS number, or "external"
	Group   Said[string]
	Active  bool         // whether the neighbor is activated in an address family
	Off     bool         // removed from IPv4 unicast by name
	On      Family       // address families to which it is added by name
	VRF     string       // "" is the default one: addresses and AS numbers may repeat in another
	Local   Said[string] // AS number announced to it instead of the switch's (local-as)
	Down    Said[bool]   // shut down
	Loops   bool         // accepts routes that contain the switch's own AS (allowas-in)
	Maps    []Ref        // route-maps for EVPN routes sent to it
	Keeps   Said[bool]   // EVPN routes sent to it keep their next hop
	Overlay bool         // active in families that carry no underlay's routes only, as EVPN

	Policed Direction // directions with policies, of itself or its group
}

// Direction is the direction of routes: from a neighbour, or to it.
type Direction uint8

// Directions.
const (
	Inbound Direction = 1 << iota
	Outbound
	Directions = Inbound | Outbound
)

// Family is a set of address families.
type Family uint8

// Families.
const (
	IPv4 Family = 1 << iota
	IPv6
	EVPN
	OtherFamily
)

// Port returns the interface of a name, or nil.
func (c *Config) Port(name string) *Port {
	c.index()
	return c.byName[name]
}

// Numbered returns the interface of a front panel number, or nil.
func (c *Config) Numbered(n int) *Port {
	c.index()
	return c.byNumber[n]
}

// Bundle returns the port channel of a number, or nil.
func (c *Config) Bundle(n int) *Port {
	for _, b := range c.Bundles {
		if b.Number == n {
			return b
		}
	}
	return nil
}

// routing returns the interface that routes for a port: its channel, if that has addresses or IPv6, or itself.
func (c *Config) routing(p *Port) *Port {
	if b := c.Bundle(p.Channel.V); p.Channel.Is() && b != nil && b.routed() {
		return b
	}
	return p
}

// named is the interface of a name, port channels among them, or nil.
func (c *Config) named(name string) *Port {
	for _, b := range c.Bundles {
		if b.Name == name {
			return b
		}
	}
	if s := c.Sub(name); s != nil {
		return s
	}
	return c.Port(name)
}

// routed reports whether an interface has an address of its own.
func (p *Port) routed() bool { return len(p.Addrs) > 0 || p.LinkOnly.V }

// Plugged returns the interface of a jack, or nil.
func (c *Config) Plugged(p *panel.Panel, j panel.Jack) *Port {
	if q := c.Port(p.Name(string(c.OS), j)); q != nil && (j.Parts > 1 || p != nil) {
		return q
	}
	if j.Parts > 1 {
		return nil
	}
	return c.Numbered(int(j.Port))
}

// Name returns the hostname, or the file if there is none.
func (c *Config) Name() string {
	if c.Hostname.V != "" {
		return c.Hostname.V
	}
	return c.File
}

// Define notes a named object.
func (c *Config) Define(kind, name string, at Place, quiet bool) {
	c.Objects = append(c.Objects, Object{kind, name, at, quiet})
}

// Undefine forgets a name's definitions.
func (c *Config) Undefine(kind, name string) {
	c.Objects = slices.DeleteFunc(c.Objects, func(o Object) bool { return o.Kind == kind && o.Name == name })
}

// Unuse forgets a name's references.
func (c *Config) Unuse(kind, name string) {
	c.Refs = slices.DeleteFunc(c.Refs, func(r Ref) bool { return r.Kind == kind && r.Name == name })
}

// Use notes a reference to a named object.
func (c *Config) Use(kind, name string, at Place) { c.Refs = append(c.Refs, Ref{kind, name, at}) }

// HasQoS reports whether the language has settings of queues.
func (c *Config) HasQoS() bool { return c.OS != FRR }

// Print is a fingerprint of the treatment of packets, independent of notation and position: equal for two that treat
// packets equally.
type Print struct {
	input, output, network, away string
	dscp                         [64]dscpPrint
	cos                          [8]dscpPrint
	trust                        dscpPrint
	queues                       [queue.Classes]queuePrint
}

type dscpPrint struct {
	queue uint8
	said  bool
}

type queuePrint struct {
	name                                            string
	sized                                           string
	strict, share, wred, pause, pg, trim, alphaSaid bool
	percent, priority                               int
	red                                             WRED
	group                                           Pause
	limit, mtu                                      unit.Bytes
	alpha                                           float64
}

// Fingerprint returns the fingerprint of a treatment.
func (q *QoS) Fingerprint() (p Print) {
	p.input, p.output, p.network, p.away = q.Input.V, q.Output.V, q.Network.V, q.Away.V
	for i := range q.DSCP {
		p.dscp[i] = dscpPrint{q.DSCP[i].V, q.DSCP[i].Is()}
	}
	for i := range q.COS {
		p.cos[i] = dscpPrint{q.COS[i].V, q.COS[i].Is()}
	}
	p.trust = dscpPrint{uint8(q.Trust.V), q.Trust.Is()}
	for i := range q.Queues {
		k := &q.Queues[i]
		group, red := k.PG.V, k.WRED.V
		red.MinAt, red.MaxAt, red.ECNAt = Place{}, Place{}, Place{}
		group.XOffAt, group.XOnAt, group.HeadAt = Place{}, Place{}, Place{}
		p.queues[i] = queuePrint{name: k.Name, sized: k.Sized.V, strict: k.Strict.V, share: k.Share.Is(),
			wred:  k.WRED.Is(),
			pause: k.Pause.Is(), pg: k.PG.Is(), trim: k.Trim.V, percent: k.Share.V, priority: k.Pause.V,
			red: red, group: group, limit: k.Limit.V, mtu: k.MTU.V, alpha: k.Alpha.V,
			alphaSaid: k.Alpha.Is()}
	}
	return p
}
