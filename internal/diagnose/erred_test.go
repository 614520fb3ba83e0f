package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestReceiveErrors: receive errors that grow and that no counter explains are a possible fault of the link on every
// system; those of frames that are too long, those that a cable may have and those of long ago are none.
func TestReceiveErrors(t *testing.T) {
	const (
		sonic = "admin@leaf-1:~$ show interfaces counters\n" +
			"    IFACE    STATE        RX_OK    RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR\n" +
			"---------  -------  -----------  --------  ---------  --------  --------  --------\n" +
			"Ethernet0        U  100,000,000       N/A        N/A  %8d         0         0\n"
		errors = "admin@leaf-1:~$ show interfaces counters errors\n" +
			"    IFACE    STATE    RX_ERR    RX_DRP    RX_OVR    TX_ERR    TX_DRP    TX_OVR\n" +
			"---------  -------  --------  --------  --------  --------  --------  --------\n" +
			"Ethernet0        U  %8d         0         0         0         0         0\n"
		eos = "leaf-1#show interfaces\nEthernet1 is up, line protocol is up (connected)\n" +
			"     90000 packets input, 9900 bytes\n     0 runts, %d giants\n" +
			"     %d input errors, 0 CRC, 0 alignment, 0 symbol, 0 input discards\n"
		nxos = "leaf-1# show interface\nEthernet1/1 is up\n  RX\n    90000 input packets  9900 bytes\n" +
			"    0 giants  0 CRC  0 no buffer\n    %d input error  0 short frame  0 overrun\n"
		table = "leaf-1#show interfaces counters errors\n" +
			"Port       FCS   Align  Symbol      Rx   Runts  Giants      Tx\nEt1          0       0       0  %6d       0       0       0\n"
	)
	for _, c := range []struct {
		name, before, after, found string
	}{
		{"SONiC", fmt.Sprintf(sonic, 3), fmt.Sprintf(sonic, 9123), "lossy-cable possible"},
		{"SONiC errors", fmt.Sprintf(errors, 3), fmt.Sprintf(errors, 9123), "lossy-cable possible"},
		{"EOS", fmt.Sprintf(eos, 0, 3), fmt.Sprintf(eos, 0, 9123), "lossy-cable possible"},
		{"EOS errors", fmt.Sprintf(table, 3), fmt.Sprintf(table, 9123), "lossy-cable possible"},
		{"NX-OS", fmt.Sprintf(nxos, 3), fmt.Sprintf(nxos, 9123), "lossy-cable possible"},
		{"all too long", fmt.Sprintf(eos, 1, 3), fmt.Sprintf(eos, 9121, 9123), "mtu likely"},
		{"no more than before", fmt.Sprintf(sonic, 9123), fmt.Sprintf(sonic, 9123), ""},
		{"one snapshot", "", fmt.Sprintf(sonic, 9123), ""},
		{"as many as a cable may have", fmt.Sprintf(strings.Replace(eos, "9900 b", "99000000000000 b", 1), 0, 0),
			fmt.Sprintf(strings.Replace(eos, "9900 b", "101000000000000 b", 1), 0, 15), ""},
	} {
		snapshots := func(text string) []counters.Snapshot {
			all, _, err := counters.Read("x.txt", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		in := Input{After: snapshots(c.after)}
		if c.before != "" {
			in.Before = snapshots(c.before)
		}
		r, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, x := range r.Findings {
			found += fmt.Sprintf("%s %v", x.Cause, x.Sure)
		}
		if found != c.found {
			t.Errorf("%s: found %q, want %q", c.name, found, c.found)
		}
	}
}

// TestReceiveErrorsPassedOn: a switch that cuts through passes corrupted frames on; the link is the one on which they
// were corrupted.
func TestReceiveErrorsPassedOn(t *testing.T) {
	l := healthy()
	for _, p := range []*counters.Port{l.after["leaf1"].Find("Ethernet1/1"), l.after["spine1"].Find("Ethernet1/1"),
		l.after["leaf2"].Find("Ethernet1/9")} {
		p.InErrors.V += 90_000
	}
	r, err := Diagnose(l.input())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Device != "leaf1" || r.Findings[0].Port != "Ethernet1/1" {
		t.Errorf("%+v", r.Findings)
	}
}

// TestNextSaysWhatItShows: the next command of a fault of a link shows its errors and the optical power.
func TestNextSaysWhatItShows(t *testing.T) {
	for system, want := range map[string]string{
		"nxos":  "show interface ethernet1/3; show interface ethernet1/3 transceiver details",
		"eos":   "show interfaces ethernet1/3; show interfaces ethernet1/3 transceiver",
		"sonic": "show interfaces counters fec-stats; show interfaces transceiver eeprom --dom Ethernet1/3",
		"host":  "ethtool -S ethernet1/3 | grep -e err -e fec; ethtool -m ethernet1/3",
	} {
		x := &Finding{}
		x.next(&Port{On: &Device{Name: "d", System: system}, Name: "Ethernet1/3"}, askErrors, "errors")
		var got []string
		for _, s := range x.Next {
			got = append(got, s.Command)
		}
		if strings.Join(got, "; ") != want || len(got) != 2 && system != "host" {
			t.Errorf("%s: %+v", system, x.Next)
		}
		x = &Finding{}
		x.next(&Port{On: &Device{Name: "d", System: system}, Name: "Ethernet1/3"}, askSenders, "senders")
		for _, s := range x.Next {
			if strings.Contains(s.Command, "queu") {
				t.Errorf("%s: queues of an egress show no senders: %s", system, s.Command)
			}
		}
	}
}
