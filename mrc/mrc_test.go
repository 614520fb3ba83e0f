package mrc

import (
	"maps"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/param"
	"railyard/transport"
	"railyard/transport/transporttest"
	"railyard/unit"
)

// with returns the defaults with other values for some parameters.
func with(v param.Values) param.Values {
	all := maps.Clone(Protocol.Defaults)
	maps.Copy(all, v)
	return all
}

// MRC passes the tests of transporttest. If all paths but one fail, a connection with one packet may miss the
// working one eight times. It has more retries here than by default.
func TestConforms(t *testing.T) {
	transporttest.Run(t, transporttest.Suite{Protocol: &Protocol,
		Values: with(param.Values{"retries": 64, "exponential": false})})
}

// Contradictory values are rejected, each by its name.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		v          param.Values
		planes     int
		name, says string
	}{
		{param.Values{}, 8, "", ""},
		{param.Values{}, 32, "", ""},
		{param.Values{"evs": 128}, 8, "", ""},
		{param.Values{"active_evs": 8}, 8, "", ""},
		{param.Values{}, 3, "evs", "equally many on each of 3 planes, found 256"},
		{param.Values{"evs": 64}, 8, "active_evs", "at most the 64 of the profile, found 128"},
		{param.Values{"active_evs": 4}, 8, "active_evs", "at least one on each of 8 planes, found 4"},
		{param.Values{"psn_range": 1000}, 8, "psn_range", "a multiple of 128, found 1000"},
		{param.Values{}, 64, "evs", "at most 32 planes, found 64"},
	} {
		name, fault := Protocol.Check(with(c.v), transport.Common{MTU: 4096, Planes: c.planes})
		if name != c.name || !strings.Contains(fault, c.says) {
			t.Errorf("%v on %d planes: %s %s, want %s %s", c.v, c.planes, name, fault, c.name, c.says)
		}
	}
}

// The length of frames is that of the codec's headers.
func TestWire(t *testing.T) {
	m := newMaker(Protocol.Defaults, transport.Common{MTU: 4096, Planes: 1})
	for _, c := range []struct {
		p    transport.Packet
		want int
	}{
		{transport.Packet{Kind: transport.Data, Flags: transport.Stamped | transport.Last, Payload: 4096},
			14 + 20 + 8 + 12 + 4 + 4 + 16 + 4096 + 4 + 4},
		{transport.Packet{Kind: transport.Data, Flags: transport.Stamped | transport.Last | transport.Tells,
			Payload: 3}, 14 + 20 + 8 + 12 + 4 + 4 + 16 + 4 + 4 + 4 + 4},
		{transport.Packet{Kind: transport.Data, Flags: transport.Stamped | transport.Trimmed, Offset: 4096,
			Payload: 4096}, 14 + 20 + 8 + 12 + 4 + 4 + 16 + 4 + 4},
		{transport.Packet{Kind: transport.Data, Payload: 4096}, 14 + 20 + 8 + 12 + 4 + 4 + 16 + 4096 + 4 + 4},
		{transport.Packet{Kind: transport.Ack}, 14 + 20 + 8 + 12 + 36 + 4 + 4},
		{transport.Packet{Kind: transport.Nack}, 14 + 20 + 8 + 12 + 20 + 4 + 4},
		{transport.Packet{Kind: transport.Probe}, 14 + 20 + 8 + 12 + 16 + 4 + 4},
	} {
		if got := m.Wire(&c.p); got != c.want {
			t.Errorf("%v with flags %b has %d bytes, want %d", c.p.Kind, c.p.Flags, got, c.want)
		}
	}
}

// testPath is a path of 100 Gbit/s and 10 us.
var testPath = cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 10 * unit.Microsecond, Hops: 1}
