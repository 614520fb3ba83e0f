package dialect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// mclag is one switch of a Junos pair: n is 0 or 1.
func mclag(n int) string {
	status := [2]string{"active", "standby"}[n]
	return fmt.Sprintf(`set system host-name leaf-%[1]d
set protocols iccp local-ip-addr 10.1.0.%[1]d
set protocols iccp peer 10.1.0.%[2]d redundancy-group-id-list 1
set multi-chassis multi-chassis-protection 10.1.0.%[2]d interface ae0
set switch-options service-id 5
set interfaces et-0/0/30 ether-options 802.3ad ae0
set interfaces et-0/0/0 ether-options 802.3ad ae1
set interfaces ae0 unit 0 family ethernet-switching interface-mode trunk
set interfaces ae1 aggregated-ether-options lacp active
set interfaces ae1 aggregated-ether-options lacp system-id 02:00:00:01:00:01
set interfaces ae1 aggregated-ether-options lacp admin-key 1
set interfaces ae1 aggregated-ether-options mc-ae mc-ae-id 1
set interfaces ae1 aggregated-ether-options mc-ae redundancy-group 1
set interfaces ae1 aggregated-ether-options mc-ae chassis-id %[1]d
set interfaces ae1 aggregated-ether-options mc-ae mode active-active
set interfaces ae1 aggregated-ether-options mc-ae status-control %[3]s
set interfaces ae1 unit 0 family ethernet-switching vlan members 101
set interfaces irb unit 4094 family inet address 10.1.0.%[1]d/30
set interfaces irb unit 101 family inet address 10.2.0.%[1]d/24 vrrp-group 1 virtual-address 10.2.0.9
`, n, 1-n, status)
}

// TestMCLAG changes one line of the second switch of a Junos pair. The unchanged pair has no finding of the rule,
// and each change has one, at the line of a switch.
func TestMCLAG(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"service-id 5", "service-id 6", "service-id of leaf-0 is 5, and that of its peer leaf-1 is 6"},
		{"set switch-options service-id 5\n", "", "has no switch-options service-id"},
		{"chassis-id 1", "chassis-id 0", "leaf-0 and its peer leaf-1 have chassis-id 0"},
		{"status-control standby", "status-control active", "have the same status-control"},
		{"set protocols iccp peer 10.1.0.0 redundancy-group-id-list 1\n", "", "has no iccp peer"},
		{"iccp peer 10.1.0.0", "iccp peer 10.1.0.9", "leaf-1 names 10.1.0.9 as its peer"},
		{"mc-ae-id 1", "mc-ae-id 2", "MLAG 1 (ae1) of leaf-0 has no counterpart on leaf-1"},
		{"et-0/0/30 ether-options 802.3ad ae0", "et-0/0/30 mtu 9216", "the peer link ae0 of leaf-1 has no member"},
		{"redundancy-group 1", "redundancy-group 3", "redundancy group 3 of ae1 is not among those"},
		{"set interfaces ae1 aggregated-ether-options lacp system-id 02:00:00:01:00:01\n", "",
			"has no LACP system ID"},
		{"system-id 02:00:00:01:00:01", "system-id 2:0:0:1:0:2",
			"MLAG 1 has the LACP system ID 02:00:00:01:00:01 on leaf-0, and 02:00:00:01:00:02 on leaf-1"},
		{"system-id 02:00:00:01:00:01", "system-id 2:0:0:1:0:1", ""},
		{"mode active-active", "mode active-standby", "MLAG 1 has the mc-ae mode active-active on leaf-0, and active-standby"},
		{"admin-key 1", "admin-key 2", "MLAG 1 has the LACP admin key 1 on leaf-0, and 2 on leaf-1"},
		{"set interfaces ae1 aggregated-ether-options lacp admin-key 1\n", "", ""},
		{"vlan members 101", "vlan members 102", "MLAG 1 has the access VLAN 101 on leaf-0, and 102 on leaf-1"},
		{"virtual-address 10.2.0.9", "virtual-address 10.2.0.8",
			"VRRP group 1 of irb.101 is 10.2.0.9 on leaf-0, and 10.2.0.8 on leaf-1"},
		{"address 10.1.0.1/30", "address 10.1.0.2/30", "iccp local-ip-addr 10.1.0.1 is the address of no interface"},
		{"irb unit 4094 family", "lo0 unit 0 family", ""},
		{"irb unit 4094 family", "et-0/0/9 unit 0 family", ""},
		{"10.1.0.0 interface ae0", "10.1.0.0 interface et-0/0/31", ""}, // no separate statement
	} {
		found := second(t, mclag, c.old, c.new, "mlag")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%q: %q, want %q", c.new, found, c.want)
		}
	}
}

// segment is one of the switches that share Ethernet segments: n is 0 or 1.
func segment(n int) string {
	return fmt.Sprintf(`set system host-name leaf-%[1]d
set switch-options vtep-source-interface lo0.0
set switch-options vrf-target target:1:1
set protocols evpn encapsulation vxlan
set protocols evpn vni-options vni 10101 vrf-target target:101:101
set vlans rail vlan-id 101
set vlans rail vxlan vni 10101
set interfaces et-0/0/0 ether-options 802.3ad ae1
set interfaces ae1 esi 00:02:00:00:01:00:01:00:00:00
set interfaces ae1 esi all-active
set interfaces ae1 aggregated-ether-options lacp active
set interfaces ae1 aggregated-ether-options lacp system-id 02:00:00:01:00:01
set interfaces ae1 unit 0 family ethernet-switching vlan members rail
set interfaces irb unit 101 family inet address 10.2.0.%[1]d/24 virtual-gateway-address 10.2.0.9
`, n)
}

// TestSegments changes the second of two switches that share an Ethernet segment, and finds the differences.
func TestSegments(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{"esi all-active", "esi single-active", "has the redundancy mode all-active on leaf-0, and single-active on leaf-1"},
		{"02:00:00:01:00:01\n", "02:00:00:01:00:02\n",
			"Ethernet segment 00:02:00:00:01:00:01:00:00:00 has the LACP system ID 02:00:00:01:00:01 on leaf-0"},
		{"vlan-id 101", "vlan-id 102", "has the access VLAN 101 on leaf-0, and 102 on leaf-1"},
		{"vxlan vni 10101", "vxlan vni 10102", "VNI of VLAN 101 is 10101 on leaf-0, and 10102 on leaf-1"},
		{"vrf-target target:1:1", "vrf-target target:1:2", "switch-options vrf-target is target:1:1 on leaf-0"},
		{"target:101:101", "target:101:102", "vrf-target of VNI 10101 is target:101:101 on leaf-0"},
		{"gateway-address 10.2.0.9", "gateway-address 10.2.0.8", "virtual gateway of irb.101 is 10.2.0.9 on leaf-0"},
		{"esi 00:02:00:00:01:00:01", "esi 00:02:00:00:01:00:02", ""}, // another segment: another host's
		{"set switch-options vrf-target target:1:1\n", "", ""},       // taken from elsewhere
		{"set vlans rail vxlan", "set vlans other vlan-id 101\nset vlans rail vxlan",
			"VLAN other has the ID of rail (line 6)"},
	} {
		found := second(t, segment, c.old, c.new, "evpn-pair", "duplicate-definition")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%q: %q, want %q", c.new, found, c.want)
		}
	}
}

// second returns the rules' findings on two switches after a change of one line of the second.
func second(t *testing.T, text func(int) string, old, new string, rules ...string) (found string) {
	var cs []*swconf.Config
	for i, text := range []string{text(0), strings.Replace(text(1), old, new, 1)} {
		one, err := dialect.Parse(fmt.Sprintf("leaf-%d.cfg", i), []byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, one)
	}
	for _, f := range lint(nil, cs) {
		if slices.Contains(rules, f.Rule) && f.Line > 0 && strings.HasPrefix(f.File, "leaf-") {
			found += f.Message + "\n"
		}
	}
	return found
}
