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
	Params: []param.Param{
		{Name: "evs", Kind: param.Count, Min: "2", Max: "4096",
			Doc: "entropy values of the profile, equally many per plane"},
		{Name: "active_evs", Kind: param.Count, Min: "1", Max: "4096",
			Doc: "of them that take turns; the others are the reserve"},
		{Name: "ev_burst", Kind: param.Count, Min: "1", Max: "64",
			Doc: "packets in a row by one value, as sockets send them in one call"},
		{Name: "psn_range", Kind: param.Count, Min: "128", Max: "32640",
			Doc: "packets that the receiver tracks from the first that is missing, in steps of 128"},
		{Name: "dynamic_range", Kind: param.Flag,
			Doc: "the receiver announces what reordering needs instead of the whole range"},
		{Name: "ack_every", Kind: param.Count, Min: "1", Max: "64",
			Doc: "packets per SACK, where none is marked, requested or repeated"},
		{Name: "ack_delay", Kind: param.Duration, Min: "100ns", Max: "100ms", Zero: true,
			Doc: "after which fewer are answered, too; 0: a quarter of the round trip"},
		{Name: "timeout", Kind: param.Duration, Min: "1us", Max: "10s", Zero: true,
			Doc: "local ACK timeout of each packet; 0: by measured round trips"},
		{Name: "timeout_floor", Kind: param.Duration, Min: "1us", Max: "1s",
			Doc: "the least that measuring makes of it"},
		{Name: "exponential", Kind: param.Flag,
			Doc: "the timeout of a packet doubles each time that it is lost; else it grows independently"},
		{Name: "early", Kind: param.Flag,
			Doc: "packets go again once later ones have come for long enough, before they time out"},
		{Name: "retries", Kind: param.Count, Min: "0", Max: "64",
			Doc: "timeouts in a row without news, of all packets together, before the connection is dead"},
		{Name: "probe_every", Kind: param.Duration, Min: "1us", Max: "1s", Zero: true,
			Doc: "between probes of bad values, and of the paths of answers; 0: a round trip"},
		{Name: "immediates", Kind: param.Count, Min: "1", Max: "65535",
			Doc: "WRITEs with immediate that may be in flight, as the receiver announced"},
		{Name: "penalty", Kind: param.Count, Min: "1", Max: "127", Zero: true,
			Doc: "what a receiver takes off windows, in 128, for a round trip after a last-hop trim"},
	},
	Wire: wire{},
	Defaults: param.Values{"evs": 256, "active_evs": 128, "ev_burst": 1, "psn_range": 4096,
		"dynamic_range": false, "ack_every": 4, "ack_delay": unit.Time(0), "timeout": unit.Time(0),
		"timeout_floor": 10 * unit.Microsecond, "exponential": true, "early": true, "retries": 7,
		"probe_every": unit.Time(0), "immediates": 256, "penalty": 0},
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
	Check: check,
	New:   func(v param.Values, c transport.Common) transport.Maker { return newMaker(v, c) },
}

// check finds what cannot be together.
func check(v param.Values, c transport.Common) (name, fault string) {
	evs, active, planes := param.Value[int](v, "evs"), param.Value[int](v, "active_evs"), max(1, c.Planes)
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
	case param.Value[int](v, "psn_range")%rangeUnit != 0:
		return "psn_range", fmt.Sprintf("must be a multiple of %d, found %d", rangeUnit,
			param.Value[int](v, "psn_range"))
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

// maker makes ends that share values.
type maker struct {
	common                       transport.Common
	evs, active, window, every   int
	burst, retries, immediates   int
	dynamic, exponential, early  bool
	delay, timeout, floor, probe unit.Time
	penalty                      uint8
	control                      cc.Make
}

func newMaker(v param.Values, c transport.Common) *maker {
	count := func(name string) int { return param.Value[int](v, name) }
	span := func(name string) unit.Time { return param.Value[unit.Time](v, name) }
	c.Planes = max(1, c.Planes)
	m := &maker{common: c, evs: count("evs"), active: count("active_evs"), window: count("psn_range"),
		burst: count("ev_burst"), every: count("ack_every"), retries: count("retries"),
		immediates: count("immediates"),
		dynamic:    param.Value[bool](v, "dynamic_range"), exponential: param.Value[bool](v, "exponential"),
		early: param.Value[bool](v, "early"),
		delay: span("ack_delay"), timeout: span("timeout"), floor: span("timeout_floor"),
		probe: span("probe_every"), penalty: uint8(count("penalty")), control: c.CC}
	if m.control == nil {
		m.control = cc.Lookup("nscc").Use("", 0)
	}
	return m
}

// Peer makes what a NIC keeps for another.
func (m *maker) Peer(path cc.Path, seed uint64) transport.Peer { return newPeer(m, path, seed) }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(path cc.Path, seed uint64) transport.Receiver {
	return newReceiver(m, path, seed)
}

// State returns the bytes that this implementation keeps: a slot per packet of the range and the receiver's three
// bitmaps; the profile, and what is beside it.
func (m *maker) State() (connection, peer int) {
	connection = int(unsafe.Sizeof(Sender{})+unsafe.Sizeof(Receiver{})) +
		m.window*int(unsafe.Sizeof(slot{})) + 3*m.window/8
	return connection, int(unsafe.Sizeof(Peer{})) + m.evs*(4+1+2+2+8+2*4)
}
