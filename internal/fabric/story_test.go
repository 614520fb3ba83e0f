package fabric

import (
	"fmt"
	"railyard/internal/engine"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/story"
	"railyard/roce"
	"railyard/unit"
)

// scene is a switch S with hosts A, B and C. It writes a transcript of the congestion.
type scene struct {
	*bench
	*story.Page
	t *testing.T
	n uint32 // frames sent so far
}

const frame = 4062 // bytes on the cable, without preamble and gap: 4,000 of payload

func newScene(t *testing.T, preface string, prop unit.Time, tune func(*queue.Spec)) *scene {
	s := &scene{bench: newBenchOn(t, 3, prop, tune), Page: story.Open(preface), t: t}
	name := map[int32]string{}
	for i := range s.hosts {
		name[s.hosts[i]], name[s.in[i]] = fmt.Sprintf("%c", 'A'+i), fmt.Sprintf("S:%c", 'A'+i)
	}
	s.Trace = func(at unit.Time, what string, port int32, prio int) {
		if what == "xon" && name[port] == name[s.hosts[2]] {
			return // the broken or slow receiver, whose events have their own description
		}
		peer := name[s.Ports[port].Peer]
		switch what {
		case "xoff":
			s.Tell(at, "%s: ingress is above xOFF with %d bytes, S pauses %s", name[port], s.held(port), peer)
		case "xon":
			s.Tell(at, "%s: ingress is down to %d bytes, below xON, S resumes %s", name[port], s.held(port),
				peer)
		case "pause":
			s.Tell(at, "%s stops sending priority %d", name[port], prio)
		case "resume":
			s.Tell(at, "%s sends priority %d again", name[port], prio)
		case "storm":
			s.Tell(at, "S: the watchdog finds a storm at %s, priority %d", name[port], prio)
		case "restore":
			s.Tell(at, "S: the watchdog gives %s back", name[port])
		}
	}
	return s
}

// held returns the bytes of priority 3 that an ingress counts.
func (s *scene) held(port int32) int32 {
	g := &s.ing[s.slot(port, 3)]
	return g.shared + g.headroom
}

// send passes a numbered frame of DSCP 24 to the switch now.
func (s *scene) send(in, dst int) uint32 {
	s.n++
	pi := s.Alloc()
	p := &s.Packets[pi]
	p.Dst, p.Payload, p.Size, p.Opcode, p.TOS, p.PSN = int32(dst), 4000, frame, roce.WriteMiddle,
		24<<2|ECT0, s.n
	s.Q.Push(engine.Node(s.Ports[s.hosts[in]].Node), s.Q.Now(), KindArrive, s.in[in], pi)
	return s.n
}

func (s *scene) check(name string) {
	s.t.Helper()
	if err := s.Audit(); err != nil {
		s.t.Error(err)
	}
	s.Check(s.t, name)
}

func TestStories(t *testing.T) {
	t.Run("pause-and-resume", pauseAndResume)
	for _, forward := range []bool{false, true} {
		name := map[bool]string{false: "storm-drop", true: "storm-forward"}[forward]
		t.Run(name, func(t *testing.T) { storm(t, name, forward) })
	}
	for _, ecn := range []bool{false, true} {
		name := map[bool]string{false: "wred-without-ecn", true: "wred-with-ecn"}[ecn]
		t.Run(name, func(t *testing.T) { wred(t, name, ecn) })
	}
}

// slot is how long a frame occupies a cable of 100 Gbit/s.
var slot = unit.Serialize(frame+roce.PreambleIFG, 100*unit.Gbps)

func pauseAndResume(t *testing.T) {
	s := newScene(t, `PFC: C cannot take what A sends, and nothing is lost.
		A sends a frame of 4,062 bytes to C every 326.56 ns, line rate, over cables of 1 us. C pauses S from
		10 us on and resumes it at 40 us. S lets the shared buffer fill up to xOFF, 40 KB, then pauses A; what A
		had sent before it knew goes to the headroom. At xON, 20 KB,
		it may go on (802.1Q 36; docs/references.md, headroom).`,
		unit.Microsecond, func(q *queue.Spec) {
			q.Queues[3] = queue.Class{Weight: 50, Lossless: true, XOff: 40 * unit.KB, XOn: 20 * unit.KB}
		})
	a, c := s.in[0], s.in[2]
	headroom := int32(0)
	told := map[string]bool{}
	once := func(what string, is bool) {
		if is && !told[what] {
			told[what] = true
			s.Tell(s.Q.Now(), "%s", what)
		}
	}
	s.Tell(0, "A sends to C at line rate; what S gets leaves at once")
	var way [4]bool // frames on A's cable
	for i := 0; s.Q.Now() < 60*unit.Microsecond; i++ {
		now := unit.Time(i) * slot
		s.run(now)
		if way[i%4] {
			s.send(0, 2)
			s.run(now + 1)
		}
		way[(i+3)%4] = s.Ports[s.hosts[0]].Paused == 0 // after the time of three frames, about 1 us
		headroom = max(headroom, s.ing[s.slot(a, 3)].headroom)
		once("S:A: the first frame goes to the headroom", headroom > 0)
		once("S:A: the last frame that A had under way is in", headroom > 0 && way == [4]bool{})
		if c := s.hosts[2]; now >= 10*unit.Microsecond && now-slot < 10*unit.Microsecond {
			s.Tell(now, "C sends a pause")
			s.SendPause(c, 3)
		} else if now >= 40*unit.Microsecond && now-slot < 40*unit.Microsecond {
			s.Tell(now, "C sends a resume; %v wait in S for it", s.QueueBytes(s.in[2], 3))
			s.SendResume(c, 3)
		}
	}
	total, _ := s.IngressPeak(a, 3)
	s.Tell(s.Q.Now(), "%d frames lost; S:A held %d bytes at most, %d of them in a headroom of %d",
		s.Drops, total, headroom, s.HeadroomLimit(a, 3))
	s.Tell(s.Q.Now(), "C paused S for %v, S paused A for %v", s.PausedFor(c), s.PausedFor(s.hosts[0]))
	s.check("pause-and-resume")
}

func storm(t *testing.T, name string, forward bool) {
	action := `
		Drop: what waits for C, is bound for it or comes from it in this priority is lost, so that
		the pause does not spread to A and from there through the fabric.`
	if forward {
		action = "Forward: S no longer obeys C's pauses and sends to it as if nothing were."
	}
	s := newScene(t, `The PFC watchdog, action `+name[len("storm-"):]+`: a NIC, C, pauses its switch without end.
		C is broken from 50 to 1,000 ms.
		A sends it a frame a millisecond. S looks every 200 ms: a queue that was paused at two looks, never
		let go between them, and holds frames is a storm (SONiC's rules, docs/references.md, watchdog).
		`+strings.TrimSpace(action)+`
		When no pause has come for 200 ms the queue is given back.`,
		100*unit.Nanosecond, func(q *queue.Spec) { q.Watchdog.On, q.Watchdog.Forward = true, forward })
	arrived, lost := int64(0), int64(0)
	for i := range 1600 {
		at := unit.Time(i) * ms
		s.run(at)
		switch at {
		case 50 * ms:
			s.Tell(at, "C breaks and sends pauses without end")
			s.SendPause(s.hosts[2], 3)
		case 1000 * ms:
			s.Tell(at, "C is mended and sends a resume")
			s.SendResume(s.hosts[2], 3)
		}
		if i%200 == 199 {
			got := s.got[2][3] / 4000
			s.Tell(at, "    in 200 ms %d frames reached C, %d were lost; %v wait",
				got-arrived, s.StormDrops-lost, s.QueueBytes(s.in[2], 3))
			arrived, lost = got, s.StormDrops
		}
		s.run(at + ms/2)
		s.send(0, 2)
	}
	s.run(1700 * ms)
	s.check(name)
}

func wred(t *testing.T, name string, ecn bool) {
	what := `WRED without ecn drops, in a no-drop class too.
		PFC saves frames from a full buffer, not from random-detect. The queue that a frame finds when it comes
		decides (Floyd and Jacobson 1993).`
	if ecn {
		what = `WRED with ecn marks instead of dropping (RFC 3168, section 5).
		The queue that a frame leaves behind when it goes decides, as in HPCC's model (docs/references.md, dcqcn).`
	}
	s := newScene(t, what+`
		A and B send twelve frames each to C at line rate, twice what its cable carries. Below the minimum, 10 KB,
		nothing happens; from there to the maximum, 20 KB, the chance rises to 100 %.`,
		100*unit.Nanosecond, func(q *queue.Spec) {
			q.Queues[3].WRED = queue.WRED{Min: 10 * unit.KB, Max: 20 * unit.KB, Probability: 1, ECN: ecn}
		})
	if ecn {
		s.TapPort(s.in[2], true)
		s.Tap = func(at unit.Time, port int32, out bool, p *Packet) {
			if port == s.in[2] && out {
				fate := ""
				if p.TOS&3 == CE {
					fate = ", marked CE"
				}
				s.Tell(at, "frame %d goes and leaves %5d bytes%s", p.PSN, s.QueueBytes(s.in[2], 3), fate)
			}
		}
	}
	for i := range 12 {
		for in := range 2 {
			s.run(unit.Time(i)*slot + unit.Time(in)*slot/2)
			now, drops, q := s.Q.Now(), s.Drops, s.QueueBytes(s.in[2], 3)
			n := s.send(in, 2)
			s.run(now + 1)
			if !ecn {
				fate := map[bool]string{false: "", true: ", dropped"}[s.Drops > drops]
				s.Tell(now, "%c's frame %d comes and finds %5d bytes%s", 'A'+in, n, q, fate)
			}
		}
	}
	s.run(unit.Millisecond)
	s.Tell(s.Q.Now(), "%d of 24 frames arrived, %d were dropped, %d marked", s.got[2][3]/4000, s.Drops,
		s.Marks)
	s.check(name)
}
