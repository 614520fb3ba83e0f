package swconf

import (
	"strings"
	"testing"
)

// Maps with 24 and 26 lossless do not decide; the other switches' maps do. If neither is, the lossless one is the
// data's.
func TestUsualDSCPsOfMost(t *testing.T) {
	of := func(dscps ...int) *Config {
		q := &QoS{}
		for _, d := range dscps {
			q.DSCP[d] = Say(uint8(3), at(1))
		}
		q.Queues[3].Pause = Say(3, at(2))
		return &Config{OS: EOS, Ports: []*Port{{Name: "Ethernet1/1", QoS: q}}}
	}
	marked := func(queue uint8, dscps ...int) *Config {
		c := of(dscps...)
		q := c.Ports[0].QoS
		for _, d := range dscps {
			q.DSCP[d].V = queue
		}
		q.Queues[3].Pause, q.Queues[4].Pause = Said[int]{}, Say(4, at(2))
		q.Queues[queue].WRED = Say(WRED{Min: 1, Max: 2, Percent: 5, ECN: true}, at(3))
		return c
	}
	for _, x := range []struct {
		of        []*Config
		data, cnp int
	}{
		{[]*Config{of(24, 26)}, 24, 48},
		{[]*Config{of(24, 26), of(26)}, 26, 48},
		{[]*Config{of(24, 26), of(26), of(24)}, 24, 48},
		{[]*Config{of(26), of(24), of(26)}, 26, 48},
		{[]*Config{of(26)}, 26, 48},
		{[]*Config{of(40)}, 40, Unsaid},
		{[]*Config{marked(3, 26)}, 26, 48}, // the wrong queue is paused, or none; ECN also belongs to RoCE
		{[]*Config{marked(3, 24, 26)}, 24, 48},
		{[]*Config{marked(3, 34, 40)}, 34, Unsaid},
		{[]*Config{marked(3, 40), marked(2, 10)}, 24, 48}, // two queues do not decide
	} {
		if data, cnp := UsualDSCPs(x.of); data != x.data || cnp != x.cnp {
			t.Errorf("%d switches: %d and %d, expected %d", len(x.of), data, cnp, x.data)
		}
	}
}

// EOS schedules most queues strictly by default, so a missing setting is no error there.
func TestCNPQueueOfWhichEOSSaysNothing(t *testing.T) {
	for _, x := range []struct {
		os   OS
		q    Queue
		want Severity
	}{
		{NXOS, Queue{}, Error},
		{EOS, Queue{}, Warning},
		{EOS, Queue{Strict: Say(false, at(72))}, Error}, // no priority
		{EOS, Queue{Share: Say(10, at(73))}, Error},
		{EOS, Queue{Strict: Say(true, at(72))}, ""},
	} {
		c := leaf()
		c.OS, c.QoS.Queues[7] = x.os, x.q
		if s := severity(c, "cnp-not-strict"); s != x.want {
			t.Errorf("%s %+v: %q, expected %q", x.os, x.q, s, x.want)
		}
	}
}

// A DSCP that no line of a switch maps is reported to be in its default queue, at the line that classifies a port
// and not at the map of another DSCP.
func TestDSCPByDefault(t *testing.T) {
	a, b, c := leaf(), leaf(), leaf()
	for _, o := range []*Config{b, c} {
		o.QoS.DSCP[8] = Say(uint8(3), at(25))
	}
	a.QoS.Default, a.QoS.Feeds[3] = true, at(24)
	found := false
	for _, f := range linted(a, b, c) {
		if f.Rule == "dscp-differs" {
			found = true
			if f.Line != 1 || !strings.Contains(f.Message, "here by default (no line sets it) and") {
				t.Errorf("line %d: %s", f.Line, f.Message)
			}
		}
	}
	if !found {
		t.Error("not found")
	}
}

// Two different maps of classes that no port pauses are no error, because packets are dropped at either hop. Two
// queues with equal treatment are no difference.
func TestMapsOfLossyClassesDiffer(t *testing.T) {
	for _, x := range []struct {
		dscp int
		to   uint8
		want Severity
	}{{8, 1, ""}, {8, 7, Warning}, {8, 3, Error}, {24, 1, Error}} {
		a, b, c := leaf(), leaf(), leaf()
		for _, o := range []*Config{a, b, c} {
			o.QoS.DSCP[8] = Say(uint8(0), at(25))
		}
		a.QoS.DSCP[x.dscp] = Say(x.to, at(26))
		got := Severity("")
		for _, f := range linted(a, b, c) {
			if f.Rule == "dscp-differs" {
				got = f.Severity
			}
		}
		if got != x.want {
			t.Errorf("DSCP %d to %d: %q, expected %q", x.dscp, x.to, got, x.want)
		}
	}
}

// A finding's cause is specific: thresholds in the wrong order do not involve PFC, and a DSCP that no line names is
// reported as assumed.
func TestCausesAndAssumptions(t *testing.T) {
	c := leaf()
	c.QoS.Queues[3].WRED.V.Min = 4_000_000
	if f := of(t, linted(c), "threshold-order"); strings.Contains(f.Why, "before PFC") {
		t.Error(f.Why)
	}
	c = leaf()
	c.QoS.Queues[3].WRED, c.QoS.Queues[3].PG.V.XOn = Said[WRED]{}, 3_600_000
	if f := of(t, linted(c), "threshold-order"); strings.Contains(f.Why, "before PFC") {
		t.Error(f.Why)
	}
	for _, assumed := range []bool{true, false} {
		c = leaf()
		c.QoS.DSCP[24] = Said[uint8]{}
		f := of(t, Lint(Input{Configs: []*Config{c}, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096,
			Assumed: Assumed{Data: assumed}}), "dscp-unmapped")
		if strings.Contains(f.Message, "--data-dscp") != assumed || strings.Contains(f.Fix, "--data-dscp") != assumed {
			t.Errorf("assumed %v: %s; %s", assumed, f.Message, f.Fix)
		}
	}
}

// of is the finding of a rule.
func of(t *testing.T, list []Finding, rule string) Finding {
	for _, f := range list {
		if f.Rule == rule {
			return f
		}
	}
	t.Errorf("no %s", rule)
	return Finding{}
}

// The wrong priority is replaced on the line that pauses it, in the language's own form.
func TestPauseInstead(t *testing.T) {
	for _, x := range []struct {
		os           OS
		source, want string
	}{
		{EOS, "interface Ethernet1\n   priority-flow-control priority 4 no-drop",
			"interface Ethernet1|   no priority-flow-control priority 4 no-drop|   priority-flow-control priority 3 no-drop"},
		{Dell, "interface Eth1/1\n priority-flow-control priority 4",
			"interface Eth1/1| no priority-flow-control priority 4| priority-flow-control priority 3"},
		{NVUE, "\nnv set qos pfc default-global switch-priority 4",
			"nv unset qos pfc default-global switch-priority 4|nv set qos pfc default-global switch-priority 3"},
		{Junos, "\nset class-of-service congestion-notification-profile C input ieee-802.1 code-point 100 pfc",
			"delete class-of-service congestion-notification-profile C input ieee-802.1 code-point 100 pfc|" +
				"set class-of-service congestion-notification-profile C input ieee-802.1 code-point 011 pfc"},
		{Junos, "class-of-service {\n code-point 100 pfc;", ""}, // the text does not show where
	} {
		c := &Config{OS: x.os, File: "x", Source: x.source}
		got := strings.Join(c.pauseInstead(&QoS{}, 3, Say(4, Place{File: "x", Line: 2, Col: 1})), "|")
		if got != x.want {
			t.Errorf("%s: %s", x.os, got)
		}
	}
}
