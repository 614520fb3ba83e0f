package counters

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample is a text and the values that must be parsed: "port counter" by the names of Each.
type sample struct {
	name, text string
	format     string
	want       map[string]uint64
}

// samples are the forms of releases and tools that are not written.
var samples = []sample{
	{"queues with more columns, and a queue in one line", `leaf-1# show queuing interface e1/7
Egress Queuing for Ethernet1/7 [System]
+-------------------------------------------------------------------+
|                              QOS GROUP 0                          |
+-------------------------------------------------------------------+
|                |  Unicast       | OOBFC Unicast  |  Multicast     |
|        Tx Pkts |              10|              20|              30|
|   Dropped Pkts |               1|               0|               2|
|                              QOS GROUP 4                          |
|        Tx Pkts |              51|   Dropped Pkts |               7|
Ingress Queuing for Ethernet1/7
Ingress MMU Drop Pkts 11
PFC Statistics
TxPPP:                    21, RxPPP:                    22
COS QOS Group        PG   TxPause   TxCount         RxPause         RxCount
   0         -         -  Inactive         0        Inactive               0
   4         4         4  Active           8        Active                 9
`, "nxos-queuing", map[string]uint64{"Ethernet1/7 queue 0 tx packets": 60,
		"Ethernet1/7 queue 0 dropped packets": 3, "Ethernet1/7 queue 4 tx packets": 51,
		"Ethernet1/7 queue 4 dropped packets": 7, "Ethernet1/7 in discards": 11,
		"Ethernet1/7 tx pfc, all": 21, "Ethernet1/7 tx pfc 4": 8, "Ethernet1/7 rx pfc 4": 9}},
	{"a part of show queuing, cut out with begin", `N9K# show queuing interface ethernet 1/3 |` +
		` begin "QOS GROUP 3"
|                              QOS GROUP 3         |
|               Tx Pkts |         2763|               0|
| WRED & Tail Drop Pkts |           4|               0|
`, "nxos-queuing", map[string]uint64{"Ethernet1/3 queue 3 tx packets": 2763,
		"Ethernet1/3 queue 3 dropped packets": 4}},
	{"groups of the switch's own packets behind those of priorities", `leaf2# show queuing interface ethernet 1/5
Egress Queuing for Ethernet1/5 [System]
|                              QOS GROUP 3                    |
|                   Tx Pkts |      9012345678|               0|
| WRED/AFD & Tail Drop Pkts |         8841022|               0|
|       WD & Tail Drop Pkts |              12|               0|
|                      CONTROL QOS GROUP                      |
|                   Tx Pkts |           12345|               0|
|            Tail Drop Pkts |               0|               0|
|                         SPAN QOS GROUP                      |
|                   Tx Pkts |              77|               0|
`, "nxos-queuing", map[string]uint64{"Ethernet1/5 queue 3 tx packets": 9012345678,
		"Ethernet1/5 queue 3 dropped packets": 8841022}},
	{"EOS' discards with their sum", `leaf1#show interfaces counters discards
Port              InDiscards       OutDiscards
Et1/1                      0           1884221
Totals                     0           1884221
`, "eos-discards", map[string]uint64{"Ethernet1/1 out discards": 1884221}},
	{"a bundle's queues, blanks otherwise", `Global statistics status :   enabled
Ethernet1/2

Service-policy (queuing) output: out-q-policy

Class-map (queuing): c-out-8q-q3 (match-any)
queue dropped pkts: 12345
queue transmit pkts: 2175032764
`, "nxos-policy-map", map[string]uint64{"Ethernet1/2 queue 3 dropped packets": 12345}},
	{"PFC of all ports", `Port               Mode Oper(VL bmap)  RxPPP      TxPPP
============================================================
Ethernet1/2        Auto On   (8)       4088353    1890
Ethernet1/3        Auto Off            0          12
`, "nxos-pfc", map[string]uint64{"Ethernet1/2 rx pfc, all": 4088353, "Ethernet1/3 tx pfc, all": 12}},
	{"EOS' JSON of pauses in all", "sw1#show priority-flow-control counters | json\n{\n \"" +
		"interfaceCounters\": {\n" +
		"  \"Ethernet1/1\": { \"rxFrames\": 7, \"txFrames\": 9 }\n }\n}\n", "eos-pfc",
		map[string]uint64{"Ethernet1/1 rx pfc, all": 7, "Ethernet1/1 tx pfc, all": 9}},
	{"EOS' JSON without a prompt", "{\n  \"intfQueueCounters\": {\n    \"Ethernet2\": {\"queueCounters\": " +
		"{\"3\": \"41\"}}\n  }\n}\n", "eos-ecn", map[string]uint64{"Ethernet2 queue 3 marked": 41}},
	{"a dump without types", "{\n\"COUNTERS_PORT_NAME_MAP\": {\"Ethernet0\": \"oid:0x1\"},\n\"" +
		"COUNTERS:oid:0x1\": {\n" +
		"\"SAI_PORT_STAT_PFC_3_RX_PKTS\": \"17\", \"SAI_PORT_STAT_IF_IN_ERRORS\": \"N/A\"}}\n", "sonic-db",
		map[string]uint64{"Ethernet0 rx pfc 3": 17}},
	{"rdma with a line a counter", "root@h1:~# rdma -p statistic show\nlink mlx5_0/1\n\tout_of_buffer 135\n" +
		"\tnp_cnp_sent 9\nlink mlx5_1/1\n\tpacket_seq_err 4\n", "rdma-statistic",
		map[string]uint64{"mlx5_0/1 out_of_buffer": 135, "mlx5_0/1 np_cnp_sent": 9,
			"mlx5_1/1 packet_seq_err": 4}},
	{"a loop over counters", "u@h3:~$ for f in /sys/class/infiniband/mlx5_0/ports/1/hw_counters/*; do " +
		"echo $f $(cat $f); done\n/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence 17\n",
		"hw-counters", map[string]uint64{"mlx5_0/1 out_of_sequence": 17}},
	{"Broadcom's names", "$ ethtool -S eth1 | grep pri3\n     rx_pfc_ena_frames_pri3: 5\n     " +
		"tx_bytes_pri3: 77\n",
		"ethtool", map[string]uint64{"eth1 rx pfc 3": 5, "eth1 queue 3 tx bytes": 77}},
	{"AMD's names", "root@h:/# ethtool -S ens5\nNIC statistics:\n     frames_rx_pripause: 12\n" +
		"     rx_pripause_3_1us_count: 90\n", "ethtool",
		map[string]uint64{"ens5 rx pfc, all": 12, "ens5 rx pause duration 3": 90}},
}

func TestSamples(t *testing.T) {
	for _, c := range samples {
		t.Run(c.name, func(t *testing.T) {
			all, unknown, err := Read("x.txt", []byte(c.text))
			if err != nil || len(all) != 1 || len(unknown) > 0 || all[0].Format != c.format {
				t.Fatal(all, unknown, err)
			}
			got := map[string]uint64{}
			for i := range all[0].Ports {
				p := &all[0].Ports[i]
				if strings.HasPrefix(p.Name, "Total") {
					t.Errorf("a sum is taken for a port: %s", p.Name)
				}
				p.Each(func(name string, c *Count, _ bool) {
					if c.Is {
						got[p.Name+" "+name] = c.V
					}
				})
			}
			for name, v := range c.want {
				if got[name] != v {
					t.Errorf("%s: %d, should be %d; all: %v", name, got[name], v, got)
				}
			}
		})
	}
}

// TestClock checks show clock against the seconds that date -u prints for it.
func TestClock(t *testing.T) {
	for clock, want := range map[string]Moment{
		"10:00:10.000 UTC Mon Nov 30 2026":                  {Seconds: 1796032810},
		"*10:00:10.25 UTC Mon Nov 30 2026":                  {Seconds: 1796032810, Nanos: 250_000_000},
		".23:59:59 CET Thu Feb 29 2024":                     {Seconds: 1709251199},
		"00:00:00.000 UTC Fri Mar 01 2024":                  {Seconds: 1709251200},
		"00:00:00.000 UTC Thu Jan  1 1970":                  {},
		"Sat Jan  1 00:00:01 2000\nTimezone: UTC":           {Seconds: 946684801},
		"Time source is NTP\n00:00:00.5 UTC Fri Jan 1 2100": {Seconds: 4102444800, Nanos: 500_000_000},
	} {
		for _, text := range []string{"leaf1# show clock\n" + clock, "leaf1# sh clock\n" + clock + "\n\n"} {
			all, unknown, err := Read("x.txt", []byte(text))
			if err != nil || len(unknown) > 0 || len(all) != 1 {
				t.Fatal(clock, all, unknown, err)
			}
			want.Is, want.Line = true, all[0].At.Line
			if all[0].At != want {
				t.Errorf("%q: %+v, want %+v", clock, all[0].At, want)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	rows := "  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n" +
		"---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
	var many strings.Builder
	many.WriteString(rows)
	for i := range maxPorts + 1 {
		fmt.Fprintf(&many, "Eth%06d       0       0       0       0       0       0       0       0\n", i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", " \n\n", "is empty"},
		{"binary", "\x7fELF\x00\x01", "binary file"},
		{"another program's", "hello\nworld\n", "holds no output that is read"},
		{"a scrape", "# TYPE node_ethtool_rx_prio3_pause counter\nnode_ethtool_rx_prio3_pause{device=\"eth0\"} 1\n",
			"railyard diagnose --prometheus URL"},
		{"cut off within a row", rows + "Ethernet0       0       0       0      1", "truncated"},
		{"cut off within JSON", "{\n  \"COUNTERS:oid:0x1\": {\n    \"SAI_PORT", "truncated"},
		{"too many interfaces", many.String(), "20000 interfaces"},
		{"one long line", strings.Repeat("x", maxLine+1), "1 MiB"},
		{"65 MB", strings.Repeat("Ethernet1 is up, line protocol is up\n", 65<<20/37+1), "64 MiB"},
		{"JSON in JSON", "sw# show priority-flow-control counters watchdog | json\n{\"interfaces\": " +
			strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000) + "}\n", "8 deep"},
	} {
		_, _, err := Read("x.txt", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestBroken: for any part removed from a session, reading ends without a panic.
func TestBroken(t *testing.T) {
	p := Port{Name: "Ethernet1", PFC: Say(true), Up: Say(true), Peer: Peer{Device: "a", Port: "b"}}
	p.Each(func(_ string, c *Count, _ bool) { *c = Of(7) })
	for _, system := range Systems {
		text := Show(system, Snapshot{Device: "d", Ports: []Port{p}})
		for at := 0; at < len(text); at += 1 + len(text)/200 {
			Read("x.txt", text[:at])
			Read("x.txt", text[at:])
		}
	}
}

// TestTorn: lines of a session may be lost, doubled, torn or reordered. Reading reports or skips that, and never
// panics.
func TestTorn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		system := rapid.SampledFrom(Systems).Draw(t, "system")
		s := drawn(t, system)
		s.Ports = s.Ports[:1]
		lines := strings.SplitAfter(string(Show(system, s)), "\n")
		for range rapid.IntRange(1, 30).Draw(t, "times") {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			k := rapid.IntRange(0, len(lines)-1).Draw(t, "other")
			at := rapid.IntRange(0, len(lines[i])).Draw(t, "at")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				lines[i] = ""
			case 1:
				lines[i] += lines[k]
			case 2:
				lines[i] = lines[i][:at]
			case 3:
				lines[i], lines[k] = lines[k], lines[i]
			case 4:
				junk := rapid.SampledFrom([]string{"-1", "99999999999999999999", "|", ":", "{", "\"",
					"  --  --", "é"})
				lines[i] = lines[i][:at] + junk.Draw(t, "junk") + lines[i][at:]
			}
		}
		all, _, err := Read("x.txt", []byte(strings.Join(lines, "")))
		if err == nil {
			Join(all)
		}
	})
}

// TestTooLarge: a counter beyond 64 bits is reported and ignored, and its neighbours in the row are read.
func TestTooLarge(t *testing.T) {
	all, unknown, err := Read("x.txt", []byte("s# show interface counters errors\n\nPort       Align-Err    "+
		"FCS-Err   Xmit-Err    Rcv-Err\nEth1/1             0         17 18446744073709551616       19\n"))
	if err != nil || len(unknown) != 1 || !strings.Contains(unknown[0].Why, "counter of 64 bits") {
		t.Fatal(unknown, err)
	}
	if p := all[0].Ports[0]; p.CRC != (Count{V: 17, Line: 4, Is: true}) || p.OutErrors.Is {
		t.Error(p.CRC, p.OutErrors)
	}
}
