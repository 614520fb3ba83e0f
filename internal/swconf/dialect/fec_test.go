package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// codedPorts are texts of one switch with one port, its cable's far end in the description, and the position of the
// port's lines. They contain each language's form of FEC and autonegotiation.
var codedPorts = []struct {
	os                       swconf.OS
	text                     string
	rs, fc, none, auto       string
	negotiates, negotiatesNo string
}{
	{swconf.NXOS, "hostname %s\nfeature lldp\ninterface Ethernet1/1\n  description to %s Ethernet1/1\n%s",
		"fec rs-cons16", "fec fc-fec", "fec off", "fec auto", "negotiate auto", "no negotiate auto"},
	{swconf.EOS, "hostname %s\ninterface Ethernet1\n   description to %s Ethernet1\n%s",
		"error-correction encoding reed-solomon", "error-correction encoding fire-code",
		"no error-correction encoding",
		"error-correction encoding reed-solomon\n   error-correction encoding fire-code",
		"speed auto 100gfull", "speed forced 100gfull"},
	{swconf.SONiC, `{"DEVICE_METADATA": {"localhost": {"hostname": "%s"}}, "PORT": {"Ethernet0": ` +
		`{"lanes": "0", "admin_status": "up", "description": "to %s Ethernet0", %s}}}`,
		`"fec": "rs"`, `"fec": "fc"`, `"fec": "none"`, `"fec": "auto"`,
		`"autoneg": "on"`, `"autoneg": "off"`},
	{swconf.NVUE, "nv set system hostname %s\nnv set interface swp1 description 'to %s swp1'\n%s\n",
		"nv set interface swp1 link fec rs", "nv set interface swp1 link fec baser",
		"nv set interface swp1 link fec off", "nv set interface swp1 link fec auto",
		"nv set interface swp1 link auto-negotiate on", "nv set interface swp1 link auto-negotiate off"},
	{swconf.Dell, "hostname %s\ninterface Ethernet 0\n description \"to %s Ethernet0\"\n%s\n",
		" fec RS", " fec FC", " fec NONE", " fec AUTO", " autoneg on", " autoneg off"},
	{swconf.Junos, "set system host-name %s\n" +
		"set interfaces et-0/0/0 description \"to %s et-0/0/0\"\n%s\n",
		"set interfaces et-0/0/0 ether-options fec fec91",
		"set interfaces et-0/0/0 ether-options fec fec74",
		"set interfaces et-0/0/0 ether-options fec none", "set interfaces et-0/0/0 mtu 9216",
		"set interfaces et-0/0/0 ether-options auto-negotiation",
		"set interfaces et-0/0/0 ether-options no-auto-negotiation"},
}

// TestFECOfFastPorts checks that ports of 400 Gbit/s and more need RS-FEC, whether or not a cable is known.
func TestFECOfFastPorts(t *testing.T) {
	for _, x := range []struct {
		speed, fec string
		want       int
	}{{"800000", "none", 1}, {"400000", "fc", 1}, {"200000", "none", 0}, {"400000", "rs", 0}, {"400000", "auto", 0}, {"100000", "none", 0}} {
		text := fmt.Sprintf(`{"DEVICE_METADATA": {"localhost": {"hostname": "leaf"}}, "PORT": {"Ethernet0": `+
			`{"lanes": "0", "admin_status": "up", "speed": "%s", "fec": "%s"}}}`, x.speed, x.fec)
		c, err := dialect.Parse("leaf", []byte(text), swconf.SONiC)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 24, CNPDSCP: 48}) {
			if f.Rule == "fec-differs" {
				n++
			}
		}
		if n != x.want {
			t.Errorf("FEC %s at %s: %d findings, want %d", x.fec, x.speed, n, x.want)
		}
	}
}

// TestCodesOfCables: a cable whose ends have different codes is an error in every language that sets codes. A cable
// with an unset end, or one left to the transceiver, is no error.
func TestCodesOfCables(t *testing.T) {
	for _, x := range codedPorts {
		found := func(a, b string) (rules []string) {
			var cs []*swconf.Config
			for i, line := range []string{a, b} {
				names := []string{"leaf-1", "spine-1"}
				text := fmt.Sprintf(x.text, names[i], names[1-i], line)
				c, err := dialect.Parse(names[i], []byte(text), x.os)
				if err != nil {
					t.Fatal(x.os, err)
				}
				for _, u := range c.Unknown {
					t.Errorf("%s: %q is not understood: %s", x.os, u.Text, u.Why)
				}
				for _, f := range c.Faults {
					t.Errorf("%s: %s", x.os, f.Message)
				}
				cs = append(cs, c)
			}
			for _, f := range swconf.Lint(swconf.Input{Configs: cs, DataDSCP: 24, CNPDSCP: 48,
				PathMTU: 4096}) {
				if f.Rule == "fec-differs" || f.Rule == "autoneg-differs" {
					if f.Line == 0 || !strings.Contains(f.Message, "spine-1") {
						t.Errorf("%s: %+v", x.os, f)
					}
					rules = append(rules, f.Rule+" "+string(f.Severity))
				}
			}
			return rules
		}
		codes := []string{x.rs, x.fc, x.none}
		for i, a := range codes {
			for j, b := range codes {
				want := "[fec-differs error]"
				if i == j {
					want = "[]"
				}
				if got := fmt.Sprint(found(a, b)); got != want {
					t.Errorf("%s: %q against %q: %s, want %s", x.os, a, b, got, want)
				}
			}
			for _, pair := range [][2]string{{a, x.auto}, {x.auto, a}, {a, x.negotiates}} {
				if got := found(pair[0], pair[1]); len(got) > 0 {
					t.Errorf("%s: %q: %v", x.os, pair, got)
				}
			}
		}
		if got := fmt.Sprint(found(x.negotiates, x.negotiatesNo)); got != "[autoneg-differs warning]" {
			t.Errorf("%s: one end negotiates: %s", x.os, got)
		}
		if got := found(x.negotiatesNo, x.negotiatesNo); len(got) > 0 {
			t.Errorf("%s: neither end negotiates: %v", x.os, got)
		}
	}
}
