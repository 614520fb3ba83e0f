package counters

import (
	"fmt"
	"strings"
	"testing"
)

// public are forms of outputs from public texts (tests of ntc-templates and sonic-utilities, drivers' guides),
// retyped with other names and numbers. unknown is the number of lines reported as not understood. want contains
// exactly what is parsed of them.
var public = []struct {
	name, text, want string
	unknown          int
}{
	{"EOS: the IP MTU of an interface without packets is not a counter", `Loopback0 is up, line protocol is up
  Hardware is Loopback
  Internet address is 10.9.9.1/32
  IP MTU 65535 bytes
  Up 1 day, 2 hours
Vlan30 is down, line protocol is lowerlayerdown (notconnect)
  IP MTU 1500 bytes (default)
`, "", 0},
	{"EOS: a port, with rates beside its counters", `Ethernet7/1 is up, line protocol is up (connected)
  IP MTU 9214 bytes , BW 100000000 kbit
  Full-duplex, 100Gb/s, auto negotiation: off, uni-link: n/a
  3 link status changes since last clear
  5 minutes input rate 18.4 Mbps (0.0% with framing overhead), 2101 packets/sec
     812 packets input, 99001 bytes
     Received 3 broadcasts, 11 multicast
     0 runts, 5 giants
     6 input errors, 7 CRC, 0 alignment, 1 symbol, 8 input discards
     0 PAUSE input
     455 packets output, 44002 bytes
     9 output errors, 0 collisions
     0 late collision, 0 deferred, 10 output discards
     0 PAUSE output
`, "Ethernet7/1: rx packets 812, rx bytes 99001, tx packets 455, tx bytes 44002, in errors 6, " +
		"crc errors 7, symbol errors 1, out errors 9, in discards 8, out discards 10, giants 5, flaps 3", 0},
	{"NX-OS: suppressed bytes, and discards of a port channel", `port-channel12 is up
admin state is up,
  MTU 9216 bytes, BW 50000000 Kbit , DLY 10 usec
  2 interface resets
  RX
    10 unicast packets  2 multicast packets  3 broadcast packets
    15 input packets  1600 bytes
    0 jumbo packets  77 storm suppression bytes
    0 runts  1 giants  2 CRC  0 no buffer
    3 input error  0 short frame  0 overrun   0 underrun  0 ignored
    0 input with dribble  4 input discard
    5 Rx pause
  TX
    21 output packets  2200 bytes
    6 output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  7 output discard
    8 Tx pause
`, "port-channel12: rx pause 5, tx pause 8, rx packets 15, rx bytes 1600, tx packets 21, tx bytes 2200, " +
		"in errors 3, crc errors 2, out errors 6, in discards 4, out discards 7, giants 1, flaps 2", 0},
	{"SONiC: pauses as time, a blank line between ports", `admin@s1:~$ show pfc counters --history
     Port    Priority    RX Pause Transitions    Total RX Pause Time US    Recent RX Pause Time US
---------  ----------  ----------------------  ------------------------  -------------------------
Ethernet0        PFC3                      12                 3,000,001                  1,200,000
Ethernet0        PFC4                     N/A                       N/A                        N/A

Ethernet8        PFC3                       2                        77                          5
`, "Ethernet0: rx pause duration 3 3000001; Ethernet8: rx pause duration 3 77", 0},
	{"SONiC: virtual output queues are told", `admin@s1:~$ show queue counters --voq
            Port    Voq    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes    Credit-WD-Del/pkts
----------------  -----  --------------  ---------------  -----------  ------------  --------------------
lc1|Ethernet0   VOQ0               0                0            0             0                     0
lc1|Ethernet0   VOQ3              60             4300           39         24400                     1
`, "", 2},
	{"SONiC: queues of all kinds", `
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3              60               43           39             1
Ethernet0    UC9               1                1            1             1
Ethernet0   MC13               7                8            9            10
Ethernet0  ALL14             N/A              N/A          N/A           N/A
`, "Ethernet0: queue 3 tx packets 60, queue 3 tx bytes 43, queue 3 dropped packets 39, queue 3 dropped " +
		"bytes 1", 0},
	{"Intel's 800 series counts xon and xoff apart", `root@h1:~# ethtool -S ens801f0
NIC statistics:
     rx_unicast: 5
     rx_bytes.nic: 100
     tx_priority_3_xon.nic: 11
     tx_priority_3_xoff.nic: 6434
     rx_priority_3_xoff.nic: 12
     link_xoff_rx.nic: 2
     rx_crc_errors.nic: 4
`, "ens801f0: rx pfc 3 12, tx pfc 3 6434, rx pause 2, rx bytes 100, crc errors 4", 0},
	{"counters of each ring have a name of their own", `root@h1:~# ethtool -S ens3
NIC statistics:
     [0]: rx_bytes: 209487403324
     rxq0: rx_pkts: 388868940376
     rx_prio3_pause: 17
`, "ens3: rx pfc 3 17", 0},
	{"NX-OS: a neighbour whose name takes a line", `n9k# show lldp neighbors
Capability codes:
  (R) Router, (B) Bridge, (T) Telephone, (C) DOCSIS Cable Device
Device ID            Local Intf      Hold-time  Capability  Port ID
a-rather-long-name.example.com
                     Eth1/3          120        B            Te1/1/1
spine2               Eth1/9          120        BR           Eth1/1
Total entries displayed: 2
`, "Ethernet1/3 to a-rather-long-name.example.com Te1/1/1; Ethernet1/9 to spine2 Ethernet1/1", 0},
	{"EOS: a neighbour in detail, names in quotes", `sw# show lldp neighbors detail
Interface Ethernet49/1 detected 1 LLDP neighbors:

  Neighbor 001c.7300.0001/"Ethernet1", age 12 seconds
  Discovered 1 day, 2:03:04 ago; Last changed 1 day, 2:03:04 ago
  - Chassis ID type: MAC address (4)
    Chassis ID     : 001c.7300.0001
  - Port ID type: Interface name (5)
    Port ID     : "Ethernet1"
  - System Name: "spine-7.example.com"
`, "Ethernet49/1 to spine-7.example.com Ethernet1", 0},
}

// TestPublic compares the parsed values with those that a person reads.
func TestPublic(t *testing.T) {
	for _, c := range public {
		all, unknown, err := Read("x.txt", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i := range all {
			for k := range all[i].Ports {
				if s := spelt(&all[i].Ports[k]); s != "" {
					got = append(got, s)
				}
			}
		}
		if s := strings.Join(got, "; "); s != c.want || len(unknown) != c.unknown {
			t.Errorf("%s:\nread %s\nwant %s\n%d lines not understood, want %d: %v", c.name, s, c.want,
				len(unknown), c.unknown, unknown)
		}
	}
}

// spelt returns the known values of a port without its state.
func spelt(p *Port) string {
	var said []string
	p.Each(func(name string, c *Count, _ bool) {
		if c.Is && c.V > 0 {
			said = append(said, fmt.Sprintf("%s %d", name, c.V))
		}
	})
	switch {
	case p.Peer.Is():
		return fmt.Sprintf("%s to %s %s", p.Name, p.Peer.Device, p.Peer.Port)
	case len(said) == 0:
		return ""
	}
	return p.Name + ": " + strings.Join(said, ", ")
}
