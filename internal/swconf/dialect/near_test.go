package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// edges is, for each rule, a change of a correct fabric that breaks it, and one that comes as near as possible
// without breaking it: the last correct value, the same line where it is irrelevant, another form of the same
// setting. A change is a list of old and new texts in one switch's file, applied at every occurrence.
var edges = []struct {
	rule      string
	os        swconf.OS
	file      string
	bad, good []string
}{
	{"threshold-order", "nxos", leaf, []string{"maximum-threshold 3000 kbytes",
		"maximum-threshold 3500 kbytes"},
		[]string{"maximum-threshold 3000 kbytes", "maximum-threshold 3499 kbytes"}},
	{"threshold-order", "nxos", leaf, []string{"resume-threshold 100000", "resume-threshold 150000"},
		[]string{"resume-threshold 100000", "resume-threshold 149999"}},
	{"threshold-order", "nxos", leaf, []string{"minimum-threshold 150 kbytes",
		"minimum-threshold 3001 kbytes"},
		[]string{"minimum-threshold 150 kbytes", "minimum-threshold 3000 kbytes"}},
	{"threshold-buffer", "nxos", leaf, []string{"pause buffer-size 3600644", "pause buffer-size 67108865"},
		[]string{"pause buffer-size 3600644", "pause buffer-size 67108864"}},
	{"buffer-sum", "nxos", leaf, []string{"pause buffer-size 3600644 pause-threshold 3500000",
		"pause buffer-size 40100644 pause-threshold 40000000"},
		[]string{"pause buffer-size 3600644 pause-threshold 3500000", "pause buffer-size 15100644 pause-threshold 15000000"}},
	{"headroom", "nxos", leaf, []string{"pause buffer-size 3600644", "pause buffer-size 3600643"},
		[]string{"pause buffer-size 3600644", "pause buffer-size 3600645"}},
	{"ecn-missing", "nxos", leaf, []string{"weight 0 ecn", "weight 0"},
		[]string{"percent 50\npolicy-map", "percent 50\n    random-detect minimum-threshold 1 kbytes " +
			"maximum-threshold 2 kbytes drop-probability 7 weight 0\npolicy-map"}},
	{"ecn-differs", "nxos", leaf, []string{"minimum-threshold 150 kbytes", "minimum-threshold 158 kbytes"},
		[]string{"minimum-threshold 150 kbytes", "minimum-threshold 157 kbytes"}},
	{"ecn-range", "nxos", leaf, []string{"minimum-threshold 150 kbytes", "minimum-threshold 16711 bytes"},
		[]string{"minimum-threshold 150 kbytes", "minimum-threshold 16712 bytes"}},
	{"ecn-never", "nxos", leaf, []string{"drop-probability 7", "drop-probability 0"},
		[]string{"drop-probability 7", "drop-probability 1"}},
	{"wred-average", "nxos", leaf, []string{"weight 0 ecn", "weight 1 ecn"},
		[]string{"percent 50\npolicy-map", "percent 50\n    random-detect minimum-threshold 1 kbytes " +
			"maximum-threshold 2 kbytes drop-probability 7 weight 9 ecn\npolicy-map"}},
	{"pfc-class", "nxos", leaf, []string{"    pause pfc-cos 3\n", "    pause pfc-cos 4\n"},
		[]string{"  class type network-qos c-8q-nq-default\n",
			"  class type network-qos c-8q-nq4\n    mtu 9216\n" +
				"  class type network-qos c-8q-nq-default\n"}},
	{"pfc-interface", "nxos", leaf, []string{"priority-flow-control mode auto",
		"priority-flow-control mode off"},
		[]string{"priority-flow-control mode auto", "priority-flow-control mode off\n  shutdown",
			"  no shutdown\n", ""}},
	{"pfc-one-end", "nxos", spine, []string{"priority-flow-control mode auto",
		"priority-flow-control mode off"},
		[]string{"priority-flow-control mode auto", "priority-flow-control mode on"}},
	{"pfc-mode-differs", "nxos", spine,
		[]string{"priority-flow-control mode auto", "priority-flow-control mode on"},
		[]string{"priority-flow-control mode auto", "priority-flow-control mode off"}},
	{"pfc-all-classes", "nxos", leaf, pausing("1", "2", "4"), pausing("1", "2")},
	{"pfc-priority-shared", "nxos", leaf,
		[]string{"  class type network-qos c-8q-nq-default\n", "  class type network-qos c-8q-nq4\n" +
			"    pause pfc-cos 3\n  class type network-qos c-8q-nq-default\n"}, pausing("4")},
	{"cnp-not-strict", "nxos", leaf, []string{"priority level 1", "bandwidth remaining percent 0"},
		[]string{"priority level 1", "priority level 2"}},
	{"cnp-in-roce-queue", "nxos", leaf, []string{"set qos-group 7", "set qos-group 3"},
		[]string{"set qos-group 7", "set qos-group 6"}},
	{"cnp-lossless", "nxos", leaf, pausing("7"), pausing("6")},
	{"data-strict", "nxos", leaf, []string{"bandwidth remaining percent 50\n    random",
		"priority level 2\n    random"},
		[]string{"c-out-8q-q6\n    bandwidth remaining percent 0", "c-out-8q-q6\n    priority level 2"}},
	{"dscp-unmapped", "nxos", leaf, []string{"match dscp 24", "match dscp 23,25"},
		[]string{"match dscp 24", "match dscp 23-25"}},
	{"dscp-differs", "nxos", leaf, []string{"match dscp 24", "match dscp 24,26"},
		[]string{"match dscp 24", "match dscp cs3"}},
	{"no-classification", "nxos", leaf,
		[]string{"  service-policy type qos input CLASSIFY\n  ip address 10.0.0.0/31\n",
			"  ip address 10.0.0.0/31\n"},
		[]string{"  service-policy type qos input CLASSIFY\n  ip address 10.0.0.0/31\n" +
			"  no shutdown\n", "  ip address 10.0.0.0/31\n  shutdown\n"}},
	{"mtu-small", "nxos", leaf, []string{"switchport\n  mtu 9216", "switchport\n  mtu 4159"},
		[]string{"switchport\n  mtu 9216", "switchport\n  mtu 4160"}},
	{"mtu-differs", "nxos", spine, []string{"switchport\n  mtu 9216", "switchport\n  mtu 4159"},
		[]string{"network-qos c-8q-nq-default\n    mtu 9216", "network-qos c-8q-nq-default\n    mtu 9000"}},
	{"bandwidth-sum", "nxos", leaf, []string{"percent 50\n    random", "percent 51\n    random"},
		[]string{"percent 50\n    random", "percent 49\n    random"}},
	{"bandwidth-left", "nxos", leaf, []string{"percent 50\n    random", "percent 49\n    random"},
		[]string{"percent 50\n    random", "percent 51\n    random"}},
	{"data-starved", "nxos", leaf, []string{"percent 50\n    random", "percent 0\n    random"},
		[]string{"percent 50\n    random", "percent 1\n    random"}},
	{"watchdog-missing", "nxos", leaf,
		[]string{"\npriority-flow-control watch-dog-interval on\n", "\n"},
		[]string{"  priority-flow-control watch-dog-interval on\n", "  priority-flow-control watch-dog\n"}},
	{"policy-unused", "nxos", leaf, []string{"hardware profile dlb\n",
		"class-map type qos match-any SPARE\n  match dscp 10\nhardware profile dlb\n"},
		[]string{"policy-map type qos CLASSIFY\n", "class-map type qos match-any SPARE\n  match dscp 10\n" +
			"policy-map type qos CLASSIFY\n  class SPARE\n    set qos-group 0\n"}},
	{"policy-undefined", "nxos", leaf, []string{"route-map CONNECTED permit 10\n", ""},
		[]string{"route-map CONNECTED permit 10\n", "route-map CONNECTED permit 20\n"}},
	{"dlb-mac-differs", "nxos", leaf, []string{"00:CC:CC:CC:CC:CC", "00:CC:CC:CC:CC:CD"},
		[]string{"  mac-address 00:CC:CC:CC:CC:CC\n", ""}}, // which is the default
	{"dlb-mode-differs", "nxos", leaf, []string{"mode flowlet", "mode per-packet"},
		[]string{"flowlet-aging 50", "flowlet-aging 60"}},
	{"dlb-ports", "nxos", leaf, []string{"dlb-interface Ethernet1/4", "dlb-interface Ethernet1/5"},
		[]string{"dlb-interface Ethernet1/4", "dlb-interface Eth1/4"}},
	{"lldp-off", "nxos", leaf, []string{"feature lldp\n", ""},
		[]string{"feature lldp\n", "", "priority-flow-control mode auto", "priority-flow-control mode on"}},
	{"ecmp-polarisation", "nxos", leaf, []string{"universal-id 101", "universal-id 105"},
		[]string{"universal-id 101", "universal-id 102"}},
	{"bgp-no-multipath", "nxos", leaf, []string{"maximum-paths 64", "maximum-paths 1"},
		[]string{"maximum-paths 64", "maximum-paths 2"}},
	{"bgp-relax", "nxos", spine, []string{"  bestpath as-path multipath-relax\n", ""}, nil},
	{"bgp-relax", "nxos", spine, []string{"  bestpath as-path multipath-relax\n",
		"  no bestpath as-path multipath-relax\n"},
		[]string{"  bestpath as-path multipath-relax\n",
			"  bestpath as-path multipath-relax\n  log-neighbor-changes\n"}},
	{"bgp-inactive", "nxos", leaf, []string{"    description spine-1\n    address-family ipv4 unicast\n",
		"    description spine-1\n"}, []string{"    description spine-1\n", ""}},
	{"bgp-as-mismatch", "nxos", leaf, []string{"remote-as 4200002000", "remote-as 4200002001"},
		[]string{"    remote-as 4200002000\n", "    remote-as 64086.61904\n"}}, // asdot, RFC 5396
	{"bgp-neighbor-missing", "nxos", leaf, []string{"  neighbor 10.64.0.3\n    remote-as 4200002000\n" +
		"    description spine-2\n    address-family ipv4 unicast\n", ""},
		[]string{"  ip address 10.64.0.2/31\n  no shutdown\n", "  ip address 10.64.0.2/31\n  shutdown\n",
			"  neighbor 10.64.0.3\n    remote-as 4200002000\n    description spine-2\n" +
				"    address-family ipv4 unicast\n", ""}},
	{"bgp-silent", "nxos", leaf, []string{"    redistribute direct route-map CONNECTED\n", ""},
		[]string{"    redistribute direct route-map CONNECTED\n", "    network 10.0.0.0/31\n"}},
	{"bgp-unnumbered", "nxos", leaf, []string{"  ip address 10.64.0.2/31\n", "", "  neighbor 10.64.0.3\n",
		"  neighbor Ethernet1/4\n"}, []string{"  ip address 10.64.0.2/31\n",
		"  ipv6 address use-link-local-only\n",
		"  neighbor 10.64.0.3\n", "  neighbor Ethernet1/4\n"}},
	{"bgp-duplicate", "nxos", leaf, []string{"router bgp 4200010001", "router bgp 4200010002"},
		[]string{"router bgp 4200010001", "router bgp 4200010999"}},
	{"bgp-policy", "frr", leaf, []string{" no bgp ebgp-requires-policy\n", " bgp ebgp-requires-policy\n"},
		[]string{" no bgp ebgp-requires-policy\n",
			" bgp ebgp-requires-policy\n no bgp ebgp-requires-policy\n"}},
	{"address-duplicate", "nxos", leaf, []string{"ip address 10.0.0.4/31", "ip address 10.0.0.0/31"},
		[]string{"ip address 10.0.0.4/31", "ip address 10.0.0.5/31"}},
	{"link-subnet", "nxos", leaf, []string{"ip address 10.64.0.0/31", "ip address 10.64.0.0/30"},
		[]string{"ip address 10.0.0.4/31", "ip address 10.0.0.4/30"}}, // a server's port
	{"speed-differs", "nxos", leaf, []string{"speed 400000", "speed 200000"},
		[]string{"  speed 400000\n", ""}},
	{"port-down", "nxos", leaf, []string{"31\n  no shutdown\ninterface Ethernet1/4",
		"31\n  shutdown\ninterface Ethernet1/4"},
		[]string{"route-map CONNECTED", "interface Ethernet1/9\n  shutdown\nroute-map CONNECTED"}},
	{"port-missing", "nxos", leaf, []string{"interface Ethernet1/2\n", "interface Ethernet1/7\n"},
		[]string{"route-map CONNECTED", "interface Ethernet1/9\n  shutdown\nroute-map CONNECTED"}},
	{"switch-missing", "nxos", leaf, []string{"hostname seg-1-rail-1", "hostname seg-1-rail-01"}, nil},
	{"unknown-line", "nxos", leaf, []string{"  speed 400000", "  spede 400000"},
		[]string{"  speed 400000", "  spe 400000"}},
	{"duplicate-definition", "frr", leaf, []string{"router bgp ", "router bgp 65099\nexit\nrouter bgp "},
		[]string{"router bgp ", "route-map A permit 10\nexit\nroute-map A permit 20\nexit\nrouter bgp "}},
	{"duplicate-definition", "nxos", leaf, []string{"policy-map type qos CLASSIFY\n",
		"class-map type qos match-all CNP\npolicy-map type qos CLASSIFY\n"},
		[]string{"policy-map type qos CLASSIFY\n", // a section that is opened again continues
			"class-map type qos match-any CNP\n  match dscp 48\nclass-map type qos CNP\n" +
				"policy-map type qos CLASSIFY\npolicy-map type qos CLASSIFY\n  class ROCE\n  class ROCE\n"}},
	{"bad-value", "nxos", leaf, []string{"ip address 10.0.0.0/31", "ip address 10.0.0.0/33"},
		[]string{"ip address 10.0.0.0/31", "ip address 10.0.0.0 255.255.255.254"}},
	{"watchdog-range", "nxos", leaf, []string{"watch-dog interval 200", "watch-dog interval 99"},
		[]string{"watch-dog interval 200", "watch-dog interval 100"}},
	{"watchdog-range", "nxos", leaf, []string{"watch-dog interval 200", "watch-dog interval 1001"},
		[]string{"watch-dog interval 200", "watch-dog interval 1000"}},
	{"dlb-egress-policy", "nxos", leaf, []string{"  ip address 10.64.0.0/31\n",
		"  ip access-group NOTHING out\n  ip address 10.64.0.0/31\n"},
		[]string{"  ip address 10.64.0.0/31\n", "  ip access-group NOTHING in\n  ip address 10.64.0.0/31\n"}},
	{"dlb-span", "nxos", leaf, []string{"hardware profile dlb\n",
		"monitor session 1\n  source interface Ethernet1/3 both\nhardware profile dlb\n"},
		[]string{"hardware profile dlb\n",
			"monitor session 1\n  source interface Ethernet1/3 rx\nhardware profile dlb\n"}},
	{"dlb-release", "nxos", leaf, []string{"hardware profile dlb\n", "version 10.4(3)F\nhardware profile dlb\n"},
		[]string{"hardware profile dlb\n", "version 10.5(1)F\nhardware profile dlb\n"}},
	{"dlb-platform", "nxos", leaf, []string{"hardware profile dlb\n",
		"! show version: N9K-C93180YC-FX2\nhardware profile dlb\n"},
		[]string{"hardware profile dlb\n", "! show version: N9K-C93180YC-FX3\nhardware profile dlb\n"}},
	{"dlb-layer2", "nxos", leaf, []string{"  ip address 10.64.0.0/31\n", "  switchport\n"},
		[]string{"  ip address 10.64.0.0/31\n", "  no switchport\n  ip address 10.64.0.0/31\n"}},
}

// pausing adds lossless classes.
func pausing(classes ...string) []string {
	const at = "  class type network-qos c-8q-nq-default\n"
	text := ""
	for _, c := range classes {
		text += "  class type network-qos c-8q-nq" + c + "\n    pause pfc-cos " + c + "\n"
	}
	return []string{at, text + at}
}

// Every rule has a finding exactly for its edge and none for the near one.
func TestEdgesOfRules(t *testing.T) {
	g := fabric(t, "rail")
	texts, parsed := map[swconf.OS]map[string]string{}, map[swconf.OS]map[string]*swconf.Config{}
	for _, os := range []swconf.OS{swconf.NXOS, swconf.FRR} {
		d, err := plan(g, spec(), os, design.Numbered, "", balanced(string(os), "flowlet"))
		if err != nil {
			t.Fatal(err)
		}
		cs, text := configs(t, d)
		texts[os], parsed[os] = text, map[string]*swconf.Config{}
		for _, c := range cs {
			parsed[os][c.File] = c
		}
	}
	// rules of bundles: TestMemberFindings; of NICs' ports: TestPortsApartFindings; SONiC's: TestTrimmingFindings;
	// of designs with segments: TestSegmentFindings; of cabling: TestNICsInPortsOfRails; of channels:
	// TestChannelFindings
	covered := map[string]bool{"pfc-deadlock": true, "trimming": true, "srv6-sid": true, "srv6-way": true,
		"fec-differs": true, "autoneg-differs": true, // TestCodesOfCables, TestRulePages
		"rail-port": true, "channel-ends": true, "nic-vlans": true,
		"member-idle": true, "evpn-next-hop": true, "evpn-segment": true, "evpn-pair": true, "mlag": true,
		"watchdog-floor": true, "queue-default": true, "ecmp-fields": true} // TestRulePages
	for _, e := range edges {
		covered[e.rule] = true
		told := func(change []string) []string {
			var cs []*swconf.Config
			for path, c := range parsed[e.os] {
				if strings.HasPrefix(path, e.file+"/") {
					text := texts[e.os][path]
					for i := 0; i < len(change); i += 2 {
						if !strings.Contains(text, change[i]) {
							t.Fatalf("%s: the text has no %q", e.rule, change[i])
						}
						text = strings.ReplaceAll(text, change[i], change[i+1])
					}
					var err error
					if c, err = dialect.Parse(path, []byte(text), e.os); err != nil {
						t.Fatal(err)
					}
				}
				cs = append(cs, c)
			}
			var rules []string
			for _, f := range lint(g, cs) {
				if f.Rule == e.rule {
					rules = append(rules, f.Message)
				}
				if f.Message == "" || f.Why == "" || f.Fix == "" {
					t.Errorf("%s says what, why and what to do in part only: %+v", e.rule, f)
				}
			}
			return rules
		}
		if said := told(e.bad); len(said) == 0 {
			t.Errorf("%s is silent about %q", e.rule, e.bad[1])
		}
		if e.good != nil {
			if said := told(e.good); len(said) > 0 {
				t.Errorf("%s complains about %q: %s", e.rule, e.good[1], said[0])
			}
		}
	}
	for _, r := range swconf.Rules() {
		if !covered[r.ID] && !strings.HasPrefix(r.ID, "host-") { // those are in TestServersInFabric
			t.Errorf("rule %s is not tried", r.ID)
		}
		if swconf.RuleByID(r.ID) == nil || r.Short == "" {
			t.Errorf("rule %s is not found, or says nothing", r.ID)
		}
	}
	if swconf.RuleByID("no-such-rule") != nil {
		t.Error("a rule is made up")
	}
}
