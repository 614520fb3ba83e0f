package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestSymbolErrors: symbol errors and what FEC does not correct are a broken cable, as CRC errors are; bits that FEC
// corrects are none, and no line of the report is about them.
func TestSymbolErrors(t *testing.T) {
	const eos = "leaf-1#show interfaces\nEthernet1 is up, line protocol is up (connected)\n" +
		"     90000 packets input, 99000000 bytes\n     0 input errors, 0 CRC, 0 alignment, %d symbol, 0 input discards\n"
	const host = "root@host-1:~# ethtool -S eth0\nNIC statistics:\n     rx_bytes_phy: 99000000\n     "
	for _, c := range []struct {
		text  string
		cause string
		says  string
	}{
		{eos, "lossy-cable", "symbol errors"},
		{host + "rx_symbol_err_phy: %d\n", "lossy-cable", "symbol errors"},
		{host + "rx_pcs_symbol_err_phy: %d\n", "lossy-cable", "not corrected by FEC"},
		{host + "rx_pcs_symbol_err: %d\n", "lossy-cable", "not corrected by FEC"},
		{host + "rx_corrected_bits_phy: %d\n", "", ""},
		{host + "rx_fec_corrected_blocks: %d\n", "", ""},
		{host + "rx_fec_uncorrectable_blocks: %d\n", "", "rx_fec_uncorrectable_blocks 90000"},
	} {
		snapshots := func(n int) ([]counters.Snapshot, string) {
			all, unknown, err := counters.Read("x.txt", fmt.Appendf(nil, c.text, n))
			if err != nil {
				t.Fatal(err)
			}
			return all, fmt.Sprint(unknown)
		}
		before, _ := snapshots(100)
		after, unread := snapshots(90_000)
		r, err := Diagnose(Input{Before: before, After: after})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, x := range r.Findings {
			found += x.Cause
			unread += fmt.Sprint(x.Evidence)
		}
		if found != c.cause || !strings.Contains(unread, c.says) ||
			c.says == "" && strings.Contains(unread, "_corrected") {
			t.Errorf("%q: found %q, says %s", c.text, found, unread)
		}
	}
}
