package onto

import (
	"strconv"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

// TestSharesNeverExceedThePort: typed line by line, the shares of a queuing policy never sum to more than 100
// percent, whichever way they change. NX-OS rejects a line that would exceed it.
func TestSharesNeverExceedThePort(t *testing.T) {
	want := rendered(t, "rail", swconf.NXOS, same, design.Unnumbered)["spine-1"]
	for _, share := range []int{10, 90} {
		running := rendered(t, "rail", swconf.NXOS, func(s *queue.Spec) {
			s.Queues[3].Weight, s.Queues[0].Weight = share, 100-share
		}, design.Unnumbered)["spine-1"]
		m, err := Onto("running", []byte(running), want, swconf.NXOS, Options{InBand: true})
		if err != nil {
			t.Fatal(err)
		}
		all, changed := map[string]int{"q3": share, "default": 100 - share}, 0
		for _, s := range m.Steps {
			if strings.HasPrefix(s.Text, "bandwidth remaining percent ") {
				n, _ := strconv.Atoi(last(s.Text))
				all[s.Path[1][strings.LastIndexByte(s.Path[1], '-')+1:]] = n
				changed++
			}
			if all["q3"]+all["default"] > 100 {
				t.Errorf("from %d: after %q %v", share, s.Text, all)
			}
		}
		if changed != 2 {
			t.Errorf("from %d: %d shares change: %+v", share, changed, m.Steps)
		}
	}
}
