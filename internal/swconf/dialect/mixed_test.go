package dialect_test

import (
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/swconf/dialect"
)

// mixed renders the leaves of a fabric in NX-OS and the spines in EOS, changes each text, and lints them.
func mixed(t *testing.T, specs func(int) *queue.Spec, change func(name, text string) string) []swconf.Finding {
	t.Helper()
	g := fabric(t, "rail")
	var cs []*swconf.Config
	for os, role := range map[swconf.OS]string{swconf.NXOS: "seg-", swconf.EOS: "spine-"} {
		d, err := plan(g, spec(), os, design.Numbered, "", "")
		if err != nil {
			t.Fatal(err)
		}
		_, texts := configs(t, d)
		for name, text := range texts {
			if !strings.HasPrefix(name, role) {
				continue
			}
			c, err := dialect.Parse(name, []byte(change(name, text)), os)
			if err != nil {
				t.Fatal(err)
			}
			cs = append(cs, c)
		}
	}
	return swconf.Lint(swconf.Input{Configs: cs, Graph: g, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096, Base: spec(),
		Specs: specs})
}

func ofRule(list []swconf.Finding, rule string) (messages []string) {
	for _, f := range list {
		if f.Rule == rule {
			messages = append(messages, f.File+": "+f.Message)
		}
	}
	return messages
}

// Two languages rendered for one fabric agree on PFC: EOS, which has it on, announces it to NX-OS, which
// negotiates. Without dcbx mode NX-OS receives nothing.
func TestForcedPFCThatIsAnnounced(t *testing.T) {
	same := func(_, text string) string { return text }
	if got := ofRule(mixed(t, nil, same), "pfc-mode-differs"); len(got) > 0 {
		t.Errorf("%v", got)
	}
	silent := func(_, text string) string { return strings.ReplaceAll(text, "   dcbx mode ieee\n", "") }
	if got := ofRule(mixed(t, nil, silent), "pfc-mode-differs"); len(got) == 0 {
		t.Error("EOS that sends no DCBX is not found")
	}
}

// A queue's thresholds are compared with those of its packets in the scenario and on other switches, for any queue
// number there.
func TestThresholdsOfAnotherQueueNumber(t *testing.T) {
	moved := func(name, text string) string {
		if !strings.HasPrefix(name, "seg-") {
			return text
		}
		for _, x := range [][2]string{
			{"set qos-group 3", "set qos-group 4"}, {"c-out-8q-q3\n", "c-out-8q-q9\n"},
			{"c-out-8q-q4\n", "c-out-8q-q3\n"}, {"c-out-8q-q9\n", "c-out-8q-q4\n"},
		} {
			if text == strings.ReplaceAll(text, x[0], x[1]) {
				t.Fatalf("no %q in %s", x[0], text)
			}
			text = strings.ReplaceAll(text, x[0], x[1])
		}
		return text
	}
	scenario := func(int) *queue.Spec { s := spec(); return &s }
	for _, specs := range []func(int) *queue.Spec{scenario, nil} {
		if got := ofRule(mixed(t, specs, moved), "ecn-differs"); len(got) > 0 {
			t.Errorf("data in queue 4: %v", got)
		}
		one := func(name, text string) string {
			if strings.HasPrefix(name, "seg-1-rail-1/") {
				text = strings.ReplaceAll(moved(name, text), "minimum-threshold 150 kbytes", "minimum-threshold 600 kbytes")
			}
			return text
		}
		if got := ofRule(mixed(t, specs, one), "ecn-differs"); len(got) != 1 {
			t.Errorf("600 KB in queue 4, and 150 KB in queue 3 of the others: %v", got)
		}
	}
}

// The commands that lint prints at NX-OS ports that negotiate with EOS ports without DCBX fix all findings of both
// ends.
func TestCommandsForForcedPFC(t *testing.T) {
	more := map[string]string{}
	change := func(name, text string) string {
		return strings.ReplaceAll(text, "   dcbx mode ieee\n", "") + more[name]
	}
	for _, f := range mixed(t, nil, change) {
		if f.Rule == "pfc-mode-differs" && strings.HasPrefix(f.File, "seg-") {
			more[f.File] += "\n" + strings.Join(f.Commands, "\n") + "\n"
		}
	}
	if got := ofRule(mixed(t, nil, change), "pfc-mode-differs"); len(more) == 0 || len(got) > 0 {
		t.Errorf("after commands at %d switches: %v", len(more), got)
	}
}

// A part of a configuration whose ports negotiate PFC by default gets commands that pause with any neighbor, at all
// of its ports, because a neighbor that forces PFC on may announce nothing. A line about PFC that is not read is a
// warning.
func TestCommandsForPFCByDefault(t *testing.T) {
	text := `hostname spine
class-map type qos match-any ROCEv2
  match dscp 26
policy-map type qos QOS_MARKING
  class ROCEv2
    set qos-group 3
policy-map type network-qos qos_network
  class type network-qos c-8q-nq3
    pause pfc-cos 3
    mtu 9216
system qos
  service-policy type network-qos qos_network
interface Ethernet1/1
  priority-flow-control receive on
  service-policy type qos input QOS_MARKING
interface Ethernet1/2
  service-policy type qos input QOS_MARKING
`
	find := func(rule string) (out []swconf.Finding) {
		c, err := dialect.Parse("spine.cfg", []byte(text), swconf.NXOS)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range swconf.Lint(swconf.Input{Configs: []*swconf.Config{c}, DataDSCP: 26, CNPDSCP: 48}) {
			if f.Rule == rule {
				out = append(out, f)
			}
		}
		return out
	}
	if x := find("unknown-line"); len(x) != 1 || x[0].Severity != swconf.Warning {
		t.Errorf("a line about PFC: %+v", x)
	}
	x := find("lldp-off")
	if len(x) != 1 {
		t.Fatalf("found %+v", x)
	}
	if text += strings.Join(x[0].Commands, "\n") + "\n"; strings.Count(text, "priority-flow-control mode on") != 2 {
		t.Errorf("commands: %q", x[0].Commands)
	}
	if x := find("lldp-off"); len(x) > 0 {
		t.Errorf("after the commands: %+v", x)
	}
}

// With two switches, the other one is named if a DSCP is in another queue there, because one is no majority.
func TestDSCPOfTwoSwitches(t *testing.T) {
	var cs []*swconf.Config
	for name, q := range map[string]string{"a": "3", "b": "0"} {
		c, err := dialect.Parse(name+".cfg", []byte("hostname "+name+"\nqos map dscp 26 to traffic-class "+q+`
qos map traffic-class 3 to tx-queue 3
interface Ethernet1
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
`), swconf.EOS)
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	found := 0
	for _, f := range swconf.Lint(swconf.Input{Configs: cs, DataDSCP: 26, CNPDSCP: 48}) {
		if f.Rule == "dscp-differs" {
			other := map[string]string{"a.cfg": "b", "b.cfg": "a"}[f.File]
			if found++; !strings.HasSuffix(f.Message, " on "+other) || !strings.Contains(f.Fix, " on "+other) {
				t.Errorf("%s: %s; %s", f.File, f.Message, f.Fix)
			}
		}
	}
	if found == 0 {
		t.Error("not found")
	}
}
