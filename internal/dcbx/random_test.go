package dcbx_test

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/dcbx"
	"railyard/internal/swconf"

	"pgregory.net/rapid"
)

// someStation draws one end of a cable, with any values that a port or a NIC may have.
func someStation(t *rapid.T, name string, mac byte) dcbx.Station {
	return station(name, mac, func(s *dcbx.Station) {
		s.LLDP = rapid.Bool().Draw(t, name+" LLDP")
		s.Version = rapid.SampledFrom([]dcbx.Version{dcbx.None, dcbx.IEEE, dcbx.CEE, dcbx.Auto}).Draw(t,
			name+" version")
		s.Mode = rapid.SampledFrom([]swconf.PFCMode{swconf.PFCOff, swconf.PFCOn, swconf.PFCAuto}).Draw(t,
			name+" mode")
		s.Willing = rapid.Bool().Draw(t, name+" willing")
		s.Enable = rapid.SampledFrom([]uint8{0, 8, 16, 24, 255}).Draw(t, name+" enable")
		if s.Mode == swconf.PFCOff {
			s.Enable = 0
		}
	})
}

// For any two ends, the order in which they are looked at changes nothing. No end pauses a priority that neither
// has configured, and a forced end does what it is forced to do. If the result is in order, it is in order on both
// ends.
func TestExchangeOfAnyTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someStation(t, "a", 1), someStation(t, "b", 2)
		r, mirror := dcbx.Exchange(a, b), dcbx.Exchange(b, a)
		if r.Version != mirror.Version || r.OperA != mirror.OperB || r.OperB != mirror.OperA ||
			r.WhyA != mirror.WhyB || r.WhyB != mirror.WhyA || len(r.Problems) != len(mirror.Problems) {
			t.Fatalf("from a: %+v\nfrom b: %+v", r, mirror)
		}
		if extra := (r.OperA | r.OperB) &^ (a.Enable | b.Enable); extra != 0 {
			t.Fatalf("priorities %08b are in nobody's configuration", extra)
		}
		for _, e := range []struct {
			s    dcbx.Station
			oper uint8
		}{{a, r.OperA}, {b, r.OperB}} {
			if e.s.Mode == swconf.PFCOff && e.oper != 0 || e.s.Mode == swconf.PFCOn && e.oper != e.s.Enable {
				t.Fatalf("PFC %v for %08b does %08b", e.s.Mode, e.s.Enable, e.oper)
			}
		}
		if r.OK() && (r.OperA != r.OperB || r.OperA == 0 && a.Enable|b.Enable != 0) {
			t.Fatalf("%08b and %08b of %08b and %08b are called in order", r.OperA, r.OperB, a.Enable,
				b.Enable)
		}
		if !r.OK() && r.OperA == r.OperB && r.OperA != 0 && a.Mode == swconf.PFCOn && b.Mode == swconf.PFCOn {
			t.Fatalf("both are forced to the same, and are told %q", r.Problems)
		}
	})
}

// Two ends with one version of DCBX agree if at least one is willing: the willing one takes the values of the
// other. If both are willing, the end with the lower MAC address keeps its own (802.1Q 38.4.2).
func TestTheWillingAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someStation(t, "a", 1), someStation(t, "b", 2)
		a.LLDP, b.LLDP, a.Mode, b.Mode = true, true, swconf.PFCAuto, swconf.PFCAuto
		pair := rapid.SampledFrom([][2]dcbx.Version{{dcbx.IEEE, dcbx.IEEE}, {dcbx.CEE, dcbx.CEE},
			{dcbx.Auto, dcbx.IEEE}, {dcbx.CEE, dcbx.Auto}, {dcbx.Auto, dcbx.Auto}}).Draw(t, "versions")
		a.Version, b.Version = pair[0], pair[1]
		if !a.Willing && !b.Willing {
			a.Willing = true
		}
		want := a.Enable // the lower MAC address, or not willing
		if a.Willing && !b.Willing {
			want = b.Enable
		}
		r := dcbx.Exchange(a, b)
		if r.OperA != want || r.OperB != want {
			t.Fatalf("willing %v and %v with %08b and %08b: %08b and %08b in operation", a.Willing, b.Willing,
				a.Enable, b.Enable, r.OperA, r.OperB)
		}
	})
}

// Only ends with LLDP send frames, in the order of their times. The frames of an end without DCBX contain neither
// ETS nor PFC.
func TestWhoSpeaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someStation(t, "a", 1), someStation(t, "b", 2)
		r := dcbx.Exchange(a, b)
		count := map[bool]int{}
		for i, f := range r.Frames {
			s := a
			if !f.FromA {
				s = b
			}
			if count[f.FromA]++; !s.LLDP {
				t.Fatalf("%s has LLDP off and sends", s.Name)
			}
			if i > 0 && f.At < r.Frames[i-1].At {
				t.Fatalf("frame %d is before the one ahead of it", i)
			}
			if !strings.HasPrefix(f.Comment, s.Name+": ") {
				t.Fatalf("%s's frame says %q", s.Name, f.Comment)
			}
			// Organizationally specific TLVs of 802.1 and of CEE (802.1Q D.2, DCBX 1.01).
			tagged := slices.ContainsFunc([]string{"\x00\x80\xc2\x09", "\x00\x80\xc2\x0b",
				"\x00\x1b\x21\x02"}, func(tlv string) bool { return strings.Contains(string(f.Bytes), tlv) })
			if tagged == (s.Version == dcbx.None) {
				t.Fatalf("%s speaks %v, DCBX in its frame: %v", s.Name, s.Version, tagged)
			}
		}
		if a.LLDP != (count[true] > 0) || b.LLDP != (count[false] > 0) || max(count[true], count[false]) > 2 {
			t.Fatalf("%d and %d frames", count[true], count[false])
		}
	})
}
