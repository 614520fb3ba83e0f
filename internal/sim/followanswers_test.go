package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/unit"
)

// transportsFollowed are all kinds of answers, with settings under which packets are lost, marked and reordered.
var transportsFollowed = map[string][]string{
	"roce":           {"transport=roce", "switch.pfc=false"},
	"roce-selective": {"transport=roce-selective", "transport.nak_after=4"},
	"irn":            {"transport=roce-selective", "transport.nak_after=4", "cc.algorithm=none", "lb=spray"},
	"go back":        {"transport=roce", "switch.pfc=false", "switch.queues.3.trim=true"},
	"uec":            {"transport=uec"},
	"eqds":           {"transport=eqds"},
	"mrc":            {"transport=mrc"},
	"srd":            {"transport=srd"},
	"falcon":         {"transport=falcon"},
	"tcp":            {"transport=tcp"},
}

// An answer shown with a packet refers to it. No acknowledgement leaves before the packet has arrived, and no NAK
// before it was sent or trimmed. Of the answers that cover it, only the first that is not lost is shown. A trimmed
// packet has its NAK.
func TestFollowAnswers(t *testing.T) {
	var names []string
	for _, n := range []int{0, 1, 2, 7, 13, 21, 22, 23, 40, 64, 77, 99, 130, 180, 243, 244} {
		for qp := range 4 {
			names = append(names, fmt.Sprintf("%d/+%d", qp, n))
		}
	}
	for way, sets := range transportsFollowed {
		t.Run(way, func(t *testing.T) {
			acks, naks, lost := 0, 0, 0
			for _, limit := range []string{"12KB", "24KB", "40KB"} {
				for _, errors := range []string{"0", "0.0000003"} {
					all, _, r := follow(t, squeezed, names, append([]string{"switch.queues.3.limit=" + limit,
						"switch.queues.3.wred_min=0B", "switch.queues.3.wred_max=" + limit,
						"fabric.host_link.bit_error_rate=" + errors}, sets...)...)
					for i := range all {
						a, n, l := checkAnswers(t, &all[i], way, r.Hosts.Count.Failed > 0)
						acks, naks, lost = acks+a, naks+n, lost+l
					}
				}
			}
			if t.Logf("%d ACKs, %d NAKs, %d lost or trimmed", acks, naks, lost); acks == 0 || lost == 0 {
				t.Errorf("nothing is checked: %d ACKs, %d copies lost", acks, lost)
			}
		})
	}
}

// checkAnswers checks the answers of one packet, in the order of their departure.
func checkAnswers(t *testing.T, f *result.Followed, way string, failed bool) (acks, naks, lost int) {
	t.Helper()
	const never = unit.Never
	sent, came, cut := never, never, never
	named := slices.Contains([]string{"uec", "eqds", "mrc", "srd"}, way)
	covered := false
	for i := range f.Copies {
		c := &f.Copies[i]
		left, end := unit.Time(c.Hops[0].Left), unit.Time(c.EndAt)
		trimmed := slices.ContainsFunc(c.Hops, func(h result.Hop) bool { return h.Trimmed })
		after := never // the packet to which the answer refers
		switch {
		case c.Data:
			sent = min(sent, left)
			if c.End != "arrived" || trimmed {
				lost++
			}
			if c.End == "arrived" && trimmed {
				cut = min(cut, end)
			} else if c.End == "arrived" {
				came = min(came, end)
			}
			continue
		case strings.HasPrefix(c.Kind, "ACK"), c.Kind == "answer":
			acks++
			after = came
			if covered && (!named || c.Kind != "ACK") {
				t.Errorf("%s: %s at %d ps is not the first that covers it", f.Asked, c.Kind, left)
			}
			covered = covered || c.End != "dropped"
		case strings.HasPrefix(c.Kind, "NAK trimmed"), c.Kind == "NACK":
			naks++
			after = cut
		case strings.HasPrefix(c.Kind, "NAK"):
			naks++
			after = sent
		}
		if left < after {
			t.Errorf("%s: %s left at %d ps, before %d", f.Asked, c.Kind, left, after)
		}
	}
	if cut < came && naks == 0 && way != "go back" {
		t.Errorf("%s was trimmed at %d ps, and no NAK of it is shown: %d copies", f.Asked, cut, len(f.Copies))
	}
	if came < never && acks == 0 && !failed {
		t.Errorf("%s arrived, and no ACK of it is shown", f.Asked)
	}
	return acks, naks, lost
}
