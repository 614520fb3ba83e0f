package diagnose

import (
	"testing"

	"railyard/internal/counters"
)

// Whatever two snapshots say is refused, or diagnosed.
func FuzzDiagnose(f *testing.F) {
	const pauses = "leaf1# show interface priority-flow-control\n" +
		"Port               Mode Oper(VL bmap)  RxPPP      TxPPP\nEthernet1/1        Auto On  (8)        5          9\n"
	const shown = "leaf1# show interface counters\nPort InOctets InUcastPkts\nEth1/1 5 7\n"
	f.Add([]byte(pauses), []byte(pauses+shown))
	f.Add([]byte("$ ethtool -S eth0\nNIC statistics:\n     rx_prio3_pause: 5\n     tx_prio3_pause: 9\n"), []byte(shown))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if len(before)+len(after) > 1<<16 {
			return
		}
		a, _, err1 := counters.Read("before.txt", before)
		b, _, err2 := counters.Read("after.txt", after)
		if err1 != nil || err2 != nil {
			return
		}
		if x, err := Gather(Input{Before: a, After: b}); err == nil && x == nil {
			t.Error("neither a fabric nor an error")
		}
	})
}
