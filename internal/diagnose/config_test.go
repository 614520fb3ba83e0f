package diagnose

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

// leafConfig is a leaf of the lab in NX-OS; %ECN and %XOFF are what a test changes.
const leafConfig = `hostname leaf2
class-map type qos match-any ROCE
  match dscp 24
class-map type qos match-any CNP
  match dscp 48
policy-map type qos IN
  class ROCE
    set qos-group 3
  class CNP
    set qos-group 6
policy-map type queuing OUT
  class type queuing c-out-8q-q6
    priority level 1
  class type queuing c-out-8q-q3
    bandwidth remaining percent 60
    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0%ECN
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 40
policy-map type network-qos NET
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
system qos
  service-policy type queuing output OUT
  service-policy type network-qos NET
interface Ethernet1/1
  priority-flow-control mode on
  mtu 9216
  service-policy type qos input IN
interface Ethernet1/2
  priority-flow-control mode on
  mtu 9216
  service-policy type qos input IN
interface Ethernet1/9
%PFC
  mtu 9216
  service-policy type qos input IN
`

func leaf2(t *testing.T, ecn, pfc string) *swconf.Config {
	t.Helper()
	text := strings.NewReplacer("%ECN", ecn, "%PFC", pfc).Replace(leafConfig)
	c, err := dialect.Parse("leaf2.cfg", []byte(text), swconf.NXOS)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// first returns what is found first, with its evidence as text.
func first(t *testing.T, l *lab, c *swconf.Config) (x Finding, lines string) {
	t.Helper()
	in := l.input()
	in.Configs = []*swconf.Config{c}
	r, err := Diagnose(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) == 0 {
		t.Fatal("nothing found")
	}
	for _, e := range r.Findings[0].Evidence {
		lines += e.String() + "\n"
	}
	return r.Findings[0], lines
}

// unmarkedPauses is leaf2 that pauses the spine and marks nothing.
func unmarkedPauses() *lab {
	l := healthy()
	for _, p := range []string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/9"} {
		l.now("leaf2", p).Queues[data].Marked.V = 7
	}
	l.pause("leaf2", "Ethernet1/9", 4_000)
	return l
}

// TestConfigurationDecides: with the configuration at hand ECN that is off is no guess, and
// where it is on it is not what is wrong.
func TestConfigurationDecides(t *testing.T) {
	const on = "  priority-flow-control mode on"
	x, lines := first(t, unmarkedPauses(), leaf2(t, "", on))
	if x.Cause != "ecn-off" || x.Sure != Proven || x.Device != "leaf2" || !strings.Contains(lines,
		"leaf2.cfg:") {
		t.Errorf("without ecn: %s (%v) of %s\n%s", x.Cause, x.Sure, x.Device, lines)
	}
	if x, _ := first(t, unmarkedPauses(), leaf2(t, " ecn", on)); x.Cause == "ecn-off" {
		t.Errorf("with ecn: %s", x.Says)
	}
}

// TestConfiguredOff: PFC that is off by the configuration and by what is lost is proven, and
// its line is cited.
func TestConfiguredOff(t *testing.T) {
	l := healthy()
	for _, m := range []string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/9"} {
		l.now("leaf2", m).PFC.Is, l.now("leaf2", m).Lossless.Is = false, false // no output says it
	}
	l.now("spine1", "Ethernet1/2").TxPFC[data].V += 900
	l.now("spine1", "Ethernet1/2").Groups[data].DropPackets.V += 90
	x, lines := first(t, l, leaf2(t, " ecn", "  priority-flow-control mode off"))
	if x.Cause != "pfc-off" || x.Sure != Proven || x.Device != "leaf2" || x.Port != "Ethernet1/9" ||
		!strings.Contains(lines, "leaf2 Ethernet1/9: no priority-flow-control on this interface (leaf2.cfg:35)") {
		t.Errorf("%s (%v) of %s %s: %s\n%s", x.Cause, x.Sure, x.Device, x.Port, x.Says, lines)
	}
}

// TestOneSnapshot says what cannot be told, and is sure of nothing that was counted: also of a peer that
// counted no pauses, whose counters may have been cleared at another time.
func TestOneSnapshot(t *testing.T) {
	cases := map[string]func(*lab){
		"storm": func(l *lab) { l.pause("host-4", "eth0", 20_000) },
		"pfc-off": func(l *lab) {
			l.pause("spine1", "Ethernet1/1", 5_000)
			l.now("leaf1", "Ethernet1/9").RxPFC[data].V = 0
			l.now("spine1", "Ethernet1/1").Groups[data].DropPackets.V += 300
		}}
	for name, plant := range cases {
		l := healthy()
		plant(l)
		in := l.input()
		in.Before = nil
		r, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(r.Notes, "\n")
		if strings.Count(all, "one snapshot only") != 1 || !strings.Contains(all, "leaf1, ") {
			t.Error(all)
		}
		if !slices.ContainsFunc(r.Findings,
			func(x Finding) bool { return name == "storm" || x.Cause == name }) {
			t.Errorf("%s is not seen", name)
		}
		for _, x := range r.Findings {
			if x.Sure != Possible {
				t.Errorf("%s: %s is %v by one snapshot: %s", name, x.Cause, x.Sure, x.Says)
			}
		}
	}
}

// TestOtherDevices refuses two snapshots that have no device in common, and names a device
// that is in one of them only.
func TestOtherDevices(t *testing.T) {
	l := healthy()
	in := l.input()
	in.Before, in.After = in.Before[:1], in.After[1:]
	if _, err := Diagnose(in); err == nil || !strings.Contains(err.Error(), "no device is in both") {
		t.Error(err)
	}
	in = l.input()
	in.After = in.After[1:]
	r, err := Diagnose(in)
	if err != nil || !strings.Contains(strings.Join(r.Notes, "\n"), "leaf1 is only in the first snapshot") {
		t.Error(err, r)
	}
}

// TestOrder takes two rounds in one list by their clock, whichever came first.
func TestOrder(t *testing.T) {
	l := healthy()
	l.pause("host-4", "eth0", 20_000)
	in := l.input()
	in.After, in.Before = append(in.After, in.Before...), nil // the later ones first
	r, err := Diagnose(in)
	if err != nil || len(r.Findings) == 0 || r.Findings[0].Cause != "slow-receiver" || r.Faults() != 1 {
		t.Errorf("%v %+v", err, r)
	}
}

// TestRing finds switches that wait for each other: nothing of the class leaves them.
func TestRing(t *testing.T) {
	l := healthy()
	l.cable("leaf1", "Ethernet1/2", "leaf2", "Ethernet1/2")
	for _, e := range [][4]string{{"leaf1", "Ethernet1/9", "spine1", "Ethernet1/1"},
		{"spine1", "Ethernet1/2", "leaf2", "Ethernet1/9"}, {"leaf2", "Ethernet1/2", "leaf1", "Ethernet1/2"}} {
		l.pause(e[0], e[1], 5_000)
		l.now(e[2], e[3]).Queues[data].TxPackets.V = 7
	}
	r, err := Diagnose(l.input())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, x := range r.Findings {
		found = found || x.Cause == "pause-ring" && x.Sure == Proven
	}
	if !found {
		t.Errorf("%+v", r.Findings)
	}
}

// TestTwoConfigurations gives two configurations of one device: a note names both files and the one that is used.
func TestTwoConfigurations(t *testing.T) {
	const on = "  priority-flow-control mode on"
	a, b := leaf2(t, " ecn", on), leaf2(t, "", on)
	b.File = "older/leaf2.cfg"
	in := unmarkedPauses().input()
	in.Configs = []*swconf.Config{a, b}
	r, err := Diagnose(in)
	const want = "two configurations of leaf2: older/leaf2.cfg is used, leaf2.cfg is not"
	if err != nil || strings.Count(strings.Join(r.Notes, "\n"), want) != 1 {
		t.Errorf("%v, notes: %q", err, r.Notes)
	}
}
