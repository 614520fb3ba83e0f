// Package swconf is what a switch's configuration says, whatever the vendor's
// syntax: classification, queues, scheduling, ECN, PFC, watchdog, load
// balancing, neighbours, each value with the place where it stands. Dialects
// (packages nxos, sonic, eos, frr) fill a Config from text and write text from
// a design; the rules of lint, the table of show and the queue.Spec of a
// simulated switch are made from the Config alone.
package swconf

import (
	"net/netip"
	"slices"

	"railyard/internal/panel"
	"railyard/internal/queue"
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
)

// Place is where something stands in a file. Line 0 is nowhere: a default.
type Place struct {
	File      string
	Line, Col int
}

// Said is a value and where the text says it.
type Said[T any] struct {
	V  T
	At Place
}

// Is reports whether the text says it.
func (s Said[T]) Is() bool { return s.At.Line > 0 }

// Say makes a value with its place.
func Say[T any](v T, at Place) Said[T] { return Said[T]{v, at} }

// Config is one switch's configuration.
type Config struct {
	OS       OS
	File     string
	Hostname Said[string]
	LLDP     Said[bool] // LLDP runs; each language's default unless said
	Watchdog Watchdog
	Buffer   Said[unit.Bytes] // packet memory; the text of most switches does not say
	Trim     Trim
	HashSeed Said[string] // of ECMP
	DLB      *DLB
	Ports    []*Port
	Bundles  []*Port // port channels, by their Number
	BGP      *BGP
	SRv6     SRv6
	Routes   []Route // static ones of the default VRF, IPv6
	QoS      *QoS    // of a port without policies of its own
	Objects  []Object
	Refs     []Ref
	Faults   []Finding // what the dialect itself found
	Unknown  []Unknown
	Read     int // lines that were understood
	Passed   int // lines that are known and do not matter here
	Total    int // lines with content

	byName   map[string]*Port // of the first indexed ports
	byNumber map[int]*Port
	indexed  int
	spent    int
	over     Place // where the text asked for more than it may
}

// MaxPorts bounds the interfaces of one text, maxSaid what it says of them: a command
// below a range of interfaces counts for each.
const (
	MaxPorts = 4096
	maxSaid  = 1_000_000
)

// Room reports whether a line may say something of so many interfaces; once it may not,
// no other may, and the text is refused.
func (c *Config) Room(at Place, ports int) bool {
	c.spent += ports
	if c.over.Line == 0 && (len(c.Ports) > MaxPorts || ports > MaxPorts || c.spent > maxSaid) {
		c.over = at
	}
	return c.over.Line == 0
}

// index finds the ports that were added since it was asked last.
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
}

// Object is something with a name that other lines refer to.
type Object struct {
	Kind, Name string
	At         Place
	Quiet      bool // may stand unused: predefined, or a mere description
}

// Ref is a use of a name.
type Ref struct {
	Kind, Name string
	At         Place
}

// Watchdog is the PFC storm watchdog (HANDBOOK.md 3.4).
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

// DefaultDLBMAC holds where a switch's text names none (seed, chapter 12).
const DefaultDLBMAC = "00:cc:cc:cc:cc:cc"

// PFCMode is what an interface does about PFC.
type PFCMode uint8

// Modes. Auto asks the neighbour through DCBX.
const (
	PFCOff PFCMode = iota
	PFCOn
	PFCAuto
)

func (m PFCMode) String() string { return [...]string{"off", "on", "auto"}[m] }

// Port is one physical interface.
type Port struct {
	Name     string // in the language's full form: Ethernet1/3, Ethernet16, swp3
	Number   int    // front panel number from 1, 0 where the name tells none
	At       Place
	Desc     Said[string]
	Speed    Said[unit.Rate]
	CableMM  Said[int64]
	MTU      Said[unit.Bytes]
	Down     Said[bool]
	Addrs    []Said[netip.Prefix]
	LinkOnly Said[bool] // IPv6 link-local address only: unnumbered
	Channel  Said[int]  // member of a port channel
	Least    Said[int]  // of a port channel: members below which it is down
	VLAN     Said[int]
	PFC      Said[PFCMode]
	Watchdog Said[bool]
	LLDPOff  Said[bool]
	DCBX     Said[string] // ieee, cee, auto
	QoS      *QoS
}

// QoS is what happens to the packets of a port, policies applied.
type QoS struct {
	Input   Said[string] // classification that is applied, as named
	Output  Said[string] // queueing policy
	Network Said[string] // NX-OS network-qos
	DSCP    [64]Said[uint8]
	Feeds   [queue.Classes]Place // the line that sends DSCPs to a queue
	Queues  [queue.Classes]Queue
}

// Queue is one queue of a port and the PFC priority of its number.
type Queue struct {
	Name   string // as the language names it
	At     Place
	Strict Said[bool]
	Share  Said[int] // percent
	WRED   Said[WRED]
	Pause  Said[int]   // lossless: the PFC priority that is paused
	PG     Said[Pause] // thresholds of the lossless priority group
	Limit  Said[unit.Bytes]
	Alpha  Said[float64]
	Trim   Said[bool] // cuts what it has no room for to its headers, as Config.Trim says
	MTU    Said[unit.Bytes]
	Net    Place // the line that opens the class's lossless settings
}

// WRED is random detection as the text gives it.
type WRED struct {
	Min, Max unit.Bytes
	Percent  float64
	Weight   int
	ECN      bool
	MinAt    Place // where they stand on lines of their own
	MaxAt    Place
	ECNAt    Place
}

// Pause holds the thresholds of a lossless priority group.
type Pause struct {
	XOff, XOn unit.Bytes // XOff 0: dynamic by Alpha
	XOnOffset unit.Bytes // below the threshold, if that is above XOn; 0: not said
	Alpha     float64
	Headroom  unit.Bytes
	XOffAt    Place // where they stand on lines of their own
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
}

// Neighbor is a BGP neighbour.
type Neighbor struct {
	At     Place
	Addr   netip.Addr   // numbered
	Port   string       // unnumbered
	Remote Said[string] // AS number, or "external"
	Group  Said[string]
	Active bool // in an address family
	Off    bool // taken out of IPv4 unicast by name
}

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

// routing is the interface that routes for a port: its channel, where that has addresses or IPv6, or itself.
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

// Name is the hostname, or the file where the text gives none.
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
func (c *Config) Use(kind, name string, at Place) {
	c.Refs = append(c.Refs, Ref{kind, name, at})
}

// HasQoS reports whether the language says anything about queues.
func (c *Config) HasQoS() bool { return c.OS != FRR }

// Print is what a description does with packets, whatever its text and wherever it stands in it: equal for
// two that treat packets alike.
type Print struct {
	input, output, network string
	dscp                   [64]dscpPrint
	queues                 [queue.Classes]queuePrint
}

type dscpPrint struct {
	queue uint8
	said  bool
}

type queuePrint struct {
	name                                            string
	strict, share, wred, pause, pg, trim, alphaSaid bool
	percent, priority                               int
	red                                             WRED
	group                                           Pause
	limit, mtu                                      unit.Bytes
	alpha                                           float64
}

// Fingerprint is what a description does.
func (q *QoS) Fingerprint() (p Print) {
	p.input, p.output, p.network = q.Input.V, q.Output.V, q.Network.V
	for i := range q.DSCP {
		p.dscp[i] = dscpPrint{q.DSCP[i].V, q.DSCP[i].Is()}
	}
	for i := range q.Queues {
		k := &q.Queues[i]
		group := k.PG.V
		group.XOffAt, group.XOnAt, group.HeadAt = Place{}, Place{}, Place{}
		p.queues[i] = queuePrint{name: k.Name, strict: k.Strict.V, share: k.Share.Is(), wred: k.WRED.Is(),
			pause: k.Pause.Is(), pg: k.PG.Is(), trim: k.Trim.V, percent: k.Share.V, priority: k.Pause.V,
			red: k.WRED.V, group: group, limit: k.Limit.V, mtu: k.MTU.V, alpha: k.Alpha.V,
			alphaSaid: k.Alpha.Is()}
	}
	return p
}
