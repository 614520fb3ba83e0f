package diagnose

import (
	"strings"
	"testing"

	"railyard/internal/counters"
)

// Outputs with drops that no cause explains. The heading of the first is that of Cisco's documents, whose first
// word ends in the # of a prompt.
const (
	queuing = `leaf1# show queuing interface ethernet 1/1
Egress Queuing for Ethernet1/1 [System]
------------------------------------------------------------------------------
QoS-Group# Bandwidth% PrioLevel                Shape                   QLimit
                                   Min          Max        Units
------------------------------------------------------------------------------
      3            50         -           -            -     -            9(D)
+-------------------------------------------------------------------+
|                              QOS GROUP 3                          |
+-------------------------------------------------------------------+
|                |  Unicast       |Multicast        |
+-------------------------------------------------------------------+
|        Tx Pkts |        90500123|               0|
| Strange Data Cells |             44|               0|
Port Egress Statistics
--------------------------------------------------------
WRED Drop Pkts                              9

Ingress Queuing for Ethernet1/1
-----------------------------------------------------------------------
QoS-Group#                 Pause
           Buff Size       Pause Th      Resume Th
-----------------------------------------------------------------------
      3              -            -              -
Port Ingress Statistics
--------------------------------------------------------
Ingress MMU Drop Pkts                      6493907
Ingress MMU Drop Bytes                     7012345678
`
	interfaces = `admin@s1:~$ show interfaces counters
      IFACE    STATE       RX_OK       RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR       TX_OK     TX_DRP    TX_OVR
-----------  -------  ----------  -----------  ---------  --------  --------  --------  ----------  ---------  --------
  Ethernet0        U  61,115,381  286.58 KB/s      0.00%         0         0        17  51,847,244  9,268,210         0
`
	errors = `leaf1# show interface counters errors
--------------------------------------------------------------------------------
Port          Align-Err    FCS-Err   Xmit-Err    Rcv-Err  UnderSize OutDiscards
--------------------------------------------------------------------------------
Eth1/1                0          0          0          0         21         555
`
)

// TestDropsOfPorts: drops that a port counts for no class are named, and so is a counter that nobody reads and
// that has counted.
func TestDropsOfPorts(t *testing.T) {
	for _, c := range []struct {
		text, port string
		drops      uint64
		ingress    bool
		unread     string
	}{
		{queuing, "leaf1 Ethernet1/1", 6493907, true, "Strange Data Cells 44"},
		{queuing, "leaf1 Ethernet1/1", 6493907, true, "WRED Drop Pkts 9"},
		{interfaces, "s1 Ethernet0", 9268210, false, "RX_OVR 17"},
		{errors, "leaf1 Ethernet1/1", 555, false, "UnderSize 21"},
	} {
		all, unknown, err := counters.Read("x.txt", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, u := range unknown {
			said += u.Text + "\n"
		}
		if !strings.Contains(said, c.unread) {
			t.Errorf("%q is not said to be unread: %q", c.unread, said)
		}
		r, err := Diagnose(Input{After: all})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Drops) == 0 || r.Drops[0].Port != c.port || r.Drops[0].Packets != c.drops ||
			r.Drops[0].Ingress != c.ingress || r.Drops[0].Class != -1 {
			t.Errorf("drops of %s: %+v", c.port, r.Drops)
		}
		if r, err = Diagnose(Input{Before: all, After: all}); err != nil || len(r.Drops) > 0 ||
			!strings.Contains(strings.Join(r.Notes, "\n"), "before the first snapshot and none since") {
			t.Errorf("old drops of %s: %v %+v", c.port, err, r)
		}
	}
}

// TestPartsOfASum: a queue's packets are those of unicast and multicast; where one cannot be read, the sum is
// no sum.
func TestPartsOfASum(t *testing.T) {
	text := strings.Replace(queuing, "90500123|               0|", "90500123|               ?|", 1)
	all, unknown, err := counters.Read("x.txt", []byte(text))
	if err != nil || len(unknown) == 0 || all[0].Ports[0].Queues[3].TxPackets.Is {
		t.Error(err, unknown, all[0].Ports[0].Queues[3].TxPackets)
	}
}

// TestNoHairpin: what comes in at a port does not leave by it, so that a port which alone sends pauses is not where
// its own traffic queues. With the counters of another port, that one is.
func TestNoHairpin(t *testing.T) {
	const alone = `admin@leaf01:~$ show queue counters Ethernet0
     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes
---------  -----  --------------  ---------------  -----------  ------------
Ethernet0    UC3     100,234,111  410,000,000,000            0             0
`
	const other = "Ethernet4    UC3       9,234,111   41,000,000,000            0             0\n"
	const pauses = `admin@leaf01:~$ show pfc counters
  Port Tx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  -------  ------  ------  ------  ------
Ethernet0       0       0       0  123,456       0       0       0       0
`
	for text, want := range map[string]string{alone + pauses: "", alone + other + pauses: "leaf01 Ethernet4"} {
		all, _, err := counters.Read("x.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Diagnose(Input{After: all})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range r.Findings {
			if x.Cause == incast.Name {
				got = x.Device + " " + x.Port
			}
		}
		if got != want {
			t.Errorf("incast at %q, want %q", got, want)
		}
		if said := strings.Contains(r.Undecided, "start at leaf01"); said != (want == "") {
			t.Errorf("undecided: %q", r.Undecided)
		}
	}
}
