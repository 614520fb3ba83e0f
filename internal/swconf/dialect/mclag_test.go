package dialect_test

import (
	"fmt"
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
set interfaces ae1 aggregated-ether-options mc-ae mc-ae-id 1
set interfaces ae1 aggregated-ether-options mc-ae redundancy-group 1
set interfaces ae1 aggregated-ether-options mc-ae chassis-id %[1]d
set interfaces ae1 aggregated-ether-options mc-ae mode active-active
set interfaces ae1 aggregated-ether-options mc-ae status-control %[3]s
set interfaces ae1 unit 0 family ethernet-switching vlan members 101
`, n, 1-n, status)
}

// TestMCLAG changes one line of the second switch of a Junos pair: the pair as it is has no finding of the rule, and
// each change has one, at the line of a switch.
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
		{"10.1.0.0 interface ae0", "10.1.0.0 interface et-0/0/31", ""}, // no statement of its own
	} {
		text := strings.Replace(mclag(1), c.old, c.new, 1)
		var cs []*swconf.Config
		for i, text := range []string{mclag(0), text} {
			one, err := dialect.Parse(fmt.Sprintf("leaf-%d.cfg", i), []byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, one)
		}
		found := ""
		for _, f := range lint(nil, cs) {
			if f.Rule == "mlag" && f.Line > 0 && strings.HasPrefix(f.File, "leaf-") {
				found += f.Message + "\n"
			}
		}
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%q: %q, want %q", c.new, found, c.want)
		}
	}
}
