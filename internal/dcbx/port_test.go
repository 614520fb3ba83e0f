package dcbx_test

import (
	"slices"
	"testing"

	"railyard/internal/dcbx"
	"railyard/internal/swconf"
	"railyard/roce"

	"pgregory.net/rapid"
)

var here = swconf.Place{File: "leaf.cfg", Line: 1, Col: 1}

// port is a port that pauses priority 3. DSCP 26 maps to that priority, and CNPs use DSCP 48 and queue 6.
func port(dcbx string) *swconf.Port {
	q := &swconf.QoS{}
	q.DSCP[26], q.DSCP[48] = swconf.Say(uint8(3), here), swconf.Say(uint8(6), here)
	q.Queues[3].Pause, q.Queues[3].Share = swconf.Say(3, here), swconf.Say(60, here)
	q.Queues[6].Strict = swconf.Say(true, here)
	p := &swconf.Port{Name: "Ethernet1/1", Number: 1, PFC: swconf.Say(swconf.PFCAuto, here), QoS: q}
	if dcbx != "" {
		p.DCBX = swconf.Say(dcbx, here)
	}
	return p
}

// TestFromPortSpeaks checks the DCBX version of a port by its language and its text. LLDP daemons of SONiC and FRR
// carry no DCBX, EOS needs a command, and a Nexus follows its neighbour.
func TestFromPortSpeaks(t *testing.T) {
	for _, c := range []struct {
		os   swconf.OS
		says string
		want dcbx.Version
	}{
		{swconf.NXOS, "", dcbx.Auto}, {swconf.NXOS, "ieee", dcbx.IEEE}, {swconf.NXOS, "cee", dcbx.CEE},
		{swconf.NXOS, "auto", dcbx.Auto}, {swconf.NXOS, "none", dcbx.None},
		{swconf.EOS, "", dcbx.None}, {swconf.EOS, "ieee", dcbx.IEEE}, {swconf.EOS, "cee", dcbx.CEE},
		{swconf.SONiC, "", dcbx.None}, {swconf.SONiC, "ieee", dcbx.None}, {swconf.FRR, "", dcbx.None},
	} {
		s := dcbx.FromPort(&swconf.Config{OS: c.os}, port(c.says), 26, 48, 1)
		if s.Version != c.want {
			t.Errorf("%s with %q speaks %v, want %v", c.os, c.says, s.Version, c.want)
		}
		if s.Willing {
			t.Errorf("%s: a switch is willing", c.os)
		}
	}
}

// A port announces what its configuration does with packets. It lists priorities that pause unless PFC is off, and
// applications by UDP port and DSCP if DSCPs are classified. Without policies it announces nothing.
func TestFromPortAnnounces(t *testing.T) {
	c := &swconf.Config{OS: swconf.NXOS, LLDP: swconf.Say(true, here),
		Hostname: swconf.Say("leaf-1", here)}
	s := dcbx.FromPort(c, port(""), 26, 48, 7)
	want := []roce.AppPriority{{Priority: 3, Sel: 3, Protocol: roce.Port},
		{Priority: 3, Sel: 5, Protocol: 26},
		{Priority: 6, Sel: 5, Protocol: 48}}
	if s.Name != "leaf-1 Ethernet1/1" || !s.LLDP || s.Enable != 1<<3 || !slices.Equal(s.Apps, want) {
		t.Errorf("%+v", s)
	}
	if other := dcbx.FromPort(c, port(""), 26, 48, 8); other.MAC == s.MAC || s.MAC[0]&3 != 2 {
		t.Errorf("MAC addresses %v and %v: alike, or not locally administered", s.MAC, other.MAC)
	}
	if s := dcbx.FromPort(c, port(""), 10, 48, 1); len(s.Apps) != 1 || s.Apps[0].Priority != 6 {
		t.Errorf("DSCP 10 is not classified: %v", s.Apps)
	}
	off := port("")
	off.PFC = swconf.Say(swconf.PFCOff, here)
	if s := dcbx.FromPort(c, off, 26, 48, 1); s.Enable != 0 || s.Mode != swconf.PFCOff {
		t.Errorf("PFC off: %08b, %v", s.Enable, s.Mode)
	}
	quiet := port("")
	quiet.LLDPOff = swconf.Say(true, here)
	if s := dcbx.FromPort(c, quiet, 26, 48, 1); s.LLDP {
		t.Error("LLDP is off at the port")
	}
	bare := port("")
	bare.QoS = nil
	if s := dcbx.FromPort(c, bare, 26, 48, 1); s.Enable != 0 || s.Apps != nil {
		t.Errorf("without policies: %+v", s)
	}
}

// Shares of ETS add up to 100 for any shares of queues in the text (802.1Q 38.5.4.4). Strict queues have no share,
// and each priority is in the class of its queue.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := port("")
		for i := range p.QoS.Queues {
			k := &p.QoS.Queues[i]
			k.Share = swconf.Say(rapid.IntRange(-5, 120).Draw(t, "share"), here)
			k.Strict = swconf.Say(rapid.Bool().Draw(t, "strict"), here)
		}
		e := dcbx.FromPort(&swconf.Config{OS: swconf.EOS}, p, 26, 48, 1).ETS
		sum := 0
		for i := range e.Percent {
			sum += int(e.Percent[i])
			if strict := p.QoS.Queues[i].Strict.V; int(e.Class[i]) != i || (e.Selection[i] == 0) != strict ||
				i > 0 && strict && e.Percent[i] != 0 {
				t.Fatalf("queue %d, strict %v: class %d, selection %d, %d %%", i, strict, e.Class[i],
					e.Selection[i], e.Percent[i])
			}
		}
		if sum != 100 {
			t.Fatalf("%d %%", sum)
		}
	})
}

// A willing server takes the values of its switch, and another server keeps its own. The result has the PFC of both
// ends.
func TestNIC(t *testing.T) {
	c := &swconf.Config{OS: swconf.NXOS, LLDP: swconf.Say(true, here)}
	leaf := dcbx.FromPort(c, port(""), 26, 48, 1)
	for _, x := range []struct {
		willing bool
		enable  uint8
		oper    uint8
		ok      bool
	}{{true, 0, 8, true}, {true, 1 << 5, 8, true}, {false, 8, 8, true}, {false, 1 << 5, 1 << 5, false}} {
		r := dcbx.Exchange(leaf, dcbx.NIC("host-1", "nic1", 1, x.willing, x.enable))
		if r.OperA != 8 || r.OperB != x.oper || r.OK() != x.ok {
			t.Errorf("%+v: %08b and %08b, %q", x, r.OperA, r.OperB, r.Problems)
		}
	}
}
