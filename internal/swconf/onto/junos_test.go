package onto

import (
	"regexp"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

var setLine = regexp.MustCompile(`(?m)^set (\S+) (.*)$`)

// TestOntoJunos: statements that contradict the fabric are removed, and others stay, with set commands and with
// braces alike.
func TestOntoJunos(t *testing.T) {
	want := rendered(t, "rail", swconf.Junos, same, design.Numbered)["seg-1-rail-1"]
	const mgmt = "set interfaces em0 unit 0 family inet address 192.0.2.1/24\n"
	for _, c := range []struct {
		add, script, remark, err string
		without                  string // a line that the script must not have
	}{
		{add: "set interfaces et-0/0/0 mtu 1500\n", script: "set interfaces et-0/0/0 mtu 9216\n"},
		{add: "set interfaces et-0/0/0 unit 5 vlan-id 5\n", script: "delete interfaces et-0/0/0 unit 5\n"},
		{add: "set interfaces et-0/0/0 unit 0 family inet address 10.9.0.1/24\n",
			script: "delete interfaces et-0/0/0 unit 0 family inet address 10.9.0.1/24\n"},
		{add: "set interfaces et-0/0/0 disable\n", script: "delete interfaces et-0/0/0 disable\n"},
		{add: "set interfaces et-0/0/0 ether-options 802.3ad ae7\n", script: "delete interfaces et-0/0/0 ether-options\n"},
		{add: "set interfaces et-0/0/39 mtu 1500\n", without: "et-0/0/39"},
		{add: "set interfaces et-0/0/0 unit 0 family inet filter input F\n", remark: "filter input F"},
		{add: "set interfaces et-0/0/39 mtu 1500\ndelete class-of-service interfaces et-*\n",
			script: "also changes et-0/0/39, which the fabric does not have\nset class-of-service interfaces et-*"},
		{add: "set class-of-service congestion-notification-profile FABRIC-50M input dscp code-point 011010 pfc\n" +
			"set interfaces et-0/0/39 mtu 1500\n" +
			"set class-of-service interfaces et-0/0/39 congestion-notification-profile FABRIC-50M\n",
			script: "delete class-of-service congestion-notification-profile FABRIC-50M\n" +
				"# interrupts: also changes et-0/0/39, which the fabric does not have\n" +
				"delete class-of-service interfaces et-0/0/39\n"},
		{add: "delete class-of-service classifiers dscp FABRIC\n",
			script: "forwarding-class CLASS-3 loss-priority low code-points 011000\n"},
		{add: "set class-of-service drop-profiles CLASS-3 interpolate fill-level 90\n",
			script: "delete class-of-service drop-profiles CLASS-3\n"},
		{add: "set class-of-service schedulers CLASS-3 shaping-rate 1g\n",
			script: "delete class-of-service schedulers CLASS-3 shaping-rate\n"},
		{add: "set routing-options autonomous-system 65001\n", err: "another AS number"},
		{add: "set policy-options policy-statement DIRECT term 0 then reject\n", err: "rename yours"},
		{add: "deactivate interfaces et-0/0/0\nset interfaces et-0/0/9 mtu 1500\n", err: "is deactivated"},
		{add: "set system host-name mine\n", without: "host-name"},
		{add: "set protocols lldp disable\n", err: "the LLDP would still not be the fabric's"},
	} {
		set := want + mgmt + c.add
		for form, text := range map[string]string{"set": set, "braces": setLine.ReplaceAllString(set, "$1 { $2; }")} {
			if form == "braces" && strings.HasPrefix(c.add, "deactivate") {
				text = strings.ReplaceAll(strings.ReplaceAll(text, c.add, ""), "interfaces { et-0/0/0",
					"interfaces { inactive: et-0/0/0")
			}
			m, err := Onto("running", []byte(text), want, swconf.Junos, Options{})
			if err != nil || c.err != "" {
				if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) ||
					!strings.Contains(err.Error(), "running:") {
					t.Errorf("%s, %s: %v, want %q", form, c.add, err, c.err)
				}
				continue
			}
			if c.script != "" && !strings.Contains(m.Script, c.script) || c.script == "" && m.Script != "" ||
				c.without != "" && strings.Contains(m.Script, c.without) ||
				c.remark != "" && !strings.Contains(strings.Join(m.Remarks, "\n"), c.remark) {
				t.Errorf("%s, %s: %q, remarks %q", form, c.add, m.Script, m.Remarks)
			}
			again, err := Onto("merged", []byte(m.Text), want, swconf.Junos, Options{})
			if err != nil || len(again.Steps) > 0 {
				t.Errorf("%s, %s: once more: %v, %+v", form, c.add, err, again)
			}
		}
	}
}

// TestOntoJunosInBand: a device without a management port is not changed at a port by which it may be reached,
// unless the operator has another access.
func TestOntoJunosInBand(t *testing.T) {
	want := rendered(t, "rail", swconf.Junos, same, design.Numbered)["seg-1-rail-1"]
	const running = "system { host-name a; }\ninterfaces { et-0/0/0 { unit 0 { family inet { address 198.51.100.1/24; } } } }\n"
	if _, err := Onto("running", []byte(running), want, swconf.Junos, Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), "running:2: et-0/0/0 would get") {
		t.Error(err)
	}
	m, err := Onto("running", []byte(running), want, swconf.Junos, Options{InBand: true})
	if err != nil || !strings.Contains(m.Script, "delete interfaces et-0/0/0 unit 0 family inet address 198.51.100.1/24") {
		t.Error(err, m)
	}
}

// TestOntoJunosFaulty rejects a conflict that neither text has alone: two bundles with one number.
func TestOntoJunosFaulty(t *testing.T) {
	const own = "set system host-name a\nset interfaces em0 unit 0 family inet address 192.0.2.1/24\n"
	bundle := func(name string) string {
		return "set interfaces " + name + " aggregated-ether-options mc-ae mc-ae-id 1\nset interfaces " + name +
			" aggregated-ether-options mc-ae chassis-id 0\n"
	}
	_, err := Onto("running", []byte(own+bundle("ae9")), own+bundle("ae1"), swconf.Junos, Options{})
	if err == nil || !strings.Contains(err.Error(), "with the steps taken ae") ||
		!strings.Contains(err.Error(), "has the mc-ae-id of ae") {
		t.Error(err)
	}
	if m, err := Onto("running", []byte(own), own+bundle("ae1"), swconf.Junos, Options{}); err != nil || len(m.Steps) == 0 {
		t.Error(err)
	}
}
