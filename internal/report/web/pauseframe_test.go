package web

import (
	"testing"

	"railyard/internal/capture"
	"railyard/roce"
)

// PFC frames of a capture are shown as what they are, and the button "pause" finds the pauses alone.
func TestPauseFrames(t *testing.T) {
	for quanta, want := range map[uint16]string{65535: "PFC prio 3 pause 65535 quanta", 0: "PFC prio 3 resume"} {
		p := capture.Packet{Raw: roce.AppendPFC(nil, roce.MAC{2, 0x52}, 1<<3, [8]uint16{3: quanta})}
		if p.Err = p.Frame.Decode(p.Raw); p.Err != nil {
			t.Fatal(p.Err)
		}
		x := brief(&p)
		spell(&x, &p)
		if x.Kind != want || x.From != "" || x.QP != 0 || x.is("pause") != (quanta > 0) || len(x.Fields) != 5 ||
			x.Fields[4].From != 24 {
			t.Errorf("quanta %d: %+v", quanta, x)
		}
	}
}
