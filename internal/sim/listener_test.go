package sim

import (
	"fmt"

	"railyard/cc"
	"railyard/unit"
)

// listener is a controller that writes down what its driver tells it, and what it decides.
type listener struct {
	cc.Controller
	heard *[]string
	last  cc.Decision
}

func (l *listener) WantsAcks() bool { return true }

func (l *listener) OnAck(now unit.Time, a *cc.Ack) {
	l.say("%v: %d bytes acknowledged, %d in flight, round trip %v", now, a.Bytes, a.InFlight, a.RTT)
	l.Controller.OnAck(now, a)
}

func (l *listener) OnLoss(now unit.Time, x cc.Loss) {
	l.say("%v: loss %d", now, x)
	l.Controller.OnLoss(now, x)
}

func (l *listener) OnCNP(now unit.Time) {
	l.say("%v: CNP", now)
	l.Controller.OnCNP(now)
}

func (l *listener) Decision() cc.Decision {
	d := l.Controller.Decision()
	if d != l.last {
		what := ""
		if d.Window > 0 && d.Rate < lineRate {
			what = ", below a packet"
		}
		l.say("it decides %+v%s", d, what)
		l.last = d
	}
	return d
}

func (l *listener) say(format string, args ...any) {
	*l.heard = append(*l.heard, fmt.Sprintf(format, args...))
}
