package srd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// two is a sender over two paths, one on each of two planes.
func two(t *testing.T) (*sender, *peer) {
	t.Helper()
	m := Protocol.New(with(map[string]any{"paths": 2}), transport.Common{MTU: 1000, Planes: 2})
	p := m.Peer(path100, 1).(*peer)
	return p.Sender(1).(*sender), p
}

// TestDefaultsByHand checks Railyard's constants against the documentation of the protocol. It also checks the
// state of a NIC: 24 bytes for each of 4,096 packets of a connection, 16 for each of 64 paths of a peer, and 64
// more for either.
func TestDefaultsByHand(t *testing.T) {
	const want = "map[ack_delay:2us ack_every:4 cut:0.5 gain:2 increase:0.02 paths:64 retries:100 slow:2 step:0.25 " +
		"timeout:50us window:4096]"
	if got := fmt.Sprint(Protocol.Defaults); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m := Protocol.New(Protocol.Defaults, transport.Common{MTU: 1000, Planes: 1})
	if connection, peer := m.State(); connection != 98_368 || peer != 1_088 {
		t.Errorf("%d bytes for a connection, %d for a peer", connection, peer)
	}
}

// TestSharesByHand: a path whose round trip exceeds twice the minimum, and the mean, loses a quarter of its share
// of 256, once per round trip, down to an eighth. Otherwise it gains a sixteenth and one, up to 256.
func TestSharesByHand(t *testing.T) {
	_, peer := two(t)
	p, x := &peer.paths, &peer.paths.all[0]
	p.mean = 12 * us
	hear := func(at, rtt unit.Time, want int32) {
		t.Helper()
		x.rtt = rtt // the round trip has settled there
		if p.heard(at, peer.s, 0, rtt, 10*us); x.share != want {
			t.Errorf("at %v, a round trip of %v: a share of %d, want %d", at, rtt, x.share, want)
		}
	}
	hear(unit.Second, 20*us, 256)           // twice the least is not above it
	hear(2*unit.Second, 20*us+4, 192)       // that is
	hear(2*unit.Second+20*us+3, 40*us, 192) // once per round trip
	hear(3*unit.Second, 40*us, 144)         //
	p.mean = 100 * us                       //
	hear(4*unit.Second, 40*us, 161)         // all are slow: 256/16 + 1 more
	p.mean = 12 * us                        //
	for i, want := range []int32{121, 91, 69, 52, 39, 32, 32} {
		hear(unit.Time(5+i)*unit.Second, 40*us, want)
	}
	if p.shifts != 9 {
		t.Errorf("%d shifts, want 9", p.shifts)
	}
	for i := range 20 {
		hear(unit.Time(20+i)*unit.Second, 10*us, min(256, 32+17*int32(i+1)))
	}
	p.lost(unit.Time(50)*unit.Second, peer.s, 0)
	p.lost(unit.Time(50)*unit.Second+9*us, peer.s, 0) // once per round trip, too
	if x.share != 192 {
		t.Errorf("a share of %d after a loss, want 192", x.share)
	}
}

// TestPathsAreSmoothed: a round trip counts a quarter in its path's mean, and a thirty-second in the mean of all
// paths.
func TestPathsAreSmoothed(t *testing.T) {
	_, peer := two(t)
	p := &peer.paths
	p.heard(unit.Second, peer.s, 0, 1024*us, 10*us)
	p.heard(unit.Second, peer.s, 0, 2048*us, 10*us)
	if p.all[0].rtt != 1280*us || p.mean != 1056*us || p.all[1].rtt != 0 {
		t.Errorf("the path's %v, the mean %v", p.all[0].rtt, p.mean)
	}
}

// TestNothingByABrokenPlane: packets in flight on a plane whose port fails are retransmitted on the other plane.
// The failed plane gets none until its port recovers.
func TestNothingByABrokenPlane(t *testing.T) {
	for broken := range 2 {
		s, _ := two(t)
		if err := s.Post(0, transport.Request{Bytes: 10_000}); err != nil {
			t.Fatal(err)
		}
		var p transport.Packet
		for i := range 4 {
			if plane := i % 2; !s.Ready(0, plane) || !s.Next(0, plane, &p) || int(p.Plane) != plane {
				t.Fatalf("packet %d goes by plane %d", i, p.Plane)
			}
		}
		s.PlaneIs(1, broken, false)
		s.PlaneIs(1, 2, false) // there is none
		if s.InFlight() != 2000 {
			t.Errorf("plane %d broke: %v under way, want what went by the other", broken, s.InFlight())
		}
		if s.Ready(1, broken) || s.Next(1, broken, &p) {
			t.Errorf("packet %d goes by plane %d, which is broken", p.PSN, broken)
		}
		for n := range 2 {
			if psn := uint32(2*n + broken); !s.Ready(1, 1-broken) || !s.Next(1, 1-broken, &p) || p.PSN != psn ||
				p.Flags&transport.Again == 0 {
				t.Errorf("packet %d goes by plane %d, want %d once more", p.PSN, 1-broken, psn)
			}
		}
		s.PlaneIs(2, broken, true)
		if !s.Ready(2, broken) || !s.Next(2, broken, &p) || p.PSN != 4 {
			t.Errorf("plane %d works again: packet %d goes", broken, p.PSN)
		}
	}
}

// TestBadValues: a window that is no power of two, and planes that no path reaches, are rejected before the run.
func TestBadValues(t *testing.T) {
	for _, c := range []struct {
		change     map[string]any
		planes     int
		name, says string
	}{
		{map[string]any{"window": 100}, 1, "window", "not a power of two"},
		{map[string]any{"window": 128}, 1, "", ""},
		{map[string]any{"paths": 3}, 4, "paths", "3 do not reach the 4 planes"},
		{map[string]any{"paths": 4}, 4, "", ""},
	} {
		name, fault := Protocol.Check(with(c.change), transport.Common{Planes: c.planes})
		if name != c.name || (name == "") != (fault == "") || !strings.Contains(fault, c.says) {
			t.Errorf("%v with %d planes: %q %q", c.change, c.planes, name, fault)
		}
	}
}

// TestUnknownPath: the minimum round trip is the path's if it is known, however short a measured one is. Otherwise
// it is the shortest measured one, and 100 us before the first.
func TestUnknownPath(t *testing.T) {
	set := settingsOf(Protocol.Defaults, transport.Common{MTU: 1000})
	for known, want := range map[unit.Time][]unit.Time{0: {100 * us, 12 * us, 12 * us, 7 * us},
		10 * us: {10 * us, 10 * us, 10 * us, 10 * us}} {
		r := newRate(&set, 100*unit.Gbps, known)
		if first := unit.InTime(100*unit.Gbps, want[0]) + 4*1000; r.limit() != first {
			t.Errorf("path of %v: %v may be in flight at first, want %v", known, r.limit(), first)
		}
		got := []unit.Time{r.least()}
		for i, rtt := range []unit.Time{12 * us, 15 * us, 7 * us} {
			r.heard(unit.Time(i+1)*100*us, unit.Time(i+1)*100*us-rtt, rtt)
			got = append(got, r.least())
		}
		if !slices.Equal(got, want) {
			t.Errorf("path of %v: least round trips %v, want %v", known, got, want)
		}
	}
}
