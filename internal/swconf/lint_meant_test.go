package swconf

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"railyard/unit"
)

// severity is the maximum severity of a rule's findings on a configuration alone.
func severity(c *Config, rule string) (worst Severity) {
	for _, f := range linted(c) {
		if f.Rule == rule && (worst == "" || f.Severity == Error) {
			worst = f.Severity
		}
	}
	return worst
}

// A requirement that only RoCE fabrics have is an error if a configuration pauses or marks, and otherwise advice.
func TestMeantForRoCE(t *testing.T) {
	bgp := &BGP{ASN: Say(uint32(65000), at(50)), Neighbors: []*Neighbor{{At: at(51), Active: true,
		Remote: Say("65001", at(51))}, {At: at(52), Active: true, Remote: Say("65001", at(52)), Port: "x"}}}
	roce := leaf()
	roce.BGP = bgp
	if s := severity(roce, "bgp-no-multipath"); s != Error {
		t.Errorf("a lossless leaf without multipath: %q", s)
	}
	plain := leaf()
	plain.BGP = bgp
	for i := range plain.QoS.Queues {
		plain.QoS.Queues[i] = Queue{}
	}
	for _, rule := range []string{"bgp-no-multipath", "bgp-silent", "dscp-unmapped"} {
		plain.QoS.DSCP[24] = Said[uint8]{}
		if s := severity(plain, rule); s != Warning {
			t.Errorf("%s for a switch that neither pauses nor marks: %q", rule, s)
		}
	}
}

// Packets classified by their tag need no DSCP, and a priority that leads to the queue may pause it.
func TestByCOS(t *testing.T) {
	c := leaf()
	c.QoS.DSCP[24], c.QoS.DSCP[48] = Said[uint8]{}, Said[uint8]{}
	if s := severity(c, "dscp-unmapped"); s != Error {
		t.Errorf("data that nothing classifies: %q", s)
	}
	c.QoS.COS[4] = Say(uint8(3), at(24))
	if s := severity(c, "dscp-unmapped"); s != "" {
		t.Errorf("data by its tag: %q", s)
	}
	c.QoS.Queues[3].Pause = Say(4, at(33))
	if s := severity(c, "pfc-class"); s != "" {
		t.Errorf("priority 4 of queue 3, where CoS 4 goes: %q", s)
	}
	c.QoS.COS[4] = Say(uint8(2), at(24))
	if s := severity(c, "pfc-class"); s != Error {
		t.Errorf("priority 4 of queue 3, where CoS 4 does not go: %q", s)
	}
	if v := c.Views()[0]; v.Rows[len(v.Rows)-2].COS != "4" && v.Rows[len(v.Rows)-1].COS != "4" &&
		v.Rows[1].COS != "4" && v.Rows[2].COS != "4" {
		t.Errorf("the table does not show CoS 4: %+v", v.Rows)
	}
}

// A design of pauses alone, no queue for CNPs, frames of the next smaller path MTU: advice without a fabric.
func TestAdvice(t *testing.T) {
	c := leaf()
	c.QoS.Queues[3].WRED = Said[WRED]{}
	if s := severity(c, "ecn-missing"); s != Warning {
		t.Errorf("nothing marks: %q", s)
	}
	c.QoS.Queues[0].WRED = Say(WRED{Min: 1, Max: 2, Percent: 1}, at(61))
	if s := severity(c, "ecn-missing"); s != Error {
		t.Errorf("another queue drops early, the lossless one does not mark: %q", s)
	}
	c = leaf()
	c.QoS.DSCP[48], c.QoS.Queues[7] = Said[uint8]{}, Queue{}
	if s := severity(c, "dscp-unmapped"); s != Warning {
		t.Errorf("no queue is for CNPs: %q", s)
	}
	for mtu, want := range map[unit.Bytes]Severity{1500: Error, 2240: Warning, 4200: ""} {
		c = leaf()
		c.Ports[0].MTU.V = mtu
		if s := severity(c, "mtu-small"); s != want {
			t.Errorf("MTU %d: %q, want %q", mtu, s, want)
		}
	}
	c = leaf()
	c.Ports = append(c.Ports, &Port{Name: "Ethernet1/2", At: at(200), QoS: &QoS{},
		Addrs: []Said[netip.Prefix]{Say(netip.MustParsePrefix("192.0.2.1/30"), at(201))}})
	if s := severity(c, "no-classification"); s != Warning {
		t.Errorf("a keepalive's port beside those of RoCE: %q", s)
	}
	c.Ports[0].QoS.Input = Said[string]{}
	if s := severity(c, "no-classification"); s != Error {
		t.Errorf("no port classifies: %q", s)
	}
	c = &Config{OS: NXOS, File: "x.cfg", Part: true, QoS: leaf().QoS}
	if s := severity(c, "no-classification"); s != Warning {
		t.Errorf("a part without interfaces: %q", s)
	}
}

// If a configuration has another DSCP lossless than the data's, pausing the default class as well is no remedy.
func TestDataOfAnotherDSCP(t *testing.T) {
	for rule, zero := range map[string]Said[uint8]{"dscp-unmapped": {}, "pfc-class": Say(uint8(0), at(20))} {
		c := leaf()
		c.QoS.DSCP[26], c.QoS.DSCP[24] = c.QoS.DSCP[24], zero
		i := slices.IndexFunc(linted(c), func(f Finding) bool { return f.Rule == rule })
		if i < 0 {
			t.Errorf("%s: not found", rule)
		} else if fix := linted(c)[i].Fix; !strings.HasPrefix(fix, "put DSCP 24 into queue 3, as DSCP 26 is; or") {
			t.Errorf("%s: %s", rule, fix)
		}
	}
}

// A queue to which no line sends packets, paused instead of the data's, is not reported to lack ECN: the fault is
// the wrong priority.
func TestWrongPriorityIsOneFault(t *testing.T) {
	c := leaf()
	c.QoS.Queues[4] = Queue{Name: "q4", At: at(61), Pause: Say(4, at(62))}
	c.QoS.DSCP[30] = Say(uint8(4), at(63))
	if s := severity(c, "ecn-missing"); s != Warning {
		t.Errorf("another lossless queue without ECN: %q", s)
	}
	c.QoS.DSCP[30] = Said[uint8]{}
	if s := severity(c, "ecn-missing"); s != "" || severity(c, "pfc-class") == "" {
		t.Errorf("another lossless queue to which nothing goes: ecn-missing %q, pfc-class %q", s, severity(c, "pfc-class"))
	}
	c.QoS.Queues[3].Pause = Said[int]{}
	c.QoS.Queues[3].PG = Said[Pause]{}
	if s := severity(c, "ecn-missing"); s != "" || severity(c, "pfc-class") != Error {
		t.Errorf("ecn-missing %q, pfc-class %q", s, severity(c, "pfc-class"))
	}
}

// SONiC's database and its FRR file have one AS number.
func TestTwoNumbersOfOneSwitch(t *testing.T) {
	for asn, want := range map[uint32]Severity{65000: "", 65001: Warning} {
		db, frr := leaf(), &Config{OS: FRR, File: "frr.conf", Hostname: Say("leaf", at(99)),
			BGP: &BGP{ASN: Say(uint32(65000), Place{File: "frr.conf", Line: 1})}}
		db.OS, db.ASN = SONiC, Say(asn, at(5))
		var got Severity
		for _, f := range linted(db, frr) {
			if f.Rule == "bgp-as-mismatch" {
				got = f.Severity
			}
		}
		if got != want {
			t.Errorf("AS %d: %q, want %q", asn, got, want)
		}
	}
}

// The table of a port has its watchdog, like the rule; a port's watchdog changes no other's.
func TestWatchdogOfAllPorts(t *testing.T) {
	c := leaf()
	q := *c.Ports[0]
	q.Name, q.Number, q.Watchdog = "Ethernet2", 2, Said[bool]{}
	c.Ports = append(c.Ports, &q)
	for _, x := range []struct {
		on    Said[bool]
		other bool
		want  Severity
	}{{Said[bool]{}, false, Warning}, {Say(true, at(91)), false, Warning}, {Say(false, at(91)), false, Warning}} {
		c.Ports[0].Watchdog = x.on
		views := c.Views()
		if got := views[len(views)-1].Watchdog; got != x.other || severity(c, "watchdog-missing") != x.want {
			t.Errorf("%+v: the other port %v, rule %q", x.on, got, severity(c, "watchdog-missing"))
		}
	}
}

// A partial text does not show the running configuration. Missing LLDP is reported if a port requests it by name,
// and noted if it does by default.
func TestLLDPOfParts(t *testing.T) {
	for _, c := range []struct {
		part bool
		pfc  Said[PFCMode]
		want Severity
	}{{false, Said[PFCMode]{V: PFCAuto}, Error}, {true, Said[PFCMode]{V: PFCAuto}, Info},
		{true, Say(PFCAuto, at(91)), Error}} {
		x := leaf()
		x.LLDP, x.Part, x.Ports[0].PFC = Said[bool]{}, c.part, c.pfc
		if got := severity(x, "lldp-off"); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// Thresholds that no device accepts are errors; those that one accepts and runs are advice.
func TestThresholdLevels(t *testing.T) {
	for _, c := range []struct {
		what string
		set  func(q *Queue)
		want Severity
	}{
		{"right", func(*Queue) {}, ""},
		{"a pause that ends above where it began", func(q *Queue) { q.PG.V.XOn = q.PG.V.XOff + 1 }, Error},
		{"a pause that ends where it began", func(q *Queue) { q.PG.V.XOn = q.PG.V.XOff }, Warning},
		{"the same without WRED", func(q *Queue) { q.WRED, q.PG.V.XOn = Said[WRED]{}, q.PG.V.XOff }, Warning},
		{"marks from below xON on", func(q *Queue) { q.WRED.V.Min = q.PG.V.XOn }, Warning},
		{"pauses before all is marked", func(q *Queue) { q.WRED.V.Max = q.PG.V.XOff }, Error},
		{"marks that end before they begin", func(q *Queue) { q.WRED.V.Min = q.WRED.V.Max + 1 }, Error},
	} {
		x := leaf()
		c.set(&x.QoS.Queues[3])
		if got := severity(x, "threshold-order"); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
