package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestPauseTime checks that the time of pauses decides where it is known: pauses of less than 0.1 % of 10 s are no
// finding, longer ones are, and so are pauses without a time.
func TestPauseTime(t *testing.T) {
	for _, c := range []struct {
		device, port string
		micros       uint64 // 0: not counted
		want         string
	}{
		{"host-4", "eth0", 3, ""},
		{"host-4", "eth0", 9_999, ""},
		{"host-4", "eth0", 300_000, "slow-receiver"},
		{"host-4", "eth0", 0, "slow-receiver"},
		{"leaf2", "Ethernet1/1", 3, ""},
		{"leaf2", "Ethernet1/1", 300_000, "incast"},
	} {
		l := healthy()
		l.pause(c.device, c.port, 9_000)
		l.before[c.device].Find(c.port).TxDur[data] = counters.Of(100)
		l.now(c.device, c.port).TxDur[data] = counters.Of(100 + c.micros)
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		found, noted := named(r), strings.Contains(strings.Join(r.Notes, "\n"), " of 10 s: less than 0.1 %, no finding")
		if found != c.want || noted != (c.want == "") || r.Undecided != "" {
			t.Errorf("%+v: found %q, notes %q, undecided %q", c, found, r.Notes, r.Undecided)
		}
	}
}

// TestBriefPausesOfAnIdleHost checks that a host which sent more pauses than it got packets is no storm if they lasted
// for microseconds.
func TestBriefPausesOfAnIdleHost(t *testing.T) {
	l := healthy()
	q := &l.now("leaf2", "Ethernet1/2").Queues[data]
	q.TxPackets.V, q.TxBytes.V, q.Marked.V = 27, 7+20*4200, 7
	l.pause("host-4", "eth0", 30)
	l.before["host-4"].Find("eth0").TxDur[data] = counters.Of(100)
	l.now("host-4", "eth0").TxDur[data] = counters.Of(103)
	if r, err := Diagnose(l.input()); err != nil || len(r.Findings) > 0 {
		t.Errorf("%v, %+v", err, r.Findings)
	}
}

// TestNICsOwnCounters checks that the packets which a NIC received tell a slow receiver from a storm where its switch
// shows none, and that PCIe stalls do by themselves.
func TestNICsOwnCounters(t *testing.T) {
	const text = `root@host7:~# ethtool -S eth0
NIC statistics:
     tx_prio3_pause: %d
     tx_prio3_pause_duration: %d
%s`
	for _, c := range []struct {
		name, before, after string
		want                Sure
		stalled             bool
	}{
		{"packets", "     rx_prio3_packets: 880000000\n", "     rx_prio3_packets: 900000000\n", Likely, false},
		{"fewer packets than pauses", "     rx_prio3_packets: 880000000\n", "     rx_prio3_packets: 880000100\n",
			Possible, false},
		{"stalled for seconds", "     outbound_pci_stalled_wr_events: 0\n", "     outbound_pci_stalled_wr_events: 8\n",
			Likely, true},
		{"stalled in the last second", "     outbound_pci_stalled_wr: 0\n", "     outbound_pci_stalled_wr: 41\n",
			Likely, true},
		{"stalled less than the bound", "     outbound_pci_stalled_wr: 0\n", "     outbound_pci_stalled_wr: 5\n",
			Possible, false},
		{"reads stalled", "     outbound_pci_stalled_rd_events: 0\n", "     outbound_pci_stalled_rd_events: 8\n",
			Possible, false},
	} {
		read := func(pauses, micros int, more string) []counters.Snapshot {
			all, unknown, err := counters.Read("host7.txt", fmt.Appendf(nil, text, pauses, micros, more))
			if err != nil || len(unknown) > 0 {
				t.Fatal(err, unknown)
			}
			return all
		}
		r, err := Diagnose(Input{Before: read(120_033, 600_000, c.before), After: read(2_120_033, 7_200_000, c.after)})
		if err != nil || len(r.Findings) != 1 {
			t.Fatalf("%s: %v, %+v", c.name, err, r)
		}
		x := r.Findings[0]
		if stalled := strings.Contains(x.Says, "PCIe"); x.Sure != c.want || stalled != c.stalled {
			t.Errorf("%s: %v, %s", c.name, x.Sure, x.Says)
		}
	}
}

// TestNeighborOfAnUnknownTable checks that pauses which a switch without its LLDP table receives are no NIC's fault
// where other switches have theirs: its neighbor may be a switch.
func TestNeighborOfAnUnknownTable(t *testing.T) {
	for _, c := range []struct {
		without []string // LLDP
		want    string
		open    bool
	}{
		{nil, "slow-receiver", false},
		{[]string{"leaf2"}, "", true},
		{[]string{"leaf1", "leaf2", "spine1"}, "slow-receiver", false},
	} {
		l := healthy()
		l.pause("host-4", "eth0", 9_000)
		for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
			for _, d := range c.without {
				for k := range m[d].Ports {
					m[d].Ports[k].Peer = counters.Peer{}
				}
			}
		}
		if l.mute["host-4"] = len(c.without) > 0; len(c.without) == 1 { // a host that sends LLDP is known by it
			l.mute["host-3"] = true
		}
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		if found := named(r); found != c.want || strings.Contains(r.Undecided, "neighbor of leaf2 Ethernet1/2") != c.open {
			t.Errorf("without the tables of %v: found %q, undecided %q", c.without, found, r.Undecided)
		}
	}
}

// named are the causes of a report.
func named(r *Report) (all string) {
	for _, x := range r.Findings {
		all += x.Cause
	}
	return all
}
