package nxos

import (
	"fmt"
	"slices"
	"testing"
)

// TestDLBOfModels: DLB is on FX3, GX, GX2 and HX of Cloud Scale from 10.5(1)F on, on Silicon One's SG2 from
// 10.5(3)F on, and on ports of layer 3 (seed, chapter 12; Cisco's QoS configuration guide, 10.6(x)). A model or a
// release that the text does not name is no finding.
func TestDLBOfModels(t *testing.T) {
	with := []string{"", "N9K-C93180YC-FX3", "N9K-C93108TC-FX3P", "N9K-C93108TC-FX3H", "N9K-C9348GC-FX3",
		"N9K-C93180YC-FX3S", "N9K-C9316D-GX", "N9K-C93600CD-GX", "N9K-C9364C-GX", "N9K-C9332D-GX2B", "N9K-C9348D-GX2A", "N9K-C9364D-GX2A",
		"N9K-C9408", "N9K-C9332D-H2R", "N9K-C93400LD-H1", "N9K-C9364E-SG2", "N9K-C9364E-SG2-Q", "N9K-C9508"}
	without := []string{"N9K-C93180YC-EX", "N9K-C93180YC-FX", "N9K-C93240YC-FX2", "N9K-C9336C-FX2", "N9K-C9336C-FX2-E",
		"N9K-C9364C", "N9K-C9332C", "N9K-C93180LC-EX", "N9K-C9372PX"}
	for _, model := range slices.Concat(with, without) {
		for release, old := range map[string]bool{"": false, "9.3(10)": true, "10.2(3)": true, "10.4(6)M": true,
			"10.5(1)": false, "10.5(2)F": false, "10.5(3)F": false, "10.6(1)F": false, "11.1(1)": false} {
			for port, layer2 := range map[string]bool{"  no switchport\n  ip address 10.0.0.1/31\n": false,
				"  switchport\n": true, "  switchport\n  switchport mode trunk\n": true,
				"  ip address 10.0.0.1/31\n": false} {
				text := "hostname leaf-1\n"
				if release != "" {
					text = "version " + release + "\n" + text
				}
				if model != "" {
					text = "!Chassis " + model + "\n" + text
				}
				text += "hardware profile dlb\n  dlb-interface Ethernet1/1\n  mode flowlet\n" +
					"interface Ethernet1/1\n" + port
				c, err := Parse("leaf.cfg", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				if layer2 {
					want = append(want, "dlb-layer2")
				}
				if slices.Contains(without, model) {
					want = append(want, "dlb-platform")
				}
				if late := model == "N9K-C9364E-SG2" || model == "N9K-C9364E-SG2-Q"; old ||
					late && (release == "10.5(1)" || release == "10.5(2)F") {
					want = append(want, "dlb-release")
				}
				var got []string
				for _, f := range c.Faults {
					got = append(got, f.Rule)
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s %s %s: %v, want %v", model, release, fmt.Sprintf("%q", port), got, want)
				}
			}
		}
	}
}

// TestDLBOfAll: DLB on all ports of layer 3 is none if each port is a switchport.
func TestDLBOfAll(t *testing.T) {
	const routed, switched = "  no switchport\n", "  switchport\n"
	for _, c := range []struct {
		ports []string
		found bool
	}{
		{nil, false},
		{[]string{routed, switched}, false},
		{[]string{switched, ""}, false},
		{[]string{switched, switched}, true},
	} {
		text := "hardware profile dlb\n  dlb-interface all\n"
		for i, port := range c.ports {
			text += fmt.Sprintf("interface Ethernet1/%d\n%s", i+1, port)
		}
		l, err := Parse("leaf.cfg", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if found := len(l.Faults) == 1 && l.Faults[0].Rule == "dlb-layer2"; found != c.found || len(l.Faults) > 1 {
			t.Errorf("%q: %v", c.ports, l.Faults)
		}
	}
}
