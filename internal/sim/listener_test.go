package sim

import (
	"fmt"

	"railyard/cc"
	"railyard/unit"
)

// listener is a controller that records its inputs and its decisions.
type listener struct {
	cc.Controller
	heard *[]string
	every int // interval of packets that request an acknowledgement; 0: unchanged
	last  cc.Decision
}

func (l *listener) WantsAcks() bool { return true }

func (l *listener) AsksEvery() int { return l.every }

func (l *listener) Credit() *cc.Credit {
	if c, ok := l.Controller.(cc.Credited); ok {
		return c.Credit()
	}
	return nil
}

func (l *listener) OnAck(now unit.Time, a *cc.Ack) {
	marked := ""
	if a.Marked {
		marked = "marked, "
	}
	l.say("%v: %d bytes acknowledged, %d in flight, %sround trip %v", now, a.Bytes, a.InFlight,
		marked, a.RTT)
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
