package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// read is the snapshots of a text.
func read(t *testing.T, text string) []counters.Snapshot {
	t.Helper()
	all, _, err := counters.Read("host-1.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNothingCounted: outputs without a counter are refused, and are no fabric in which nothing is wrong.
func TestNothingCounted(t *testing.T) {
	const names = "host-1$ ip -o link\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode " +
		"DEFAULT\n"
	_, err := Diagnose(Input{After: read(t, names)})
	if err == nil || !strings.Contains(err.Error(), "host-1.txt: no port counters") {
		t.Errorf("%v", err)
	}
}

// TestAllInTheDefaultClass: where nobody says which class is lossless, a host that sends all in class 0 is
// named; one that uses another class is not.
func TestAllInTheDefaultClass(t *testing.T) {
	text := func(zero, three int) string {
		return fmt.Sprintf("host-1$ ethtool -S eth0\nNIC statistics:\n     tx_prio0_bytes: %d\n"+
			"     tx_prio0_packets: %d\n     tx_prio3_bytes: %d\n     tx_prio3_packets: %d\n", zero,
			zero/1000,
			three, three/1000)
	}
	for _, c := range []struct {
		three int
		noted bool
	}{{0, true}, {9_000_000, false}} {
		r, err := Diagnose(Input{Before: read(t, text(1000, 0)), After: read(t, text(9_000_000, c.three))})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(r.Notes, "\n"), "sends all of its data in "+
			"class 0"); got != c.noted {
			t.Errorf("%d bytes in class 3: noted %v: %q", c.three, got, r.Notes)
		}
	}
}
