package dcbx_test

import (
	"fmt"
	"testing"

	"railyard/internal/dcbx"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/roce"
	"railyard/unit"
)

// leaf is a switch port that pauses priority 3, gives its class half of the bandwidth and assigns RoCEv2 to it.
func leaf(change func(*dcbx.Station)) dcbx.Station {
	return station("leaf-1", 1, func(s *dcbx.Station) {
		s.ETS.Percent, s.ETS.Selection = [8]uint8{0: 50, 3: 50}, [8]uint8{0: 2, 3: 2}
		for i := range s.ETS.Class {
			s.ETS.Class[i] = uint8(i)
		}
		s.Apps = []roce.AppPriority{{Priority: 3, Sel: 3, Protocol: roce.Port}}
		if change != nil {
			change(s)
		}
	})
}

// tell simulates an exchange and compares a page of the frames on the cable and the result with the stored one.
func tell(t *testing.T, name, preface string, a, b dcbx.Station) {
	t.Helper()
	page := story.Open(preface)
	r := dcbx.Exchange(a, b)
	last := unit.Time(0)
	for _, f := range r.Frames {
		var frame roce.Frame
		var l roce.LLDP
		if err := frame.Decode(f.Bytes); err != nil {
			t.Fatal(err)
		}
		if err := l.Decode(frame.LLDP); err != nil {
			t.Fatal(err)
		}
		page.Tell(f.At, "%s sends LLDP of %d bytes, valid for %d s", l.SystemName, len(f.Bytes), l.TTL)
		for _, part := range parts(&l) {
			page.Tell(f.At, "    %s", part)
		}
		last = f.At
	}
	if r.Version == dcbx.None {
		page.Tell(last, "no form of DCBX is spoken by both")
	} else {
		page.Tell(last, "both speak %v", r.Version)
	}
	for _, end := range []struct {
		s    *dcbx.Station
		oper uint8
		why  string
	}{{&r.A, r.OperA, r.WhyA}, {&r.B, r.OperB, r.WhyB}} {
		page.Tell(last, "%s pauses priorities: %s (%s)", end.s.System, swconf.Priorities(end.oper), end.why)
	}
	for _, p := range r.Problems {
		page.Tell(last, "problem: %s", p)
	}
	page.Check(t, name)
}

// parts spells out the DCBX parts of a frame.
func parts(l *roce.LLDP) (said []string) {
	willing := map[bool]string{false: "not willing", true: "willing"}
	if l.Has&roce.HasETS != 0 {
		said = append(said, fmt.Sprintf("ETS configuration, %s: shares by class %v",
			willing[l.ETS.Willing], l.ETS.Percent))
	}
	if l.Has&roce.HasRecommendation != 0 {
		said = append(said, fmt.Sprintf("ETS recommendation: shares by class %v", l.Recommended.Percent))
	}
	if l.Has&roce.HasPFC != 0 {
		said = append(said, fmt.Sprintf("PFC configuration, %s: priorities %s, %d at once",
			willing[l.PFC.Willing], swconf.Priorities(l.PFC.Enable), l.PFC.Cap))
	}
	for _, a := range l.Apps {
		said = append(said, fmt.Sprintf("application %s %d: priority %d",
			map[uint8]string{3: "UDP port", 5: "DSCP"}[a.Sel], a.Protocol, a.Priority))
	}
	if c := &l.CEE; l.Has&roce.HasCEE != 0 {
		said = append(said, fmt.Sprintf("CEE control: sequence %d, acknowledges %d", c.Seq, c.Ack))
		bad := map[bool]string{true: ", in error"}[c.PFCFlags&0x20 != 0]
		said = append(said, fmt.Sprintf("CEE PFC, %s%s: priorities %s",
			willing[c.PFCFlags&0x40 != 0], bad, swconf.Priorities(c.PFCEnable)))
	}
	return said
}

func TestStories(t *testing.T) {
	nic := func(change func(*dcbx.Station)) dcbx.Station {
		s := dcbx.NIC("host-1", "eth0", 1, true, 0)
		if change != nil {
			change(&s)
		}
		return s
	}
	t.Run("willing-nic", func(t *testing.T) {
		tell(t, "willing-nic", `
			A willing NIC learns from its switch.
			The NIC comes without PFC and says that it will do as it is told.
			The switch is not willing: it tells.
			A second later the NIC announces what it does now (802.1Q 38.4.2, symmetric parameters).`,
			leaf(nil), nic(nil))
	})
	t.Run("stubborn-nic", func(t *testing.T) {
		tell(t, "stubborn-nic", `
			Neither end is willing, and they differ.
			Each does as it is configured: the switch pauses priority 3, the NIC priority 4, and when the
			switch asks the NIC to stop RoCE's priority 3 it goes on. IEEE DCBX says
			nothing about it; the comparison does.`,
			leaf(nil), nic(func(s *dcbx.Station) { s.Willing, s.Enable = false, 1<<4 }))
	})
	t.Run("cee-not-compatible", func(t *testing.T) {
		tell(t, "cee-not-compatible", `
			CEE, DCBX 1.01: neither end is willing, and they differ.
			CEE compares, finds the feature not compatible, sets the error bit, and turns PFC
			off on both (3.1.4).`,
			leaf(func(s *dcbx.Station) { s.Version = dcbx.CEE }),
			nic(func(s *dcbx.Station) { s.Version, s.Willing, s.Enable = dcbx.CEE, false, 1<<4 }))
	})
	t.Run("auto-falls-back-to-cee", func(t *testing.T) {
		tell(t, "auto-falls-back-to-cee", `
			A switch that speaks CEE only, and a NIC that would rather speak IEEE.
			The NIC has heard the switch before it says anything itself, and speaks as the switch does.`,
			leaf(func(s *dcbx.Station) { s.Version = dcbx.CEE }), nic(nil))
	})
	t.Run("ieee-against-cee", func(t *testing.T) {
		tell(t, "ieee-against-cee", `
			Two ends that were each set to one form of DCBX, and not to the same.
			Both send LLDP, neither understands the other, and PFC that is negotiated stays off.`,
			leaf(nil), nic(func(s *dcbx.Station) { s.Version, s.Willing, s.Enable = dcbx.CEE, false, 1<<3 }))
	})
}
