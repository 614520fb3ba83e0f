package host

import (
	"testing"

	"railyard/cc"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/unit"

	"pgregory.net/rapid"
)

// few is a controller with a fixed window.
type few struct {
	cc.None
	window unit.Bytes
}

func (f few) WantsAcks() bool { return true }

func (f few) Decision() cc.Decision {
	return cc.Decision{Rate: f.Line, Window: f.window, TimerAt: unit.Never}
}

// windowed sets every sender's window to n packets.
func windowed(packets int) func(*Config, *queue.Spec) {
	return func(c *Config, _ *queue.Spec) {
		c.Services[0].CC = func(p cc.Path) cc.Controller {
			return few{cc.None{Line: p.Line}, unit.Bytes(packets) * 4096}
		}
	}
}

// A sender whose window is too small for its path is blocked whenever its port does not send. Sending time and
// blocked time add up to the time until its last packet, for any window.
func TestHeldByWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		packets, window := rapid.IntRange(2, 60).Draw(rt, "packets"), rapid.IntRange(1, 12).Draw(rt, "window")
		l := newLab(t, windowed(window), 1, 1)
		c := l.connect(0, 1, 0)
		m := l.Send(c, unit.Bytes(packets)*4096, 0)
		l.run(unit.Millisecond)
		busy := unit.Serialize(unit.Bytes(l.Net.Sent(l.nics[0].ports[0])), rate)
		last := l.Messages[m].Done - 2*latency - 2*cable - packet // its last packet has left
		got := l.Held(c)
		round := 2*packet + 4*cable // including the acknowledgement's own time
		small := unit.Time(window)*packet < round && packets > window
		large := unit.Time(window-2)*packet > round // every other packet requests an acknowledgement
		if d := last - busy - got.Window; d < -2*unit.Nanosecond || d > 2*unit.Nanosecond ||
			got.Pace+got.Credit != 0 || small && got.Window == 0 || large && got.Window > 0 {
			rt.Fatalf("%d packets, %d at once: busy for %v, held %+v, out at %v", packets, window,
				busy, got, last)
		}
	})
}

// While it is blocked its time counts. A sender that shares its port is not blocked while the other sends.
func TestHeldSoFar(t *testing.T) {
	l := newLab(t, windowed(1), 1, 1)
	c := l.connect(0, 1, 0)
	l.Send(c, 2*4096, 0)
	l.run(latency + packet + 100*unit.Nanosecond)
	before := l.Held(c).Window
	l.run(latency + packet + 400*unit.Nanosecond)
	if after := l.Held(c).Window; after-before != 300*unit.Nanosecond {
		t.Errorf("held for %v, 300 ns later for %v", before, after)
	}
	if sum := (Held{1, 2, 4}).Minus(Held{1, 1, 1}).Sum(); sum != 4 {
		t.Errorf("the difference sums up to %v", sum)
	}
}

// Packets lost at a message's end wait for the local ACK timeout, for any window. A full window then delays
// nothing.
func TestTimedOut(t *testing.T) {
	for _, window := range []int{1, 2, 100} {
		l := newLab(t, windowed(window), 1, 1)
		c, n := l.connect(0, 1, 0), 0
		l.Net.FaultPort(l.nics[0].ports[0])
		l.Net.Fault = func(_ int32, p *fabric.Packet) fabric.Fate {
			if p.Payload > 0 {
				n++
			}
			return fabric.Fate{Lost: p.Payload > 0 && n == 2}
		}
		m := l.Send(c, 2*4096, 0)
		l.run(10 * unit.Millisecond)
		done, late := l.Messages[m].Done, l.Silent(c).Long
		if l.Silent(c).Timeouts != 1 || late != l.cfg.RC.Timeout || done < late ||
			done > late+20*unit.Microsecond {
			t.Errorf("a window of %d: done at %v, waited %v for time-outs, want %v", window, done, late,
				l.cfg.RC.Timeout)
		}
		if held := l.Held(c).Window; held > 10*unit.Microsecond || window == 1 && held == 0 {
			t.Errorf("a window of %d held it for %v", window, held)
		}
	}
}
