package counters

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestCutShort: a session that ends early, after any of its lines, gives no wrong counter. A port's values are
// those of the whole session, or missing.
func TestCutShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		system := rapid.SampledFrom(Systems).Draw(t, "system")
		text := Show(system, drawn(t, system))
		whole, _, err := Read("x.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		n := rapid.IntRange(1, len(lines)).Draw(t, "lines")
		part, _, err := Read("x.txt", bytes.Join(lines[:n], nil))
		if err != nil {
			return // only a prompt, or half of a JSON document: rejected as a whole
		}
		says := map[[3]string]uint64{}
		each := func(all []Snapshot, visit func(key [3]string, c *Count)) {
			for i := range all {
				for k := range all[i].Ports {
					p := &all[i].Ports[k]
					p.Each(func(name string, c *Count, _ bool) {
						if c.Is {
							visit([3]string{all[i].Format, p.Name, name}, c)
						}
					})
				}
			}
		}
		each(whole, func(key [3]string, c *Count) { says[key] = c.V })
		each(part, func(key [3]string, c *Count) {
			if v, ok := says[key]; !ok || v != c.V {
				t.Fatalf("%q is %d of %d lines, and %d (%v) of all", key, c.V, n, v, ok)
			}
		})
	})
}

// TestPartOfNumber: digits of a damaged or broken number are never a separate counter, and no cell is mistaken for
// its neighbour.
func TestPartOfNumber(t *testing.T) {
	const (
		port  = "leaf1# show interface\nEthernet1/1 is up\n  MTU 9216 bytes, BW 100000000 Kbit , DLY 10 usec\n  RX\n"
		queue = "leaf1# show queuing interface\nEgress Queuing for Ethernet1/1 [System]\n|   QOS GROUP 3   |\n"
		pfc   = "admin@leaf1:~$ show pfc counters\n  Port Rx  PFC0  PFC1  PFC2  PFC3  PFC4  PFC5  PFC6  PFC7\n" +
			"---------  ----  ----  ----  ----  ----  ----  ----  ----\n"
		detail = "leaf1# show interface priority-flow-control detail\n"
		nic    = "root@h1:~# ethtool -S eth0\nNIC statistics:\n"
	)
	for _, c := range []struct {
		text, want string
		unknown    bool
	}{
		{port + "    500 giants  8O5 CRC  0 no buffer\n", "Ethernet1/1: giants 500", true},
		{port + "    500 giants  8?5 CRC  0 no buffer\n", "Ethernet1/1: giants 500", true},
		{port + "    500 giants  -85 CRC  0 no buffer\n", "Ethernet1/1: giants 500", true},
		{port + "    500 giants  8 5 CRC  0 no buffer\n", "Ethernet1/1: giants 500", true},
		{port + "    500 giants  8\n5 CRC  0 no buffer\n", "Ethernet1/1: giants 500", true},
		{port + "    500 giants  85 CRC  0 no buffer\n", "Ethernet1/1: crc errors 85, giants 500", false},
		{"leaf1# show interface priority-flow-control\nRxPPP: No. of PPP (pfc) frames received\nTxPPP: No. of PPP (pfc) " +
			"frames sent\nPort               Mode Oper(VL bmap)  RxPPP      TxPPP\nEthernet1/1 On Off 0 7\n",
			"Ethernet1/1: tx pfc, all 7", false},
		{queue + "|  Tx Pkts |  1294|  3|\n", "Ethernet1/1: queue 3 tx packets 1297", false},
		{port + "    85 CRC\n\nEthernet1/- is up\n  RX\n    7 CRC\n", "Ethernet1/1: crc errors 85", true},
		{port + "    85 CRC\n\n  RX\n    7 CRC\n    9 giants\n", "", true},
		{queue + "|  Tx Pkts |  1294|\n|   QOS GROUP 3   |\n|  Tx Pkts |  9|\n", "", true},
		{queue + "|  Tx Pkts |  12 94|  3|\n", "", true},
		{queue + "|  Tx Pkts |  129\n", "", true},
		{pfc + "Ethernet0   847   137   773   813   719   439   427   610\n",
			"Ethernet0: rx pfc 0 847, rx pfc 1 137, rx pfc 2 773, rx pfc 3 813, rx pfc 4 719, rx pfc 5 439, " +
				"rx pfc 6 427, rx pfc 7 610", false},
		{pfc + "Ethernet0   -   137   773   813   719   439   427   610\n",
			"Ethernet0: rx pfc 1 137, rx pfc 2 773, rx pfc 3 813, rx pfc 4 719, rx pfc 5 439, rx pfc 6 427, " +
				"rx pfc 7 610", false},
		{pfc + "Ethernet0         137   773   813   719   439   427   610\n",
			"Ethernet0: rx pfc 1 137, rx pfc 2 773, rx pfc 3 813, rx pfc 4 719, rx pfc 5 439, rx pfc 6 427, " +
				"rx pfc 7 610", true},
		{pfc + "Ethernet0   8   137   773   813   719   439   427\n", "", true},
		{pfc + "Ethernet0   847   137   773   719   439   427   610\n", "", true}, // empty instead of 813
		{nic + "     rx_prio3_pause: 8\n13\n", "", true},
		{nic + "     rx_prio3_pause: 813\n1700000000.5\n", "eth0: rx pfc 3 813", true},
		{nic + "     rx_prio3_pause: 81\n1700000000\n     rx_prio4_pause: 7\n", "eth0: rx pfc 4 7", true},
		{"root@h1:~# rdma statistic show\nlink mlx5_0/1 np_cnp_sent 4 38 out_of_buffer 7\n", "", true},
		{queue + "|  Tx Pkts |  12|\nEgress Queuing for Ethernet1/1 0 [System]\n|   QOS GROUP 3   |\n" +
			"|  Tx Pkts |  9|\n",
			"Ethernet1/1: queue 3 tx packets 12", true},
		{queue + "|  Tx Pkts |  12|\nIngress Queuing for Ethernet1/1\n0\nIngress MMU Drop Pkts  9\n",
			"Ethernet1/1: queue 3 tx packets 12", true},
		{detail + "Ethernet1/10\n  Oper Mode: On\n  VL bitmap: (8)\n\n  Oper Mode: On\n  Rx |1|2|3|4|5|6|7|8\n",
			"", true},
		{port + "    85 CRC\n  TX\n    7 output error\n  RX\n    9 giants\n", "", true},
		{detail + "Ethernet1/10\n  Rx |1|2|3|4|5|6|7 7|8\n\nEthernet1/1\n1\n  Tx |9|9|9|9|9|9|9|9\n",
			"Ethernet1/10: rx pfc 0 1, rx pfc 1 2, rx pfc 2 3, rx pfc 3 4, rx pfc 4 5, rx pfc 5 6, rx pfc 7 8", true},
		{"leaf1# show policy-map interface\n  Global statistics status :   enabled\n\nEthernet1/9\n\n" +
			"  Service-policy (queuing) output:   p\n    Class-map (queuing):   c-out-8q-q3 (match-any)\n\n" +
			"Ethernet1/1 0\n\n      queue transmit pkts : 7\n", "", true},
		{detail + "Ethernet1/1\n  Rx |1|2|3|4|5|6|7|8\n  Rx |9|9|9|9|9|9|9|9\n", "", true},
		{detail + "Ethernet1/1\n  Rx |1|2|3|4|5|6|7|8\n--More--\n  Tx |9|9|9|9|9|9|9|9\n",
			"Ethernet1/1: rx pfc 0 1, rx pfc 1 2, rx pfc 2 3, rx pfc 3 4, rx pfc 4 5, rx pfc 5 6, rx pfc 6 7, " +
				"rx pfc 7 8, tx pfc 0 9, tx pfc 1 9, tx pfc 2 9, tx pfc 3 9, tx pfc 4 9, tx pfc 5 9, tx pfc 6 9, " +
				"tx pfc 7 9", false},
		{port + "    85 CRC\n\nEthernet1/1 0 is up\n  RX\n    7 CRC\n", "Ethernet1/1: crc errors 85", true},
		{pfc + " --More-- \r          \rEthernet0   8   1   7   8   7   4   4   6\n" +
			"2026 Nov 30 06:00:00 leaf1 %ETHPORT-5-IF_DOWN: Interface Ethernet0 is down 17\n",
			"Ethernet0: rx pfc 0 8, rx pfc 1 1, rx pfc 2 7, rx pfc 3 8, rx pfc 4 7, rx pfc 5 4, rx pfc 6 4, rx pfc 7 6",
			false},
		{"root@h1:~# ip -o link\n2: eth0: <UP,LOWER_UP> mtu 9?16 qdisc mq\n" +
			"3: eth1: <UP> mtu 9216 qdisc mq qlen 1000\n4: eth2: <UP> mtu 9216 qdisc mq\n", "", true},
	} {
		all, unknown, err := Read("x.txt", []byte(c.text))
		if err != nil {
			t.Fatal(c.text, err)
		}
		got := ""
		for i := range all {
			for k := range all[i].Ports {
				got += spelt(&all[i].Ports[k])
			}
		}
		if got != c.want || (len(unknown) > 0) != c.unknown {
			t.Errorf("%sread %q, want %q; not understood: %v", c.text, got, c.want, unknown)
		}
	}
	all, _, err := Read("x.txt", []byte("root@h1:~# ethtool eth0\nSettings for eth0:\n\tSpeed: 100000Mb/s\n"+
		"\tLink detected: y\n"+nic+"     rx_prio3_pause: 1\n"))
	if err != nil || strings.Contains(all[0].Command, "-S") || all[0].Ports[0].Up.Is {
		t.Errorf("%v: half of the word yes says that a link is down: %+v", err, all)
	}
}

// TestRanBack: a counter that decreased was cleared, unless another one of its output continued, or its digits are
// the first ones of the earlier number.
func TestRanBack(t *testing.T) {
	for _, c := range []struct {
		was, is     [2]uint64 // bytes received, pauses received
		grew, bytes Count
	}{
		{[2]uint64{5_000_000, 800}, [2]uint64{1_000, 7}, Of(7), Of(1_000)},
		{[2]uint64{5_000_000, 800}, [2]uint64{6_000_000, 7}, Count{}, Of(1_000_000)},
		{[2]uint64{5_000, 800}, [2]uint64{6_000, 7}, Of(7), Of(1_000)}, // soon reached again
		{[2]uint64{5_000_000, 991}, [2]uint64{1_000, 99}, Count{}, Of(1_000)},
		{[2]uint64{5_000_000, 991}, [2]uint64{4_000, 9}, Of(9), Of(4_000)},   // one digit is too few
		{[2]uint64{5_000_000, 991}, [2]uint64{5_000_000, 9}, Count{}, Of(0)}, // not cleared: the same bytes
		{[2]uint64{640, 640}, [2]uint64{640, 60}, Count{}, Of(0)},
		{[2]uint64{7, 640}, [2]uint64{7, 60}, Of(60), Of(0)}, // 7 may be reached again
	} {
		at := func(v [2]uint64) Snapshot {
			p := Port{Name: "eth0", RxBytes: Of(v[0])}
			p.RxPFC[3] = Of(v[1])
			return Snapshot{Device: "h1", Ports: []Port{p}}
		}
		d, err := Delta(at(c.was), at(c.is))
		if err != nil || d.Ports[0].RxPFC[3] != c.grew || d.Ports[0].RxBytes != c.bytes {
			t.Errorf("%v to %v: %v, %+v", c.was, c.is, err, d)
		}
		if !c.grew.Is && !strings.HasSuffix(d.Notes[0].Text, "no difference") {
			t.Errorf("%v", d.Notes)
		}
	}
}
