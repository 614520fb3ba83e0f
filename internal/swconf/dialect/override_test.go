package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// A port that removes a priority's PFC, or classifies by VLAN tags, despite a template shared with others, is
// reported at its own line.
func TestOverrideIsReportedAtThePort(t *testing.T) {
	for _, x := range []struct {
		os        swconf.OS
		text      string
		rule, at  string
		whichPort string
	}{
		{swconf.EOS, eosProfile + "   priority-flow-control priority 3 drop\n", "pfc-class",
			"priority-flow-control priority 3 drop", "Ethernet2/1"},
		{swconf.EOS, eosProfile + "   no priority-flow-control priority 3 no-drop\n", "pfc-class",
			"no priority-flow-control priority 3 no-drop", "Ethernet2/1"},
		{swconf.EOS, eosProfile + "   no priority-flow-control on\n", "pfc-interface", "no priority-flow-control on", ""},
		{swconf.EOS, eosProfile + "   no priority-flow-control\n", "pfc-interface", "no priority-flow-control", ""},
		{swconf.EOS, eosProfile + "   qos trust cos\n", "dscp-differs", "qos trust cos", ""},
		{swconf.EOS, shares + "   tx-queue 3\n      bandwidth percent 30\n", "bandwidth-left", "bandwidth percent 30",
			"Ethernet2/1"},
		{swconf.Dell, "roce enable\ninterface Eth1/1\n no shutdown\ninterface Eth1/2\n no priority-flow-control priority 3\n",
			"pfc-class", "no priority-flow-control priority 3", "Eth1/2"},
		{swconf.Dell, "roce enable\ninterface Eth1/1\n no shutdown\ninterface Eth1/2\n no priority-flow-control\n",
			"pfc-class", "no priority-flow-control", "Eth1/2"},
		{swconf.NVUE, `nv set system hostname leaf-1
nv set qos roce mode lossless
nv set qos pfc other switch-priority 5
nv set qos pfc other tx enable
nv set interface swp1-2 link mtu 9216
nv set interface swp2 qos pfc profile other
`, "pfc-class", "nv set interface swp2 qos pfc profile other", "swp2"},
		{swconf.Junos, `set system host-name leaf-1
set class-of-service forwarding-classes class ROCE queue-num 3
set class-of-service forwarding-classes class ROCE no-loss
set class-of-service forwarding-classes class ROCE pfc-priority 3
set class-of-service forwarding-classes class STORAGE queue-num 4
set class-of-service forwarding-classes class STORAGE no-loss
set class-of-service forwarding-classes class STORAGE pfc-priority 4
set class-of-service classifiers dscp FABRIC forwarding-class ROCE loss-priority low code-points 011000
set class-of-service classifiers dscp FABRIC forwarding-class STORAGE loss-priority low code-points 101000
set class-of-service congestion-notification-profile FABRIC input dscp code-point 011000 pfc
set class-of-service congestion-notification-profile OTHER input dscp code-point 101000 pfc
set class-of-service interfaces et-* unit 0 classifiers dscp FABRIC
set class-of-service interfaces et-* congestion-notification-profile FABRIC
set class-of-service interfaces et-0/0/1 congestion-notification-profile OTHER
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.0/31
set interfaces et-0/0/1 unit 0 family inet address 10.0.0.2/31
`, "pfc-class", "set class-of-service interfaces et-0/0/1 congestion-notification-profile OTHER", "et-0/0/1"},
		{swconf.NXOS, bundled + "interface Ethernet1/3\n  mtu 9216\n  service-policy type qos input CLASSIFY\n" +
			"  priority-flow-control mode off\n", "pfc-interface", "priority-flow-control mode off", ""},
		{swconf.SONiC, `{"DEVICE_METADATA": {"localhost": {"hostname": "leaf-1"}},
"PORT": {"Ethernet0": {}, "Ethernet8": {}},
"DSCP_TO_TC_MAP": {"M": {"24": "3"}},
"TC_TO_QUEUE_MAP": {"M": {"3": "3"}},
"PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "M", "tc_to_queue_map": "M", "pfc_enable": "3"},
"Ethernet8": {"dscp_to_tc_map": "M", "tc_to_queue_map": "M",
"pfc_enable": "4"}}}
`, "pfc-class", `"pfc_enable": "4"}}}`, "Ethernet8"},
	} {
		c, err := dialect.Parse("leaf-1", []byte(x.text), x.os)
		if err != nil {
			t.Errorf("%s: %v", x.os, err)
			continue
		}
		lines := strings.Split(x.text, "\n")
		found := false
		for _, f := range lint(nil, []*swconf.Config{c}) {
			if f.Rule != x.rule {
				continue
			}
			found = true
			if at := strings.TrimSpace(lines[f.Line-1]); at != x.at || f.Ports != x.whichPort {
				t.Errorf("%s: %s at %q of ports %q, want %q of %q", x.os, f.Rule, at, f.Ports, x.at, x.whichPort)
			}
		}
		if !found {
			t.Errorf("%s: no %s for %q", x.os, x.rule, x.at)
		}
	}
}

// The remedy for a port without PFC is all lines that it lacks; entered below its interface they leave no finding.
func TestRemedyOfPausingIsWhole(t *testing.T) {
	const profile, trust, lines = "   service-profile ROCE\n", "   qos trust dscp\n", "   priority-flow-control on\n" +
		"   priority-flow-control priority 3 no-drop\n"
	const perPort = "hostname leaf-1\nqos map dscp 24 to traffic-class 3\n" +
		"interface Ethernet1/1\n   ip address 10.0.0.0/31\n" + trust + lines +
		"interface Ethernet2/1\n   ip address 10.0.0.2/31\n" + trust
	for _, x := range []struct {
		os        swconf.OS
		text, fix string
	}{
		{swconf.EOS, strings.TrimSuffix(eosProfile, profile) + trust,
			"at the port, as Ethernet1/1 has: service-profile ROCE"},
		{swconf.EOS, perPort,
			"at the port: priority-flow-control on, priority-flow-control priority 3 no-drop"},
		{swconf.EOS, perPort + "   priority-flow-control on\n", "at the port: priority-flow-control priority 3 no-drop"},
		{swconf.EOS, eosProfile + "   no priority-flow-control on\n", "at the port: priority-flow-control on"},
		{swconf.NXOS, bundled + "interface Ethernet1/3\n  mtu 9216\n  service-policy type qos input CLASSIFY\n" +
			"  priority-flow-control mode off\n", "at the port, as Ethernet1/1 has: priority-flow-control mode auto"},
	} {
		fixes := func(text string) (fix string) {
			c, err := dialect.Parse("leaf-1", []byte(text), x.os)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for _, f := range lint(nil, []*swconf.Config{c}) {
				if f.Rule == "pfc-class" || f.Rule == "pfc-interface" {
					fix = f.Fix
				}
			}
			return fix
		}
		fix := fixes(x.text)
		if fix != x.fix {
			t.Errorf("%s: %s, want %s", x.os, fix, x.fix)
			continue
		}
		_, add, _ := strings.Cut(fix, ": ")
		if left := fixes(x.text + "   " + strings.ReplaceAll(add, ", ", "\n   ") + "\n"); left != "" {
			t.Errorf("%s: after %s: %s", x.os, fix, left)
		}
	}
}

// eosProfile is two ports with one profile; the second may have its own settings after it.
const eosProfile = `hostname leaf-1
qos map dscp 24 to traffic-class 3
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
interface Ethernet1/1
   no switchport
   ip address 10.0.0.0/31
   service-profile ROCE
interface Ethernet2/1
   no switchport
   ip address 10.0.0.2/31
   service-profile ROCE
`

// shares is eosProfile with shares of three queues.
var shares = strings.Replace(eosProfile, "interface Ethernet1/1", `   tx-queue 1
      bandwidth percent 25
   tx-queue 3
      bandwidth percent 50
   tx-queue 4
      bandwidth percent 25
interface Ethernet1/1`, 1)

// A configuration without pause thresholds gets no warning about those that a scenario assumes. WRED above the
// assumed xOFF gets a note.
func TestAssumedThresholds(t *testing.T) {
	for wred, want := range map[string]string{"100 kbytes maximum-threshold 700": "",
		"100 kbytes maximum-threshold 3600": string(swconf.Info)} {
		c, err := dialect.Parse("leaf-1", []byte(lossless+`policy-map type queuing OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold `+wred+` kbytes drop-probability 7 weight 0 ecn
system qos
  service-policy type queuing output OUT
`), swconf.NXOS)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range lint(nil, []*swconf.Config{c}) {
			if f.Rule == "threshold-order" {
				got += string(f.Severity)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", wred, got, want)
		}
	}
}
