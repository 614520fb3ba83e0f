package dialect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// fault is one error in a correct fabric: in one file, old becomes new.
type fault struct {
	os       swconf.OS
	file     string // of the switch
	old, new string
	at       string // text on the line that must be reported; "" is the line of new
	rule     string
}

const (
	leaf  = "seg-1-rail-1"
	leaf2 = "seg-2-rail-2"
	spine = "spine-1"
)

// wredLine and pauseLine are the lines of most faults.
const (
	wredLine = "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability " +
		"7 weight 0 ecn"
	pauseLine = "pause-threshold 3500000 resume-threshold 100000"
)

// port1 is the beginning of a leaf's first interface in NX-OS, up to where it differs.
const port1 = "interface Ethernet1/1\n  description to host-1 nic1\n  no switchport\n"

var faults = []fault{
	// Thresholds.
	{"nxos", leaf, "maximum-threshold 3000 kbytes", "maximum-threshold 4000 kbytes", "", "threshold-order"},
	{"nxos", leaf, "minimum-threshold 150 kbytes", "minimum-threshold 90 kbytes", "", "threshold-order"},
	{"nxos", leaf, "minimum-threshold 150 kbytes", "minimum-threshold 3.1 mbytes", "", "threshold-order"},
	{"nxos", spine, "resume-threshold 100000", "resume-threshold 200000", "", "threshold-order"},
	{"nxos", spine, "pause-threshold 3500000", "pause-threshold 2000000", "", "threshold-order"},
	{"nxos", leaf, "maximum-threshold 3000 kbytes", "maximum-threshold 90 mbytes", "", "threshold-buffer"},
	{"nxos", leaf, "pause buffer-size 36", "pause buffer-size 35", "", "headroom"},
	{"nxos", leaf, "pause buffer-size 3", "pause buffer-size 2", "", "headroom"},
	{"nxos", leaf, "drop-probability 7", "drop-probability 0", "", "ecn-never"},
	{"nxos", leaf, "minimum-threshold 150 kbytes", "minimum-threshold 15 kbytes", "", "ecn-differs"},
	{"nxos", leaf, "minimum-threshold 150 kbytes", "minimum-threshold 15 kbytes", "", "ecn-range"},
	{"eos", leaf, "maximum-threshold 3000 kbytes", "maximum-threshold 300 kbytes", "", "ecn-differs"},
	{"sonic", leaf, `"green_min_threshold": "150000"`, `"green_min_threshold": "110000"`, "", "ecn-differs"},
	{"nvue", leaf, "max-threshold 3000000", "max-threshold 300000", "", "ecn-differs"},
	{"nxos", leaf, "weight 0 ecn", "weight 9 ecn", "", "wred-average"},
	// ECN and PFC.
	{"nxos", leaf, "weight 0 ecn", "weight 0", "", "ecn-missing"},
	{"nxos", leaf, "    " + wredLine + "\n", "", "class type queuing c-out-8q-q3", "ecn-missing"},
	{"nxos", leaf, "    pause pfc-cos 3\n", "", "class type network-qos c-8q-nq3", "pfc-class"},
	{"nxos", leaf, "    pause pfc-cos 3\n", "    pause pfc-cos 4\n", "", "pfc-class"},
	{"nxos", leaf, port1 + "  mtu 9216\n  speed 400000\n  priority-flow-control mode auto",
		port1 + "  mtu 9216\n  speed 400000\n  priority-flow-control mode off", "mode off", "pfc-interface"},
	{"nxos", spine, "priority-flow-control mode auto", "priority-flow-control mode off", "", "pfc-one-end"},
	{"nxos", spine, "priority-flow-control mode auto", "priority-flow-control mode on", "",
		"pfc-mode-differs"},
	{"nxos", leaf, "  class type network-qos c-8q-nq-default\n    mtu 9216\n",
		"  class type network-qos c-8q-nq1\n    pause pfc-cos 1\n  class type network-qos c-8q-nq2\n" +
			"    pause pfc-cos 2\n  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n",
		"pause pfc-cos 1", "pfc-all-classes"},
	{"nxos", leaf, "  class type network-qos c-8q-nq-default\n    mtu 9216\n",
		"  class type network-qos c-8q-nq4\n    mtu 9216\n    pause pfc-cos 3\n", "    pause pfc-cos 3",
		"pfc-priority-shared"},
	{"nxos", leaf, "priority-flow-control watch-dog-interval on",
		"no priority-flow-control watch-dog-interval on", "", "watchdog-missing"},
	{"nxos", leaf, "  priority-flow-control watch-dog-interval on\n", "", "interface Ethernet1/1",
		"watchdog-missing"},
	{"nxos", leaf, "feature lldp\n", "", "priority-flow-control mode auto", "lldp-off"},
	{"nxos", leaf, "  lldp dcbx version ieee\n", "  no lldp transmit\n", "", "lldp-off"},
	// CNP and classification.
	{"nxos", leaf, "    priority level 1", "    bandwidth remaining percent 0", "", "cnp-not-strict"},
	{"nxos", leaf, "    set qos-group 7", "    set qos-group 3", "", "cnp-in-roce-queue"},
	{"nxos", leaf, "match dscp 24", "match dscp 26", "", "dscp-unmapped"},
	{"nxos", leaf, "match dscp 48", "match dscp 40", "", "dscp-unmapped"},
	{"nxos", leaf, "    set qos-group 3", "    set qos-group 5", "", "dscp-differs"},
	{"nxos", leaf, "  service-policy type qos input CLASSIFY\n", "", "interface Ethernet1/1",
		"no-classification"},
	{"nxos", leaf, "    bandwidth remaining percent 50\n    random",
		"    bandwidth remaining percent 70\n    random", "bandwidth remaining percent 70", "bandwidth-sum"},
	{"nxos", leaf, "    bandwidth remaining percent 50\n    random",
		"    bandwidth remaining percent 40\n    random", "bandwidth remaining percent 40", "bandwidth-left"},
	{"nxos", leaf, "resume-threshold 100000 pfc-cos 3", "resume-threshold 100000 pfc-cos 4", "", "pfc-class"},
	{"nxos", leaf, "    bandwidth remaining percent 50\n    random",
		"    bandwidth remaining percent 0\n    random", "percent 0\n    random", "data-starved"},
	// Names.
	{"nxos", leaf, "service-policy type qos input CLASSIFY", "service-policy type qos input CLASIFY", "",
		"policy-undefined"},
	{"nxos", leaf, "  service-policy type queuing input INGRESS\n", "", "policy-map type queuing INGRESS",
		"policy-unused"},
	{"nxos", leaf, "  class CNP\n    set qos-group 7\n", "", "class-map type qos match-any CNP",
		"policy-unused"},
	{"nxos", leaf, "policy-map type qos CLASSIFY\n",
		"class-map type qos match-all CNP\n  match dscp 48\npolicy-map type qos CLASSIFY\n",
		"match-all CNP\n", "duplicate-definition"},
	{"nxos", leaf, "  speed 400000", "  sped 400000", "", "unknown-line"},
	// MTU, load balancing.
	{"nxos", leaf, "no switchport\n  mtu 9216", "no switchport\n  mtu 1500", "mtu 1500", "mtu-small"},
	{"nxos", leaf2, "MAC-ADDRESS", "", "", ""}, // replaced below: the DLB MAC in another case is no fault
	{"nxos", leaf2, "mac-address 00:CC:CC:CC:CC:CC", "mac-address 00:CC:CC:CC:CC:CD", "", "dlb-mac-differs"},
	{"nxos", leaf, "  mode flowlet", "  mode per-packet", "", "dlb-mode-differs"},
	{"nxos", leaf, "hardware profile dlb",
		"monitor session 1\n  source interface Ethernet1/3 tx\nhardware profile dlb",
		"Ethernet1/3 tx", "dlb-span"},
	{"nxos", leaf, "hardware profile dlb", "version 10.2(3) Bios:version\nhardware profile dlb", "10.2(3)",
		"dlb-release"},
	{"nxos", leaf, "hardware profile dlb", "! N9K-C93180YC-EX\nhardware profile dlb", "N9K-C93180YC-EX",
		"dlb-platform"},
	{"nxos", leaf, "  description to spine-1 Ethernet1/1\n  no switchport\n",
		"  description to spine-1 Ethernet1/1\n  switchport\n", "  switchport", "dlb-layer2"},
	{"nxos", leaf, "  description to spine-1 Ethernet1/1\n",
		"  description to spine-1 Ethernet1/1\n  ip access-group NOTHING out\n", "access-group",
		"dlb-egress-policy"},
	{"nxos", spine, "universal-id 105", "universal-id 101", "", "ecmp-polarisation"},
	// BGP and cables.
	{"nxos", leaf, "    maximum-paths 64\n", "", "router bgp", "bgp-no-multipath"},
	{"nxos", leaf, "    redistribute direct route-map CONNECTED\n", "", "router bgp", "bgp-silent"},
	{"nxos", leaf, "    remote-as 4200002000", "    remote-as 4200002001", "", "bgp-as-mismatch"},
	{"nxos", leaf, "router bgp 4200010001", "router bgp 4200010099", "", "bgp-as-mismatch"},
	{"nxos", leaf2, "router bgp 4200010004", "router bgp 4200010001", "", "bgp-duplicate"},
	{"nxos", leaf2, "router-id 10.255.0.4", "router-id 10.255.0.1", "", "bgp-duplicate"},
	{"nxos", leaf, "ip address 10.64.0.0/31", "ip address 10.65.0.0/31", "", "link-subnet"},
	{"nxos", leaf2, "ip address 10.0.0.14/31", "ip address 10.0.0.0/31", "", "address-duplicate"},
	{"nxos", leaf, "speed 400000", "speed 100000", "", "speed-differs"},
	{"nxos", leaf, "  no shutdown\n", "  shutdown\n", "  shutdown",
		"port-down"},
	// SONiC.
	{"sonic", leaf, `"pfc_enable": "3"`, `"pfc_enable": "4"`, "", "pfc-class"},
	{"sonic", leaf, `"green_max_threshold": "3000000"`, `"green_max_threshold": "4000000"`, "",
		"threshold-order"},
	{"sonic", leaf, `"ecn": "ecn_all"`, `"ecn": "ecn_none"`, "", "ecn-missing"},
	{"sonic", leaf, `"24": "3"`, `"24": "1"`, "", "dscp-differs"},
	{"sonic", leaf, `"48": "7"`, `"48": "3"`, "", "cnp-in-roce-queue"},
	{"sonic", leaf, `"type": "STRICT"`, `"type": "DWRR", "weight": "10"`, "", "cnp-not-strict"},
	{"sonic", leaf, `"profile": "pg_lossless_3_400000_3m"`, `"profile": "pg_lossless_4"`, "",
		"policy-undefined"},
	{"sonic", leaf, `"mtu": "9216"`, `"mtu": "1500"`, "", "mtu-small"},
	{"sonic", leaf, `"xon": "100000"`, `"xon": "160000"`, "", "threshold-order"},
	// SONiC's PFC is on, not negotiated: LLDP does not matter
	{"sonic", leaf, `"state": "enabled"`, `"state": "on"`, "", ""},
	// EOS and FRR.
	{"eos", leaf, "priority-flow-control priority 3 no-drop", "priority-flow-control priority 4 no-drop",
		"traffic-class 3", "pfc-class"},
	{"eos", leaf, "ingress headroom bytes 87038", "ingress headroom bytes 20000", "", "headroom"},
	{"eos", leaf, "maximum-threshold 3000 kbytes", "maximum-threshold 4000 kbytes", "", "threshold-order"},
	{"eos", leaf, "   service-profile FABRIC", "   service-profile FABRIK", "", "policy-undefined"},
	// NVUE.
	{"nvue", leaf, "dscp 24 switch-priority 3", "dscp 25 switch-priority 3", "", "dscp-differs"},
	{"nvue", leaf, "traffic-class 3 ecn enable", "traffic-class 3 ecn disable", "", "ecn-missing"},
	{"nvue", leaf, "default-global switch-priority 3\n", "default-global switch-priority 4\n",
		"pfc default-global switch-priority 4", "pfc-class"},
	{"nvue", leaf, "xoff-threshold 3500000", "xoff-threshold 200000", "max-threshold", "threshold-order"},
	{"nvue", leaf, "xon-threshold 3400000", "xon-threshold 3600000", "", "threshold-order"},
	{"nvue", leaf, "traffic-class 7 mode strict", "traffic-class 7 mode dwrr", "", "cnp-not-strict"},
	{"nvue", leaf, "swp3 link mtu 9216", "swp3 link mtu 1500", "", "mtu-small"},
	{"nvue", leaf, "swp3 qos pfc-watchdog state enable", "swp3 qos pfc-watchdog state disable", "",
		"watchdog-missing"},
	{"nvue", leaf, "peer-group FABRIC\n", "peer-group FABRIK\n", "", "policy-undefined"},
	{"nvue", leaf, "multipaths ebgp 64", "multipaths ebgp 1", "", "bgp-no-multipath"},
	{"nvue", leaf, "redistribute connected enable on", "redistribute connected enable off", "", "bgp-silent"},
	{"frr", leaf, " no bgp ebgp-requires-policy\n", " bgp ebgp-requires-policy\n", "ebgp-requires-policy",
		"bgp-policy"},
	{"frr", leaf, " bgp bestpath as-path multipath-relax\n", "", "router bgp", "bgp-relax"},
	{"frr", leaf, "neighbor 10.64.0.1 peer-group FABRIC", "neighbor 10.64.0.1 peer-group FABRIK", "",
		"policy-undefined"},
	{"frr", leaf, "maximum-paths 64", "maximum-paths 1", "", "bgp-no-multipath"},
}

// Each mistake is found, at its line, and the good fabric has no finding.
func TestPlantedFaults(t *testing.T) {
	g := fabric(t, "rail")
	good := map[swconf.OS]map[string]string{}
	for _, os := range dialect.Written() {
		d, err := plan(g, spec(), swconf.OS(os), design.Numbered, "", balanced(os, "flowlet"))
		if err != nil {
			t.Fatal(err)
		}
		cs, text := configs(t, d)
		if f := lint(g, cs); len(f) > 0 {
			t.Fatalf("%s: the good fabric has a finding: %+v", os, f[0])
		}
		good[swconf.OS(os)] = text
	}
	planted := 0
	for i, f := range faults {
		if f.old == "MAC-ADDRESS" {
			f.old, f.new = "mac-address 00:CC:CC:CC:CC:CC", "mac-address 00cc.cccc.cccc"
		}
		if f.rule != "" {
			planted++
		}
		t.Run(fmt.Sprintf("%02d-%s-%s", i, f.os, f.rule), func(t *testing.T) { f.check(t, good[f.os]) })
	}
	if planted < 40 {
		t.Errorf("%d faults planted, want at least 40", planted)
	}
}

// Of two switches, the one that does not map a DSCP is reported, whichever comes first.
func TestDSCPDiffersOfTwo(t *testing.T) {
	const with = "hostname a\nclass-map type qos match-any R\n  match dscp 24\n" +
		"class-map type qos match-any X\n  match dscp 10\npolicy-map type qos P\n  class R\n" +
		"    set qos-group 3\n  class X\n    set qos-group 2\npolicy-map type queuing O\n" +
		"  class type queuing c-out-8q-q2\n    priority level 1\n  class type queuing c-out-8q-q-default\n" +
		"    bandwidth remaining percent 100\nsystem qos\n  service-policy type queuing output O\n" +
		"interface Ethernet1/1\n  service-policy type qos input P\n"
	without := strings.NewReplacer("hostname a", "hostname b",
		"class-map type qos match-any X\n  match dscp 10\n", "", "  class X\n    set qos-group 2\n",
		"").Replace(with)
	for _, order := range [][2]string{{with, without}, {without, with}} {
		var cs []*swconf.Config
		for i, text := range order {
			c, err := dialect.Parse(fmt.Sprint(i), []byte(text), swconf.NXOS)
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, c)
		}
		told := ""
		for _, f := range lint(nil, cs) {
			if f.Rule == "dscp-differs" {
				told += f.File
			}
		}
		if want := map[bool]string{true: "1", false: "0"}[order[0] == with]; told != want {
			t.Errorf("file %q is told, want %q", told, want)
		}
	}
}

// An unnumbered neighbour needs a link-local address at its port.
func TestUnnumberedWithoutIPv6(t *testing.T) {
	g := fabric(t, "rail")
	for os, line := range map[swconf.OS]string{
		swconf.NXOS:  "  ipv6 address use-link-local-only\n",
		swconf.EOS:   "   ipv6 enable\n",
		swconf.SONiC: `"ipv6_use_link_local_only": "enable"`,
	} {
		d, err := plan(g, spec(), os, design.Unnumbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, text := configs(t, d)
		var cs []*swconf.Config
		for path, s := range text {
			if !strings.HasPrefix(path, leaf+"/") {
				continue
			}
			if !strings.HasSuffix(path, ".conf") && !strings.Contains(s, line) {
				t.Fatalf("%s: no line %q", os, line)
			}
			c, err := dialect.Parse(path,
				[]byte(strings.Replace(s, line,
					map[bool]string{true: `"mpls": "disable"`}[os == swconf.SONiC], 1)), "")
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, c)
		}
		found := lint(nil, cs)
		if !slices.ContainsFunc(found, func(f swconf.Finding) bool { return f.Rule == "bgp-unnumbered" }) {
			t.Errorf("%s: not found: %+v", os, found)
		}
	}
}

// Without a fabric the cables follow from the descriptions of interfaces.
func TestCablesFromDescriptions(t *testing.T) {
	d, err := plan(fabric(t, "rail"), spec(), swconf.NXOS, design.Numbered, "", "")
	if err != nil {
		t.Fatal(err)
	}
	cs, _ := configs(t, d)
	if n := len(swconf.Described(cs)); n != 8 {
		t.Errorf("%d cables, want 8", n)
	}
	if f := lint(nil, cs); len(f) > 0 {
		t.Errorf("the good fabric has a finding: %+v", f[0])
	}
	port := cs[0].Port("Ethernet1/3")
	port.PFC.V, port.Speed.V = swconf.PFCOff, 100e9
	rules := map[string]bool{}
	for _, f := range lint(nil, cs) {
		rules[f.Rule] = true
	}
	if !rules["pfc-one-end"] || !rules["speed-differs"] {
		t.Errorf("found %v", rules)
	}
}

func (f *fault) check(t *testing.T, good map[string]string) {
	var cs []*swconf.Config
	at, path := 0, ""
	for name, text := range good {
		if !strings.Contains(name, "/") || strings.HasSuffix(name, "daemons") {
			continue
		}
		if strings.HasPrefix(name, f.file+"/") && strings.Contains(text, f.old) {
			i := strings.Index(text, f.old)
			text = text[:i] + f.new + text[i+len(f.old):]
			anchor := i
			if f.at != "" {
				anchor = strings.Index(text, f.at)
				if j := strings.Index(text[i:], f.at); f.new != "" && j >= 0 {
					anchor = i + j
				}
			}
			if anchor < 0 {
				t.Fatalf("%q is not in the text", f.at)
			}
			at, path = strings.Count(text[:anchor], "\n")+1, name
		}
		c, err := dialect.Parse(name, []byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	if path == "" {
		t.Fatalf("%s has no line with %q", f.file, f.old)
	}
	slices.SortFunc(cs, func(a, b *swconf.Config) int { return strings.Compare(a.File, b.File) })
	found := lint(fabric(t, "rail"), cs)
	if f.rule == "" {
		for _, x := range found {
			t.Errorf("not a fault, but %s:%d: %s: %s", x.File, x.Line, x.Rule, x.Message)
		}
		return
	}
	for _, x := range found {
		if x.Message == "" || x.Why == "" || x.Fix == "" {
			t.Errorf("a finding without a word: %+v", x)
		}
		if x.Rule == f.rule && x.File == path && x.Line == at {
			return
		}
	}
	t.Errorf("%s:%d: %s not found; found:", path, at, f.rule)
	for _, x := range found {
		t.Errorf("  %s:%d: %s: %s", x.File, x.Line, x.Rule, x.Message)
	}
}
