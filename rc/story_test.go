package rc_test

import (
	"fmt"
	"testing"

	"railyard/internal/story"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// tale runs a connection between A, the requester, and B, the responder. A packet occupies the wire for 1 us and
// travels for 5 us. It writes a transcript of all events.
type tale struct {
	*story.Page
	t    *testing.T
	cfg  rc.Config
	a, b rc.QP
	mem  *rc.Memory
	now  unit.Time
	air  []flight
	todo []deed       // actions of applications, in the order of time
	wire [2]unit.Time // time at which an end may send its next packet
	sent [2]int       // packets by end

	// fate sets the fate of the nth packet, counted from 1, of an end; 0 is A.
	fate func(end, n int) (lost bool, late unit.Time)
}

type flight struct {
	at unit.Time
	to int
	p  rc.Packet
}

type deed struct {
	at  unit.Time
	say string
	do  func() error
}

func newTale(t *testing.T, preface string, change func(c *rc.Config)) *tale {
	s := &tale{Page: story.Open(preface), t: t, mem: rc.NewMemory(1)}
	s.cfg = rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(8), Retries: 2,
		Reads: 4, ReadsIn: 4, RNRTimer: 1, RNRRetries: 2}
	if change != nil {
		change(&s.cfg)
	}
	if err := s.cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	s.a, s.b = rc.NewQP(&s.cfg, rc.NewMemory(1)), rc.NewQP(&s.cfg, s.mem)
	for _, st := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		if s.a.Modify(st, 100) != nil || s.b.Modify(st, 100) != nil {
			t.Fatal(st)
		}
	}
	return s
}

// region registers 64 KiB of B's memory.
func (s *tale) region(key uint32, access rc.Access) {
	if err := s.mem.RegisterBuffer(key, 0, make([]byte, 1<<16), access); err != nil {
		s.t.Fatal(err)
	}
}

// at schedules an action of an application.
func (s *tale) at(at unit.Time, say string, do func() error) {
	s.todo = append(s.todo, deed{at, say, do})
}

// posts makes A's application post a request of n full packets.
func (s *tale) posts(at unit.Time, id uint64, verb rc.Verb, key uint32, packets int) {
	s.at(at, fmt.Sprintf("A posts request %d: %v of %d KiB", id, verb, packets), func() error {
		data := make([]byte, packets<<10)
		return s.a.Post(&rc.Request{ID: id, Verb: verb, RKey: key, Len: int64(len(data)), Data: data})
	})
}

// play runs until no event is left and compares the transcript.
func (s *tale) play(name string) {
	s.t.Helper()
	for s.step() {
		if s.now > unit.Second {
			s.t.Fatal("the story does not end")
		}
	}
	s.Check(s.t, name)
}

// step processes the next event.
func (s *tale) step() bool {
	next := s.a.TimeoutAt()
	for end, waits := range [2]bool{s.a.Pending(), s.b.Responding()} {
		if waits {
			next = min(next, max(s.now, s.wire[end]))
		}
	}
	if len(s.todo) > 0 {
		next = min(next, s.todo[0].at)
	}
	if len(s.air) > 0 {
		next = min(next, s.air[0].at)
	}
	if next == unit.Never {
		return false
	}
	s.now = max(s.now, next)
	switch {
	case len(s.todo) > 0 && s.todo[0].at <= s.now:
		d := s.todo[0]
		s.todo = s.todo[1:]
		s.Tell(s.now, "%s", d.say)
		if err := d.do(); err != nil {
			s.Tell(s.now, "    refused: %v", err)
		}
		s.ends()
	case len(s.air) > 0 && s.air[0].at <= s.now:
		f := s.air[0]
		s.air = s.air[1:]
		if f.to == 0 {
			s.hear(&f.p)
		} else {
			s.take(&f.p)
		}
	case s.a.TimeoutAt() <= s.now:
		s.timeout()
	default:
		s.send()
	}
	return true
}

func (s *tale) send() {
	var p rc.Packet
	switch {
	case s.b.Responding() && s.wire[1] <= s.now && s.b.NextResponse(&p):
		s.launch(1, &p, true)
	case s.a.Pending() && s.wire[0] <= s.now && s.a.Next(s.now, &p):
		s.launch(0, &p, true)
	}
}

// launch puts a packet on the wire.
func (s *tale) launch(end int, p *rc.Packet, tell bool) {
	s.sent[end]++
	lost, late := false, unit.Time(0)
	if s.fate != nil {
		lost, late = s.fate(end, s.sent[end])
	}
	note := ""
	if p.Again {
		note += " again"
	}
	if lost {
		note += ", lost on the way"
	} else if late > 0 {
		note += fmt.Sprintf(", held up for %v", late)
	}
	if tell || note != "" {
		s.Tell(s.now, "%c sends %s%s", "AB"[end], spell(p), note)
	}
	s.wire[end] = s.now + unit.Microsecond
	if lost {
		return
	}
	f := flight{s.now + 6*unit.Microsecond + late, 1 - end, *p}
	i := len(s.air)
	for i > 0 && s.air[i-1].at > f.at {
		i--
	}
	s.air = append(s.air[:i], append([]flight{f}, s.air[i:]...)...)
}

// spell writes a packet as a capture would.
func spell(p *rc.Packet) string {
	if p.Opcode != roce.Acknowledge {
		return fmt.Sprintf("%v %d", p.Opcode, p.PSN)
	}
	switch at, n := p.PSN+p.MSN>>8, p.MSN&0xff; p.Syndrome { // our profile, rc/doc.go
	case roce.NakMissing:
		return fmt.Sprintf("NAK packets missing: %d from %d on", n, at)
	case roce.NakGap:
		return fmt.Sprintf("ACK before a gap: %d missing at %d, %d is here", n, p.PSN, at)
	}
	return fmt.Sprintf("%v %d", p.Syndrome, p.PSN)
}

// take passes a packet to B and records B's answers.
func (s *tale) take(p *rc.Packet) {
	var ans rc.Answer
	s.b.Data(p, &ans)
	verdict := map[rc.Verdict]string{rc.Accepted: "takes", rc.Duplicate: "has had", rc.Refused: "refuses",
		rc.Reordered: "keeps, ahead of a gap,", rc.OutOfOrder: "drops, ahead of a gap,",
		rc.NotReady: "has no receive for"}[ans.Verdict]
	answer := ""
	if ans.Reply {
		answer = ", answers " + spell(&ans.Packet)
	}
	s.Tell(s.now, "B %s %d%s", verdict, p.PSN, answer)
	if ans.Reply {
		s.launch(1, &ans.Packet, false)
	}
	s.ends()
}

// hear is A's side.
func (s *tale) hear(p *rc.Packet) {
	_, before, _ := s.a.Sequence()
	resending := s.a.Resending()
	s.a.Acknowledged(s.now, p)
	_, after, _ := s.a.Sequence()
	then := ""
	switch {
	case s.a.State() == rc.Error:
	case s.a.WaitsForReceiver():
		then = fmt.Sprintf(", waits until %v", s.a.TimeoutAt())
	case roce.PSNDiff(after, before) < 0:
		then = fmt.Sprintf(", goes back to %d", after)
	case s.a.Resending() && !resending:
		then = ", sends again what is missing"
	}
	verb := "hears"
	if p.Opcode != roce.Acknowledge {
		verb = "takes"
	}
	s.Tell(s.now, "A %s %s%s", verb, spell(p), then)
	s.ends()
}

func (s *tale) timeout() {
	timeouts, waits := s.a.Timeouts, s.a.WaitsForReceiver()
	s.a.Timeout(s.now)
	switch {
	case waits:
		s.Tell(s.now, "A has waited for the receiver and tries again")
	case s.a.Timeouts > timeouts:
		s.Tell(s.now, "A's local ACK timeout runs out")
	default:
		s.Tell(s.now, "A has heard nothing for longer than an answer takes and asks")
	}
	s.ends()
}

// ends records completions and the failure of a queue pair.
func (s *tale) ends() {
	for c, ok := s.a.PopCompletion(); ok; c, ok = s.a.PopCompletion() {
		s.Tell(s.now, "    A's request %d, %v: %v", c.ID, c.Verb, c.Status)
	}
	for r, ok := s.b.PopReceived(); ok; r, ok = s.b.PopReceived() {
		s.Tell(s.now, "    B's receive %d: %v, %d bytes", r.ID, r.Status, r.Len)
	}
}

const us = unit.Microsecond

// loses drops packets of A by their position.
func loses(places ...int) func(end, n int) (bool, unit.Time) {
	return func(end, n int) (bool, unit.Time) {
		for _, p := range places {
			if end == 0 && n == p {
				return true, 0
			}
		}
		return false, 0
	}
}

// delays holds up the nth packet of B.
func delays(place int, by unit.Time) func(end, n int) (bool, unit.Time) {
	return func(end, n int) (bool, unit.Time) {
		if end == 1 && n == place {
			return false, by
		}
		return false, 0
	}
}

func selective(c *rc.Config) { c.Recovery, c.Window, c.NakAfter = rc.Selective, 64, 2 }

func TestStories(t *testing.T) {
	t.Run("loss-go-back-n", func(t *testing.T) {
		s := newTale(t, `Go-back-N: one lost packet costs all that were sent after it.
			B takes packets in order only. It says once that 103 is missing (IBTA 9.7.5.2, NAK code 0)
			and drops what comes until then; A starts over from there. 5 us each way.`, nil)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		s.fate = loses(4)
		s.posts(0, 1, rc.Write, 9, 8)
		s.play("loss-go-back-n")
	})
	t.Run("loss-selective", func(t *testing.T) {
		s := newTale(t, `Selective repeat: one lost packet costs one packet.
			B keeps what comes after a gap. When more than nak_after packets, here 2, have overtaken 103 it counts
			as lost and not as late, B asks for it, and A sends it alone (rc/doc.go, Recovery).`, selective)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		s.fate = loses(4)
		s.posts(0, 1, rc.Write, 9, 8)
		s.play("loss-selective")
	})
	t.Run("loss-twice-selective", func(t *testing.T) {
		s := newTale(t, `Selective repeat: what was sent again is lost again.
			Nothing asks twice for 103 at once: but answers to packets that A sent after it show that it did not
			come, so A need not wait for the local ACK timeout of 1 ms (rc/doc.go, Recovery).`, selective)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		s.fate = loses(4, 9)
		s.posts(0, 1, rc.Write, 9, 8)
		s.posts(19*us, 2, rc.Write, 9, 6)
		s.play("loss-twice-selective")
	})
	t.Run("last-packet-lost", func(t *testing.T) {
		s := newTale(t, `The last packet is lost: nobody is left to notice but the clock.
			B has seen nothing after the gap, so it cannot ask. A's local ACK timeout, 4.096 us x 2^8, sends it
			again from the oldest packet without an ACK (IBTA 9.7.6.1.3).`, nil)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		s.fate = loses(3)
		s.posts(0, 1, rc.Write, 9, 3)
		s.play("last-packet-lost")
	})
	t.Run("dead-peer", func(t *testing.T) {
		s := newTale(t, `A peer that is gone: A tries retry_cnt times, here 2, and gives up.
			The request that could not be carried out ends with the reason, what was posted behind it is flushed
			(IBTA 9.9.2.1.1, 10.3.1.7).`, nil)
		s.fate = func(end, n int) (bool, unit.Time) { return true, 0 }
		s.posts(0, 1, rc.Write, 9, 1)
		s.posts(0, 2, rc.Write, 9, 1)
		s.play("dead-peer")
	})
	t.Run("receiver-not-ready", func(t *testing.T) {
		s := newTale(t, `Receiver not ready: a SEND comes before a receive is posted.
			B answers with an RNR NAK, whose timer code 1 means 10 us (IBTA 9.7.5.2). A waits so long and sends again;
			the second time a receive is there.`, nil)
		s.posts(0, 1, rc.Send, 0, 2)
		s.at(15*us, "B posts receive 7", func() error {
			return s.b.PostReceive(rc.Receive{ID: 7, Data: [][]byte{make([]byte, 4096)}})
		})
		s.play("receiver-not-ready")
	})
	t.Run("read-reordered-go-back-n", func(t *testing.T) {
		s := newTale(t, `READ data that was overtaken, go-back-N: A asks again for all from the gap on.
			A response ahead of the expected one shows that another did not come (IBTA 9.7.5.1.2), though it is only
			late: what A dropped meanwhile it must ask for as well.`, nil)
		s.region(9, rc.RemoteRead)
		s.fate = delays(2, 3*us)
		s.posts(0, 1, rc.Read, 9, 5)
		s.play("read-reordered-go-back-n")
	})
	t.Run("read-reordered-selective", func(t *testing.T) {
		s := newTale(t, `READ data that was overtaken, selective repeat: it is put where it belongs.
			Two packets overtake 101. That is not more than nak_after, 2, so nothing is asked for again.`, selective)
		s.region(9, rc.RemoteRead)
		s.fate = delays(2, 5*us/2)
		s.posts(0, 1, rc.Read, 9, 5)
		s.play("read-reordered-selective")
	})
	t.Run("rights-refused", func(t *testing.T) {
		s := newTale(t, `Rights: key 9 may be written, key 10 only read.
			The second WRITE names a key whose region does not allow it. B refuses it at its first packet, both ends go
			to ERR, and what is behind it is flushed (IBTA 9.7.4.1.5, 10.3.1.7).`, nil)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		s.region(10, rc.RemoteRead)
		s.posts(0, 1, rc.Write, 9, 2)
		s.posts(0, 2, rc.Write, 10, 2)
		s.posts(0, 3, rc.Write, 9, 1)
		s.at(20*us, "the application looks", func() error {
			s.Tell(s.now, "    A is in %v, B in %v", s.a.State(), s.b.State())
			return nil
		})
		s.play("rights-refused")
	})
	t.Run("send-queue-drain", func(t *testing.T) {
		s := newTale(t, `SQD: the send queue is drained so that attributes can be changed.
			A finishes the message under way and starts no other (IBTA 10.3.1.5). Back in RTS the next one goes.`, nil)
		s.region(9, rc.LocalWrite|rc.RemoteWrite)
		drained := func() { s.Tell(s.now, "    %v, drained: %v", s.a.State(), s.a.Drained()) }
		s.posts(0, 1, rc.Write, 9, 3)
		s.posts(0, 2, rc.Write, 9, 2)
		s.at(500*unit.Nanosecond, "A's application moves the queue pair to SQD", func() error {
			defer drained()
			return s.a.Modify(rc.SendQueueDrain, 0)
		})
		s.at(10*us, "it looks", func() error { drained(); return nil })
		s.at(16*us, "it looks again, and goes back to RTS", func() error {
			drained()
			return s.a.Modify(rc.ReadyToSend, 0)
		})
		s.play("send-queue-drain")
	})
}
