package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

const ms = unit.Millisecond

// stormy is a bench of two hosts with SONiC's watchdog (poll, detection and restoration of 200 ms). A packet a
// millisecond goes from host 0 to host 1 or back. The test starts and ends the pause of host 1.
type stormy struct {
	*bench
	storm, restore unit.Time
}

func newStormy(t *testing.T, forward, back bool) *stormy {
	s := &stormy{bench: newBench(t, 2, func(q *queue.Spec) {
		q.Watchdog.On, q.Watchdog.Forward = true,
			forward
	})}
	s.Trace = func(at unit.Time, what string, port int32, _ int) {
		if port != s.in[1] {
			return
		}
		switch what {
		case "storm":
			s.storm = at
		case "restore":
			s.restore = at
		}
	}
	for i := range 2000 {
		at := unit.Time(i)*ms + ms/2
		s.put(at, 0, 1, 24, 4000)
		if back {
			s.put(at, 1, 0, 24, 4000)
		}
	}
	return s
}

// docs/references.md, watchdog: with 200/200/200 ms a permanent storm is detected within (200, 400] ms. It is
// restored within (200, 400] ms after its end. Packets that passed through the idle port since the last poll,
// without queueing, must not make detection earlier.
func TestStormIsDetectedInTime(t *testing.T) {
	for _, forward := range []bool{false, true} {
		for _, t0 := range []unit.Time{0, 1, 1 * ms, 50 * ms, 199 * ms, 200 * ms, 200*ms + 1, 201 * ms,
			399 * ms} {
			s := newStormy(t, forward, false)
			s.run(t0)
			s.SendPause(s.hosts[1], 3)
			end := t0 + 900*ms - 3
			s.run(end)
			if d := s.storm - t0; d <= 200*ms || d > 400*ms || s.Storms != 1 {
				t.Errorf("forward %v, paused from %v: %d storms, detected after %v", forward, t0, s.Storms, d)
			}
			s.SendResume(s.hosts[1], 3)
			s.run(1999 * ms)
			if d := s.restore - end; d <= 200*ms || d > 400*ms {
				t.Errorf("forward %v, paused from %v to %v: restored after %v", forward, t0, end, d)
			}
			if err := s.Audit(); err != nil {
				t.Error(err)
			}
		}
	}
}

// While a queue is stormed, the action drop loses packets to it and packets that arrive by its port and priority
// (SONiC drops at ingress and egress). Other priorities pass. The action forward forwards all of them despite the
// pause.
func TestStormAction(t *testing.T) {
	for _, forward := range []bool{false, true} {
		s := newStormy(t, forward, true)
		s.SendPause(s.hosts[1], 3)
		for i := range 100 {
			s.put(unit.Time(500+i)*ms, 0, 1, 48, 100)
		}
		s.run(s.Q.Now() + 500*ms)
		if s.storm == 0 {
			t.Fatal("no storm")
		}
		to, from, control := s.got[1][3], s.got[0][3], s.got[1][7]
		s.run(600 * ms)
		to, from, control = (s.got[1][3]-to)/4000, (s.got[0][3]-from)/4000, (s.got[1][7]-control)/100
		want := int64(0)
		if forward {
			want = 100
		}
		if to != want || from != want || control != 100 {
			t.Errorf("forward %v: in 100 ms of storm %d of 100 packets arrive at the port, %d come from "+
				"it, and %d of 100 of another priority",
				forward, to, from, control)
		}
		s.SendResume(s.hosts[1], 3)
		s.run(1200 * ms)
		to = s.got[1][3]
		s.run(1300 * ms)
		if got := (s.got[1][3] - to) / 4000; got != 100 {
			t.Errorf("forward %v: after the storm %d of 100 packets arrive", forward, got)
		}
	}
}

// A pause that ends between two polls and starts again is no storm, although the port is paused at both polls.
// SONiC's rule requires that the pause has not ended in between.
func TestBriefPausesAreNoStorm(t *testing.T) {
	s := newStormy(t, false, false)
	for at := unit.Time(0); at < 1500*ms; at += 100 * ms {
		s.SendPause(s.hosts[1], 3)
		s.run(at + 99*ms)
		s.SendResume(s.hosts[1], 3)
		s.run(at + 100*ms)
	}
	if s.Storms != 0 || s.Drops != 0 {
		t.Errorf("%d storms, %d packets dropped", s.Storms, s.Drops)
	}
}

// Pause frames of another priority do not prolong a storm. A stormed port sends no pause frames in that priority,
// because the watchdog has disabled PFC there.
func TestStormIsOfOnePriority(t *testing.T) {
	s := newStormy(t, true, false)
	s.SendPause(s.hosts[1], 3)
	s.SendPause(s.hosts[1], 4)
	s.run(500 * ms)
	s.spec.Queues[3].XOff, s.spec.Queues[3].XOn = 10*unit.KB, 5*unit.KB
	s.gotPFC(s.in[0], s.pauseFor(s.hosts[0], 3, 65535)) // packets from host 1 must queue, beyond xOFF
	for i := range 10 {
		s.put(s.Q.Now()+unit.Time(i), 1, 0, 24, 4000)
	}
	sent := s.Stats[s.in[1]].PauseSent
	s.run(501 * ms)
	if got := s.Stats[s.in[1]].PauseSent - sent; got != 0 {
		t.Errorf("%d pauses sent in a stormed priority", got)
	}
	s.SendResume(s.hosts[1], 3)
	s.run(1000 * ms)
	if s.restore == 0 {
		t.Error("pauses of priority 4 keep the storm of priority 3")
	}
}

// TestStormOfAScheduledFabric: while a NIC pauses continuously, its egress port's queue is dropped, with packets to
// it and the NIC's packets in that priority. After the NIC resumes the state is as before.
func TestStormOfAScheduledFabric(t *testing.T) {
	c := pairOfLeafs(t, func(s *queue.Spec) { s.Watchdog.On = true })
	psn := [2]uint32{}
	send := func(from int, packets int64) {
		c.send(c.Q.Now(), from, 1-from, 1, 24, packets*4000, 4000, psn[from])
		psn[from] += uint32(packets)
	}
	c.gaps = true
	c.SendPause(c.hosts[1], 3)
	c.run(unit.Microsecond)
	send(0, 4)
	c.run(100 * ms)
	if c.StormDrops != 0 || c.packets != 0 || c.InUse() != 4 {
		t.Fatalf("before the watchdog looks: %d dropped, %d packets came, %d wait", c.StormDrops, c.packets, c.InUse())
	}
	c.run(500 * ms)
	if c.Storms != 1 || c.StormDrops != 4 || c.InUse() != 0 {
		t.Errorf("%d storms, %d of 4 packets dropped, %d wait", c.Storms, c.StormDrops, c.InUse())
	}
	send(0, 3)
	send(1, 2)
	c.run(600 * ms)
	if c.StormDrops != 4+3+2 || c.packets != 0 || c.InUse() != 0 {
		t.Errorf("in the storm: %d dropped, want 9; %d packets came, %d wait", c.StormDrops, c.packets, c.InUse())
	}
	c.SendResume(c.hosts[1], 3)
	c.run(1200 * ms)
	send(0, 3)
	send(1, 2)
	c.run(1300 * ms)
	if err := c.Audit(); err != nil || c.packets != 5 || c.StormDrops != 9 || c.broken > 0 {
		t.Errorf("behind it %d of 5 packets came, %d dropped: %v", c.packets, c.StormDrops, err)
	}
}
