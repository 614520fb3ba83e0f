package capture

import (
	"strings"
	"testing"
	"time"

	"railyard/roce"
)

// TestTrimmed: an RC packet with less payload than its headers announce was trimmed. A complete one with a wrong
// ICRC is damaged.
func TestTrimmed(t *testing.T) {
	for _, c := range []struct {
		op      roce.Opcode
		payload int
		trimmed bool
	}{
		{roce.WriteOnlyImm, 0, true}, {roce.WriteOnly, 60, true}, {roce.WriteOnly, 1024, false},
		{roce.WriteOnly, 512, false},
		{roce.WriteMiddle, 0, true}, {roce.WriteFirst, 100, true}, {roce.WriteMiddle, 1024, false},
		{roce.WriteLast, 100, false}, // which may be as short
	} {
		tape := newTape(t)
		f := analyzed(0, false)
		f.Analyzed = false
		f.BTH = roce.Header{Opcode: c.op, PKey: roce.DefaultPKey, DestQP: 7, PSN: 3, Len: 1024}
		f.Body = make([]byte, c.payload)
		f.Complete()
		b := f.Append(nil)
		b[len(b)-1] ^= 1 // in the ICRC
		tape.w.Frame(time.Unix(1000, 0), 0, true, b, "")
		events, s := tape.story()
		said := strings.Contains(strings.Join(events, "\n"), "trimmed by a switch: PSN 3")
		if len(s.Flows) != 1 || said != c.trimmed || (s.Flows[0].Trimmed == 1) != c.trimmed ||
			(s.ICRCBad == 1) == c.trimmed {
			t.Errorf("%v of %d bytes: %q, %+v", c.op, c.payload, events, s.Flows)
		}
	}
}
