package swconf

import (
	"net/netip"
	"strings"
	"testing"

	"railyard/unit"
)

// facing returns two switches of these languages, a cable between them and an MTU at each end.
func facing(os, far OS, mtu, theirs unit.Bytes) []*Config {
	a, b := leaf(), leaf()
	a.OS, a.File, a.Hostname.V, b.OS, b.File, b.Hostname.V = os, "a.cfg", "a", far, "b.cfg", "b"
	for _, c := range []*Config{a, b} {
		c.Ports[0].MTU.At.File = c.File
	}
	a.Ports[0].Desc, b.Ports[0].Desc = Say("to b Ethernet1", at(80)), Say("to a Ethernet1", at(80))
	a.Ports[0].MTU.V, b.Ports[0].MTU.V = mtu, theirs
	return []*Config{a, b}
}

// MTUs of two languages are compared by the accepted packets: EOS and NX-OS exclude the Ethernet header, and Junos
// includes it. A difference that affects no frame of RoCE is a note. A remedy is in the language and within the
// limit of its port, and applying it leaves no finding.
func TestMTUOfTwoLanguages(t *testing.T) {
	for _, x := range []struct {
		os, far     OS
		mtu, theirs unit.Bytes
		want        Severity
		file, fix   string
	}{
		{EOS, NXOS, 9214, 9214, "", "", ""},
		{EOS, NXOS, 9214, 9216, Info, "a.cfg", "mtu 9214 at the neighbour"},
		{EOS, NXOS, 9000, 9216, Info, "a.cfg", "mtu 9214"},
		{EOS, NXOS, 9214, 1500, Error, "b.cfg", "mtu 9214"},
		{NXOS, EOS, 9216, 1500, Error, "b.cfg", "mtu 9214"},
		{NXOS, EOS, 4159, 4160, Error, "a.cfg", "mtu 4160"},
		{NXOS, EOS, 4160, 4161, Info, "a.cfg", "mtu 4161"},
		{NXOS, NXOS, 2000, 1500, Error, "b.cfg", "mtu 9216"},
		{Junos, NXOS, 9214, 9200, "", "", ""},
		{Junos, NXOS, 9216, 9216, Info, "a.cfg", "mtu 9202 at the neighbour"},
		{Junos, NXOS, 4000, 9200, Error, "a.cfg", "mtu 9214"},
		{Junos, NXOS, 4173, 9200, Error, "a.cfg", "mtu 9214"},
		{Junos, NXOS, 4174, 9200, Info, "a.cfg", "mtu 9214"},
		{NXOS, Junos, 1500, 9200, Error, "a.cfg", "mtu 9186"},
		{SONiC, NXOS, 1500, 9200, Error, "a.cfg", `"mtu": "9200" in the port's row of PORT`},
	} {
		var got Finding
		for _, f := range linted(facing(x.os, x.far, x.mtu, x.theirs)...) {
			switch f.Rule {
			case "mtu-differs":
				got = f
			case "mtu-small":
				if f.File == x.file && f.Fix != x.fix {
					t.Errorf("%s %d, %s %d: %s: %s, want %s", x.os, x.mtu, x.far, x.theirs, f.Rule, f.Fix, x.fix)
				}
			}
		}
		if got.Severity != x.want || got.File != x.file || got.Fix != x.fix {
			t.Errorf("%s %d, %s %d: %s of %s: %s, want %s of %s: %s", x.os, x.mtu, x.far, x.theirs, got.Severity, got.File,
				got.Fix, x.want, x.file, x.fix)
		}
	}
}

// A routed port, or one as fast as a port with RoCE, is checked in all languages, also without classes of its own.
// Other ports and those without an MTU of their own are not.
func TestMTUOfRoutedPort(t *testing.T) {
	addr := []Said[netip.Prefix]{Say(netip.MustParsePrefix("10.1.0.1/31"), at(91))}
	for _, os := range []OS{NXOS, EOS, Junos, SONiC} {
		for _, x := range []struct {
			port Port
			want bool
		}{
			{Port{MTU: Say(unit.Bytes(1500), at(92)), Addrs: addr, QoS: &QoS{}}, true},
			{Port{MTU: Say(unit.Bytes(1500), at(92)), Speed: Say(800*unit.Gbps, at(93))}, true},
			{Port{MTU: Say(unit.Bytes(9216), at(92)), Addrs: addr, QoS: &QoS{}}, false},
			{Port{MTU: Say(unit.Bytes(1500), at(92)), Speed: Say(10*unit.Gbps, at(93))}, false},
			{Port{MTU: Say(unit.Bytes(1500), at(92)), Addrs: addr, Down: Say(true, at(93))}, false},
			{Port{Addrs: addr, QoS: &QoS{}}, false},
		} {
			c := leaf()
			c.OS, c.Ports[0].Speed = os, Say(800*unit.Gbps, at(89))
			p := x.port
			p.Name, p.At = "Ethernet99", at(90)
			c.Ports = append(c.Ports, &p)
			got := false
			for _, f := range linted(c) {
				got = got || f.Rule == "mtu-small" && strings.HasPrefix(f.Message, "Ethernet99 ")
			}
			if got != x.want {
				t.Errorf("%s %+v: %v, want %v", os, x.port, got, x.want)
			}
		}
	}
}
