package counters

import (
	"strings"
	"testing"
)

// TestCommandsInCommon: systems share commands and their forms. Each output belongs to its device's system or is
// not parsed, whichever system's table has the command first.
func TestCommandsInCommon(t *testing.T) {
	const (
		sonic = "admin@leaf1:~$ show pfc counters\n  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n" +
			"---------  ------  ------  ------  ------  ------  ------  ------  ------\nEthernet0       0       0       0       0       0       0       0       0\n"
		eos = "leaf1#show interfaces counters discards\nPort              InDiscards       OutDiscards\nEt1    0     18\n"
	)
	for _, c := range []struct {
		text, format string // "": not read
		counters     string // of the last snapshot's first port
	}{
		{sonic + `admin@leaf1:~$ show interfaces counters errors
    IFACE    STATE    RX_ERR    RX_DRP    RX_OVR    TX_ERR    TX_DRP    TX_OVR
---------  -------  --------  --------  --------  --------  --------  --------
Ethernet0        U     9,123         4         0         5         6         0
`, "sonic-errors", "in errors 9123, out errors 5, in discards 4, out discards 6"},
		{sonic + `admin@leaf1:~$ show interfaces counters fec-stats
    IFACE    STATE    FEC_CORR    FEC_UNCORR    FEC_SYMBOL_ERR
---------  -------  ----------  ------------  ----------------
Ethernet0        U   1,000,000         9,120           900,000
`, "sonic-fec", "uncorrected by fec 9120"},
		{sonic + `admin@leaf1:~$ portstat -f
Last cached time was 2026-11-29T21:00:00
    IFACE    STATE    FEC_CORR    FEC_UNCORR    FEC_SYMBOL_ERR    FEC_PRE_BER    FEC_POST_BER
---------  -------  ----------  ------------  ----------------  -------------  --------------
Ethernet0        U         100            12                90       1.48e-20        0.00e+00
`, "sonic-fec", "uncorrected by fec 12"},
		{sonic + `admin@leaf1:~$ show interfaces counters rates
    IFACE    STATE    RX_OK    RX_BPS    RX_PPS    RX_UTIL    TX_OK    TX_BPS    TX_PPS    TX_UTIL
---------  -------  -------  --------  --------  ---------  -------  --------  --------  ---------
Ethernet0        U        7  0.00 B/s    0.00/s      0.00%        8  0.00 B/s    0.00/s      0.00%
`, "sonic-interfaces", "rx packets 7, tx packets 8"},
		{sonic + `admin@leaf1:~$ show interfaces counters rif
    IFACE    RX_OK    RX_BPS    RX_PPS    RX_ERR    TX_OK    TX_BPS    TX_PPS    TX_ERR
---------  -------  --------  --------  --------  -------  --------  --------  --------
Ethernet0        7  0.00 B/s    0.00/s       300        8  0.00 B/s    0.00/s         0
`, "", ""},
		{sonic + "admin@leaf1:~$ show lldp neighbors Ethernet0\n-----\nLLDP neighbors:\n-----\n" +
			"Interface:    Ethernet0, via: LLDP, RID: 2, Time: 0 day\n  Chassis:\n    SysName:      h1\n" +
			"  Port:\n    PortID:       ifname eth0\n-----\n", "lldpcli", ""},
		{eos + `leaf1#sh int
Ethernet1 is up, line protocol is up (connected)
     90000 packets input, 99000000 bytes
     3 input errors, 0 CRC, 0 alignment, 0 symbol, 0 input discards
`, "eos-interfaces", "rx packets 90000, rx bytes 99000000, in errors 3, crc errors 0, symbol errors 0, in discards 0"},
		{eos + `leaf1#show interfaces counters
Port               InOctets     InUcastPkts     InMcastPkts     InBcastPkts
Et1                     100               9               1               2
Port              OutOctets    OutUcastPkts    OutMcastPkts    OutBcastPkts
Et1                     200               8               3               4
`, "eos-counters", "rx packets 9, rx bytes 100, tx packets 8, tx bytes 200"},
		{eos + `leaf1#show interfaces counters rates
Port      Name        Intvl   In Mbps      %  In Kpps  Out Mbps      % Out Kpps
Et1                    5:00       0.0   0.0%        0       0.0   0.0%        0
`, "", ""},
	} {
		all, unknown, err := Read("leaf1.txt", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		last := &all[len(all)-1]
		var got []string
		last.Ports[0].Each(func(name string, n *Count, _ bool) {
			if n.Is {
				got = append(got, name+" "+n.String())
			}
		})
		command := c.text[strings.LastIndex(c.text, "leaf1"):]
		switch {
		case c.format == "" && (len(all) != 1 || len(unknown) != 1):
			t.Errorf("%sread as %s, %v", command, last.Format, unknown)
		case c.format != "" && (last.Format != c.format || last.Kind != Switch || len(unknown) > 0 ||
			strings.Join(got, ", ") != c.counters):
			t.Errorf("%sread as %s of a %s: %s, %v", command, last.Format, last.Kind, got, unknown)
		}
	}
}
