package swconf

import (
	"strings"
	"testing"
)

// Numbers of queues are names. Switches of two languages that treat a DSCP equally in two queues are correct. A
// difference is reported with the required treatment, in an existing queue of the switch.
func TestTreatmentAndNotNumberOfQueue(t *testing.T) {
	move := func(q *QoS, from, to int) {
		q.Queues[to], q.Queues[from] = q.Queues[from], Queue{}
		for d := range q.DSCP {
			if q.DSCP[d].Is() && int(q.DSCP[d].V) == from {
				q.DSCP[d].V = uint8(to)
			}
		}
	}
	for _, x := range []struct {
		what string
		set  func(q *QoS) // of the two EOS leaves
		want string       // the rule's message on the first one, and its remedy
	}{
		{"CNPs strict in queue 6", func(q *QoS) { move(q, 7, 6) }, ""},
		{"data in queue 4, by PFC priority 3", func(q *QoS) { move(q, 3, 4) }, ""},
		{"data in queue 4, by PFC priority 4", func(q *QoS) { move(q, 3, 4); q.Queues[4].Pause.V = 4 },
			"error: DSCP 24 goes to queue 4 here; map it to a queue that is lossless by PFC priority 3"},
		{"unused DSCP in queue 1", func(q *QoS) { q.DSCP[10] = Say(uint8(1), at(26)) }, ""},
		{"unused DSCP with the CNPs by the platform's map", func(q *QoS) { q.DSCP[50].V = 7 }, ""},
		{"unused DSCP with the data by the platform's map", func(q *QoS) { q.DSCP[26].V = 3 },
			"info: DSCP 26 goes to queue 3 here by default (no line sets it); map it to queue 0 as on most switches"},
		{"unused DSCP with the data", func(q *QoS) { q.DSCP[10] = Say(uint8(3), at(26)) },
			"error: DSCP 10 goes to queue 3 here; map it to queue 0 as on most switches"},
		{"CNPs in best effort, another queue strict", func(q *QoS) {
			move(q, 7, 6)
			q.DSCP[48].V = 1
			q.Queues[1].Share = Say(10, at(40))
		}, "error: DSCP 48 goes to queue 1 here; map it to queue 6, which is strict as on most switches"},
		{"CNPs in a queue that no line schedules", func(q *QoS) {
			move(q, 7, 6)
			q.Queues[6].Strict = Said[bool]{V: true}
		}, ""},
	} {
		var cs []*Config
		for i, os := range []OS{EOS, EOS, NXOS, NXOS, NXOS} {
			c := leaf()
			c.OS, c.File, c.Strict = os, string(rune('a'+i)), os == EOS
			if os == EOS {
				x.set(c.QoS)
			}
			for d := range c.QoS.DSCP {
				if m := &c.QoS.DSCP[d]; m.Is() {
					m.At.File = c.File
				}
			}
			cs = append(cs, c)
		}
		said := ""
		for _, f := range linted(cs...) {
			if f.Rule == "dscp-differs" && f.File != "b" {
				here, _, _ := strings.Cut(f.Message, " and to ")
				fix, _, _ := strings.Cut(f.Fix, ", or ")
				said += string(f.Severity) + ": " + here + "; " + fix
			}
		}
		if !strings.HasPrefix(said, x.want) || x.want == "" && said != "" {
			t.Errorf("%s: %q, want %q", x.what, said, x.want)
		}
	}
}
