package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/unit"
)

// columns prints a table as SONiC does.
func columns(heads string, rows ...string) string {
	s, n := "", len(strings.Fields(heads))
	for i, r := range append([]string{heads, strings.Repeat("---------- ", n)}, rows...) {
		for _, c := range strings.Fields(r) {
			s += fmt.Sprintf("%10s  ", c)
		}
		if s += "\n"; i > 0 && len(strings.Fields(r)) != n {
			panic(r)
		}
	}
	return s
}

// portCounters is `show interfaces counters` of a SONiC switch after so many seconds: three ports feed Ethernet8.
func portCounters(util string, seconds int) string {
	row := func(name string, rx, tx int, util string) string {
		return fmt.Sprintf("%s U %d N/A 1.10%% 0 0 0 %d N/A %s 0 0 0", name, 1000+rx*seconds, 1000+tx*seconds, util)
	}
	return fmt.Sprintf("admin@leaf1:~$ date +%%s.%%N\n%d.0\nadmin@leaf1:~$ show interfaces counters\n", 1000+seconds) +
		columns("IFACE STATE RX_OK RX_BPS RX_UTIL RX_ERR RX_DRP RX_OVR TX_OK TX_BPS TX_UTIL TX_ERR TX_DRP TX_OVR",
			row("Ethernet0", 5_000_000, 100_000, "1.10%"), row("Ethernet4", 5_000_000, 100_000, "1.10%"),
			row("Ethernet8", 100_000, 11_000_000, util), row("Ethernet12", 1_000_000, 100_000, "1.10%"))
}

// watermarks is `show queue watermark unicast` with a long queue at Ethernet8.
func watermarks(long int) string {
	row := func(name string, n int) string { return fmt.Sprintf("%s 0 0 0 %d 0 0 0 0", name, n) }
	return "admin@leaf1:~$ show queue watermark unicast\nEgress shared pool occupancy per unicast queue:\n" +
		columns("Port UC0 UC1 UC2 UC3 UC4 UC5 UC6 UC7", row("Ethernet0", 9144), row("Ethernet4", 9144),
			row("Ethernet8", long), row("Ethernet12", 9144))
}

// sending is `show pfc counters` with pauses to the feeding ports.
func sending(n int) string {
	row := func(name string, n int) string { return fmt.Sprintf("%s 0 0 0 %d 0 0 0 0", name, n) }
	return "admin@leaf1:~$ show pfc counters\n" + strings.ReplaceAll(columns(
		"Port_Tx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7", row("Ethernet0", 10+n), row("Ethernet4", 10+2*n),
		row("Ethernet12", 10+3*n)), "_", " ")
}

// TestCongestionWithoutQueueCounters finds congestion by pauses, port utilization and watermarks alone. Where these
// speak of congestion and do not decide, the answer is undecided and names the missing command.
func TestCongestionWithoutQueueCounters(t *testing.T) {
	both := func(of func(seconds int) string) [2]string { return [2]string{of(0), of(10)} }
	for _, c := range []struct {
		name      string
		show      [2]string
		found     string
		undecided string
	}{
		{"pauses, utilization and watermark", both(func(s int) string {
			return portCounters("99.59%", s) + sending(1000*s) + watermarks(3_812_000)
		}), "incast, likely, leaf1 Ethernet8", ""},
		{"pauses and utilization", both(func(s int) string {
			return portCounters("99.59%", s) + sending(1000*s)
		}), "incast, likely, leaf1 Ethernet8", ""},
		{"pauses and packets", both(func(s int) string {
			return portCounters("N/A", s) + sending(1000*s)
		}), "incast, possible, leaf1 Ethernet8", ""},
		{"utilization and watermark", both(func(s int) string {
			return portCounters("99.59%", s) + watermarks(3_812_000)
		}), "incast, possible, leaf1 Ethernet8", ""},
		{"utilization and a queue of few frames", both(func(s int) string {
			return portCounters("99.59%", s) + watermarks(18_000)
		}), "", ""},
		{"half of the line rate, watermark", both(func(s int) string {
			return portCounters("50.00%", s) + watermarks(3_812_000)
		}), "", ""},
		{"utilization alone", both(func(s int) string { return portCounters("99.59%", s) }), "",
			"leaf1 Ethernet8 sends at 99.6 % of line rate, and no counter shows its queue: " +
				"add `show queue watermark unicast` of all ports of leaf1"},
		{"pauses alone", both(func(s int) string { return sending(1000 * s) }), "",
			"60,000 pauses of priority 3 start at leaf1, and no counter shows the congestion point: " +
				"add `show queue counters` of all ports of leaf1"},
	} {
		read := func(text string) []counters.Snapshot {
			all, unknown, err := counters.Read("leaf1.txt", []byte(text))
			if err != nil || len(unknown) > 0 {
				t.Fatal(c.name, err, unknown)
			}
			for i := range all { // of the neighbors only the names are known
				for k := range all[i].Ports {
					p := &all[i].Ports[k]
					p.Peer = counters.Peer{Device: "host-" + strings.TrimPrefix(p.Name, "Ethernet"), Port: "eth0"}
				}
			}
			return all
		}
		r, err := Diagnose(Input{Before: read(c.show[0]), After: read(c.show[1])})
		if err != nil {
			t.Fatal(c.name, err)
		}
		found := ""
		for _, x := range r.Findings {
			found += fmt.Sprintf("%s, %v, %s %s", x.Cause, x.Sure, x.Device, x.Port)
		}
		if found != c.found || r.Undecided != c.undecided {
			t.Errorf("%s: found %q, undecided %q", c.name, found, r.Undecided)
		}
		fed := strings.Contains(fmt.Sprint(r.Findings), "at least 3 ports of the switch feed it")
		if want := c.name == "utilization and watermark"; fed != want {
			t.Errorf("%s: feeding ports named: %v", c.name, fed)
		}
	}
}

// TestPausesWithoutPriority leaves pauses whose priority is unknown undecided, and names the command that shows it.
func TestPausesWithoutPriority(t *testing.T) {
	l := healthy()
	for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
		for _, s := range m {
			if s.Kind == counters.Switch {
				s.Format = "eos-pfc"
			}
			for i := range s.Ports {
				p := &s.Ports[i]
				p.RxPFC, p.TxPFC = [8]counters.Count{}, [8]counters.Count{}
				p.Lossless = counters.Said[uint8]{}
				p.TxPFCAll = counters.Of(7)
			}
		}
	}
	l.now("leaf2", "Ethernet1/9").TxPFCAll.V += 5_000
	r, err := Diagnose(l.input())
	if err != nil {
		t.Fatal(err)
	}
	want := "5,000 pauses start at leaf2, without their priority: add `show interfaces priority-flow-control counters " +
		"detail` of all ports of leaf2"
	if len(r.Findings) > 0 || r.Undecided != want {
		t.Errorf("%+v, undecided %q, want %q", r.Findings, r.Undecided, want)
	}
}

// TestFullByBytes finds a fully used port by its bytes, its speed and the interval, in any system.
func TestFullByBytes(t *testing.T) {
	l := healthy()
	p := l.now("leaf1", "Ethernet1/1")
	p.Queues[data].TxBytes.V += uint64(unit.InTime(400*unit.Gbps, 10*unit.Second)) - 4200*often
	p.Queues[data].TxPackets.V += 100 * often
	p.Queues[data].Peak = counters.Of(2_000_000)
	r, err := Diagnose(l.input())
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Grade != Congestion || r.Findings[0].Sure != Possible ||
		r.Findings[0].Port != "Ethernet1/1" {
		t.Errorf("%v, %+v", err, r)
	}
}
