package capture

import (
	"slices"
	"strings"
	"testing"

	"railyard/roce"
)

// toldWithLoss captures a message of the PSNs 10 to 15, less those that were lost before the capture point, and the
// repetition from the first of those. It returns the text of the message and the number of packets never captured.
func toldWithLoss(t *testing.T, read bool, lost ...uint32) (text string, missing int64) {
	const start, last, mtu = 10, 15, 64
	c := newTape(t)
	ask := func(op roce.Opcode, psn uint32, payload int) {
		at := 8 + uint64(max(psn, start)-start)*mtu
		h := roce.Header{Opcode: op, PSN: psn, VA: at, RKey: 9, Len: (last + 1 - psn) * mtu}
		c.put(false, h, make([]byte, payload), 2, nil)
	}
	put := func(psn, from uint32) {
		ops := []roce.Opcode{roce.WriteMiddle, roce.WriteFirst, roce.WriteLast, roce.WriteOnly}
		if read {
			ops = []roce.Opcode{roce.ReadRespMiddle, roce.ReadRespFirst, roce.ReadRespLast, roce.ReadRespOnly}
		}
		kind := 0
		if psn == from {
			kind++
		}
		if psn == last {
			kind += 2
		}
		if !read {
			ask(ops[kind], psn, mtu)
			return
		}
		c.put(true, roce.Header{Opcode: ops[kind], PSN: psn, Syndrome: roce.Ack}, make([]byte, mtu), 2, nil)
	}
	ask(roce.SendOnly, start-1, 8)
	c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: start - 1, Syndrome: roce.Ack}, nil, 2, nil)
	if read {
		ask(roce.ReadRequest, start, 0)
	}
	for psn := uint32(start); psn <= last; psn++ {
		if !slices.Contains(lost, psn) {
			put(psn, start)
		}
	}
	if len(lost) > 0 {
		again, from := slices.Min(lost), uint32(start)
		if read {
			ask(roce.ReadRequest, again, 0)
			from = again
		}
		for psn := again; psn <= last; psn++ {
			put(psn, from)
		}
	}
	if ask(roce.SendOnly, last+1, 8); !read {
		c.put(true, roce.Header{Opcode: roce.Acknowledge, PSN: last, Syndrome: roce.Ack, MSN: 1}, nil, 2, nil)
	}
	events, story := c.story()
	for _, e := range events {
		if strings.Contains(e, "WRITE") || strings.Contains(e, "READ") || strings.Contains(e, "began") {
			_, e, _ = strings.Cut(e, " ")
			e, _, _ = strings.Cut(e, " in ")
			text += e
		}
	}
	for _, f := range story.Flows {
		missing += f.Missing - f.Late
	}
	return text, missing
}

// A packet that was lost before the capture point belongs to its message once its retransmission is captured.
func TestLostBeforeTheCapturePoint(t *testing.T) {
	for read, want := range map[bool]string{
		false: "WRITE va 0x8 rkey 0x9: 384B, PSN 10…15, 6 packets", true: "READ va 0x8 rkey 0x9: 384B, PSN 10…15, 6 packets",
	} {
		if got, _ := toldWithLoss(t, read); got != want {
			t.Errorf("without loss: %q, want %q", got, want)
		}
		for a := uint32(10); a < 16; a++ {
			for b := a; b < 16; b++ {
				if got, missing := toldWithLoss(t, read, a, b); got != want || missing != 0 {
					t.Errorf("lost %d and %d: %q, %d never captured; want %q", a, b, got, missing, want)
				}
			}
		}
	}
}
