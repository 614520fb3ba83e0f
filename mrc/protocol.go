package mrc

import (
	"fmt"
	"unsafe"

	"railyard/cc"
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Protocol is MRC's place among the transports.
var Protocol = transport.Protocol{
	Name: "mrc", Title: "MRC", Words: "MRC, WRITEs sprayed by entropy value over all planes",
	Params: parameters.Params(), Defaults: parameters.Defaults(),
	Wire: wire{},
	Signals: []cc.Term{
		{Name: cc.SignalRate, Unit: "bit/s", Doc: "the window per round trip, at most the line rate"},
		{Name: cc.SignalWindow, Unit: "B", Doc: "the window to this destination, penalty included"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the last round trip"},
		{Name: "active_evs", Doc: "entropy values that take turns, on all planes"},
	},
	Counters: counters,
	Needs:    cc.Needs{Hears: cc.Marking, Switch: "ECN, trimming at best", NIC: "bitmap, EV profile per peer"},
	Ordered:  true, Profile: "evs",
	CC: "nscc", Controls: []string{"nscc", "dctcp", "none"},
	Check: check, Refers: refers,
	New: func(v param.Values, c transport.Common) transport.Maker { return newMaker(v, c) },
}

// refers returns how a packet refers to a data packet. The second word of bits is the range. An answer to a probe
// of the connection is a SACK whose PSN is the probe's number.
func refers(p *transport.Packet, psn uint32) transport.Reference {
	sack := *p
	sack.Bits[1] = 0
	if p.Kind == transport.Answer && p.Code == AboutConnection {
		sack.Kind = transport.Ack
		return transport.Refers(&sack, psn)
	}
	return transport.RefersByName(&sack, psn)
}

// check finds contradictory values.
func check(v param.Values, c transport.Common) (name, fault string) {
	k := parameters.Read(v)
	evs, active, planes := k.EVs, k.Active, max(1, c.Planes)
	switch {
	case planes > maxPlanes:
		return "evs", fmt.Sprintf("are for at most %d planes, found %d", maxPlanes, planes)
	case evs%planes != 0:
		return "evs", fmt.Sprintf("must be equally many on each of %d planes, found %d", planes, evs)
	case len(c.EVs) > 0 && len(c.EVs) != evs:
		return "evs", fmt.Sprintf("must be the %d that are set, found %d", len(c.EVs), evs)
	case active > evs:
		return "active_evs", fmt.Sprintf("must be at most the %d of the profile, found %d", evs, active)
	case active < planes:
		return "active_evs", fmt.Sprintf("must be at least one on each of %d planes, found %d", planes, active)
	case k.Window%rangeUnit != 0:
		return "psn_range", fmt.Sprintf("must be a multiple of %d, found %d", rangeUnit, k.Window)
	}
	bits := roce.EVBits4
	if c.IPv6 {
		bits = roce.EVBits6
	}
	for _, ev := range c.EVs {
		if err := roce.CheckEV(roce.EV(ev), bits); err != nil {
			return "evs", "cannot be those given: " + err.Error()
		}
	}
	return "", ""
}

const (
	maxPlanes = 32  // bits of a port status mask
	rangeUnit = 128 // packets, in which a receiver announces its range
)

// knobs are the parameters of scenarios.
type knobs struct {
	EVs         int       `yaml:"evs" range:"2,4096" default:"256" doc:"entropy values of the profile, equally many per plane"`
	Active      int       `yaml:"active_evs" range:"1,4096" default:"128" doc:"of them that take turns; the others are the reserve"`
	Burst       int       `yaml:"ev_burst" range:"1,64" default:"1" doc:"packets in a row by one value, as sockets send them in one call"`
	Window      int       `yaml:"psn_range" range:"128,32640" default:"4096" doc:"packets that the receiver tracks from the first that is missing, in steps of 128"`
	Dynamic     bool      `yaml:"dynamic_range" default:"false" doc:"the receiver announces what reordering needs instead of the whole range"`
	AckEvery    int       `yaml:"ack_every" range:"1,64" default:"4" doc:"packets per SACK, where none is marked, requested or repeated"`
	AckDelay    unit.Time `yaml:"ack_delay" range:"0|100ns,100ms" default:"0s" doc:"after which fewer are answered, too; 0: a quarter of the round trip"`
	Timeout     unit.Time `yaml:"timeout" range:"0|1us,10s" default:"0s" doc:"local ACK timeout of each packet; 0: by measured round trips"`
	Floor       unit.Time `yaml:"timeout_floor" range:"1us,1s" default:"10us" doc:"the least that measuring makes of it"`
	Exponential bool      `yaml:"exponential" default:"true" doc:"the timeout of a packet doubles each time that it is lost; else it grows independently"`
	Early       bool      `yaml:"early" default:"true" doc:"packets are retransmitted when later ones have arrived some time ago, before they time out"`
	Retries     int       `yaml:"retries" range:"0,64" default:"7" doc:"timeouts in a row without news, of all packets together, before the connection is dead"`
	ProbeEvery  unit.Time `yaml:"probe_every" range:"0|1us,1s" default:"0s" doc:"between probes of bad values, and of the paths of answers; 0: a round trip"`
	Immediates  int       `yaml:"immediates" range:"1,65535" default:"256" doc:"WRITEs with immediate that may be in flight, as the receiver announced"`
	Penalty     int       `yaml:"penalty" range:"0|1,127" default:"0" doc:"what a receiver takes off windows, in 128, for a round trip after a last-hop trim"`
}

var parameters = param.In[knobs]()

// maker makes ends with shared values.
type maker struct {
	knobs
	common  transport.Common
	control cc.Make
}

func newMaker(v param.Values, c transport.Common) *maker {
	c.Planes = max(1, c.Planes)
	m := &maker{knobs: parameters.Read(v), common: c, control: c.CC}
	if m.control == nil {
		m.control = cc.Lookup("nscc").Use("", 0)
	}
	return m
}

// Peer returns the state that a NIC keeps for another.
func (m *maker) Peer(path cc.Path, seed uint64) transport.Peer { return newPeer(m, path, seed) }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(path cc.Path, seed uint64) transport.Receiver {
	return newReceiver(m, path, seed)
}

// State returns the size of this implementation's state: a slot per packet of the range and the receiver's three
// bitmaps, plus the profile and its companions.
func (m *maker) State() (connection, peer int) {
	connection = int(unsafe.Sizeof(Sender{})+unsafe.Sizeof(Receiver{})) +
		m.Window*int(unsafe.Sizeof(slot{})) + 3*m.Window/8
	return connection, int(unsafe.Sizeof(Peer{})) + m.EVs*(4+1+2+2+8+2*4)
}
