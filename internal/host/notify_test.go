package host

import (
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// answered runs two senders into one receiver. It returns when marked packets arrived for a connection, and when
// its CNPs left.
func answered(t *testing.T, delay unit.Time) (l *lab, marks, cnps map[int32][]unit.Time) {
	paper := cc.DCQCNPaper(rate)
	l = newLab(t, func(c *Config, s *queue.Spec) {
		c.Services[0].CNPs, c.Services[0].CNPDelay = true, delay
		c.Services[0].CC = func(p cc.Path) cc.Controller { return cc.NewDCQCN(&paper, p.Line) }
		s.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: true}
	}, 1, 1, 1)
	marks, cnps = map[int32][]unit.Time{}, map[int32][]unit.Time{}
	l.Net.Tap = func(at unit.Time, _ int32, out bool, p *fabric.Packet) {
		switch {
		case out && p.Opcode == roce.CNP:
			cnps[p.QP] = append(cnps[p.QP], at)
		case !out && p.Opcode != roce.Acknowledge && p.TOS&3 == fabric.CE:
			marks[p.QP] = append(marks[p.QP], at)
		}
	}
	l.Net.TapPort(l.nics[2].ports[0], true)
	a, b := l.connect(0, 2, 0), l.connect(1, 2, 0)
	l.Send(a, 2*unit.MB, 0)
	l.Send(b, 2*unit.MB, 0)
	l.run(240 * unit.Microsecond)
	return l, marks, cnps
}

// A CNP leaves after the NIC's delay for the mark. The interval counts from mark to mark, and senders receive the
// CNP that much later.
func TestCNPDelay(t *testing.T) {
	for _, delay := range []unit.Time{0, 1300 * unit.Nanosecond, 70 * unit.Microsecond} {
		l, marks, cnps := answered(t, delay)
		gap := l.cfg.Services[0].CNPGap
		for qp := range int32(2) {
			var due []unit.Time
			for _, at := range marks[qp] {
				if len(due) == 0 || at-due[len(due)-1] >= gap {
					due = append(due, at)
				}
			}
			if len(cnps[qp]) < 2 {
				t.Fatalf("delay %v: %d CNPs on queue pair %d", delay, len(cnps[qp]), qp)
			}
			for i, at := range cnps[qp] {
				// Its port may be sending an acknowledgement, the only other kind of packet there.
				if late := at - due[i] - delay; late < 0 || late > unit.Serialize(roce.AckLen+24, rate) {
					t.Errorf("delay %v: CNP %d of queue pair %d leaves %v behind its mark", delay, i, qp,
						at-due[i])
				}
			}
		}
	}
}
