package swconf

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// at is a separate position for each line.
func at(line int) Place { return Place{File: "x.cfg", Line: line, Col: 3} }

// leaf is a correct switch, whose text is listed line by line: data in queue 3, CNPs in queue 7.
func leaf() *Config {
	q := &QoS{Input: Say("trust", at(1)), Output: Say("out", at(2))}
	q.DSCP[24], q.DSCP[48] = Say(uint8(3), at(24)), Say(uint8(7), at(48))
	q.Queues[0] = Queue{Name: "q0", At: at(60), Share: Say(50, at(60))}
	q.Queues[3] = Queue{Name: "q3", At: at(31), Share: Say(50, at(32)), Pause: Say(3, at(33)),
		WRED: Say(WRED{Min: 150_000, Max: 3_000_000, Percent: 7, ECN: true}, at(34)),
		PG:   Say(Pause{XOff: 3_500_000, XOn: 100_000, Headroom: 200_000}, at(35)),
		MTU:  Say(unit.Bytes(9216), at(36))}
	q.Queues[7] = Queue{Name: "q7", At: at(71), Strict: Say(true, at(72))}
	p := &Port{Name: "Ethernet1", Number: 1, At: at(90), PFC: Say(PFCOn, at(91)),
		Watchdog: Say(true, at(94)),
		MTU:      Say(unit.Bytes(9216), at(92)),
		Speed:    Say(400*unit.Gbps, at(93)), QoS: q}
	return &Config{OS: NXOS, File: "x.cfg", Hostname: Say("leaf", at(99)), Ports: []*Port{p}, QoS: q,
		LLDP: Say(true, at(98)),
		Watchdog: Watchdog{On: Say(true, at(97)), Poll: Say(unit.Millisecond, at(95)),
			Detect: Say(unit.Millisecond, at(95)), Restore: Say(unit.Millisecond, at(95))}}
}

func linted(c ...*Config) []Finding {
	return Lint(Input{Configs: c, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096, Pipeline: unit.Microsecond / 2,
		Base: queue.Default()})
}

// Each rule near its edge: a value that is just wrong is found by its rule, on its line, and the adjacent value is
// not.
func TestRulesAtTheirEdges(t *testing.T) {
	for _, f := range linted(leaf()) {
		t.Errorf("the good switch: %+v", f)
	}
	need := queue.Headroom(400*unit.Gbps, topo.CableDelay(3000), queue.Response(400*unit.Gbps),
		unit.Microsecond/2,
		9216)
	edge := func(set func(q *Queue, x int64)) func(*Config, int64) {
		return func(c *Config, x int64) { set(&c.QoS.Queues[3], x) }
	}
	for _, c := range []struct {
		rule      string
		line      int
		bad, good int64
		set       func(*Config, int64)
	}{
		{"threshold-order", 34, 3_500_000, 3_499_999,
			edge(func(q *Queue, x int64) { q.WRED.V.Max = unit.Bytes(x) })},
		{"threshold-order", 34, 3_000_001, 3_000_000,
			edge(func(q *Queue, x int64) { q.WRED.V.Min = unit.Bytes(x) })},
		{"threshold-order", 34, 100_000, 100_001,
			edge(func(q *Queue, x int64) { q.WRED.V.Min = unit.Bytes(x) })},
		{"threshold-order", 35, 150_000, 149_999,
			edge(func(q *Queue, x int64) { q.PG.V.XOn = unit.Bytes(x) })},
		{"threshold-order", 35, 3_500_000, 0,
			edge(func(q *Queue, x int64) { q.PG.V.XOn = unit.Bytes(x) })},
		{"threshold-order", 34, 3_947_581, 3_947_580, func(c *Config, x int64) { // 64MiB / 17
			c.QoS.Queues[3].PG.V = Pause{Alpha: 1. / 16, Headroom: 200_000}
			c.QoS.Queues[3].WRED.V.Max = unit.Bytes(x)
		}},
		{"threshold-order", 34, 1_200_000, 1_199_999, func(c *Config, x int64) { // of the switch's own buffer
			c.QoS.Queues[3].PG.V = Pause{Alpha: 0.25}
			c.QoS.Queues[3].WRED.V.Max, c.Buffer = unit.Bytes(x), Say(unit.Bytes(6_000_000), at(96))
		}},
		{"threshold-buffer", 35, int64(queue.Default().Buffer) - 3_500_000 + 1,
			int64(queue.Default().Buffer) - 3_500_000,
			edge(func(q *Queue, x int64) { q.PG.V.Headroom = unit.Bytes(x) })},
		{"threshold-buffer", 40, 3_700_000 - 1, 3_700_000, func(c *Config, x int64) {
			c.Buffer = Say(unit.Bytes(3_700_000), at(96))
			c.QoS.Queues[0].Limit = Say(unit.Bytes(2*3_700_000-x), at(40))
		}},
		{"headroom", 35, int64(need) - 1, int64(need),
			edge(func(q *Queue, x int64) { q.PG.V.Headroom = unit.Bytes(x) })},
		{"ecn-missing", 34, 0, 1, edge(func(q *Queue, x int64) { q.WRED.V.ECN = x == 1 })},
		{"ecn-never", 34, 0, 1, edge(func(q *Queue, x int64) { q.WRED.V.Percent = float64(x) })},
		{"wred-average", 34, 1, 0, edge(func(q *Queue, x int64) { q.WRED.V.Weight = int(x) })},
		{"pfc-class", 33, 4, 3, edge(func(q *Queue, x int64) { q.Pause.V = int(x) })},
		{"pfc-interface", 91, int64(PFCOff), int64(PFCAuto), func(c *Config, x int64) {
			c.Ports[0].PFC.V = PFCMode(x)
		}},
		{"bandwidth-sum", 32, 51, 50, edge(func(q *Queue, x int64) { q.Share.V = int(x) })},
		{"bandwidth-left", 32, 49, 50, edge(func(q *Queue, x int64) { q.Share.V = int(x) })},
		{"data-starved", 32, 0, 50, edge(func(q *Queue, x int64) { q.Share.V = int(x) })},
		{"cnp-in-roce-queue", 48, 3, 7, func(c *Config, x int64) { c.QoS.DSCP[48].V = uint8(x) }},
		{"data-strict", 37, 1, 0, edge(func(q *Queue, x int64) { q.Strict = Say(x == 1, at(37)) })},
		{"mtu-small", 92, 4096 + inIP - 1, 4096 + inIP, func(c *Config, x int64) {
			c.Ports[0].MTU.V = unit.Bytes(x)
		}},
	} {
		for _, wrong := range []bool{true, false} {
			x := map[bool]int64{true: c.bad, false: c.good}[wrong]
			conf := leaf()
			c.set(conf, x)
			found := slices.ContainsFunc(linted(conf), func(f Finding) bool {
				return f.Rule == c.rule && f.Line == c.line && f.Column == 3 && f.Message != "" && f.Why != ""
			})
			if found != wrong {
				t.Errorf("%s at %d: found on line %d is %v\n%+v", c.rule, x, c.line, found, linted(conf))
			}
		}
	}
}

// Disabled items are no finding, and FRR, which has no queues, has none about them.
func TestWhatDoesNotCount(t *testing.T) {
	c := leaf()
	c.QoS.Queues[3].WRED.V.ECN = false
	before := len(linted(c))
	if before == 0 {
		t.Fatal("nothing is found")
	}
	c.Ports[0].Down = Say(true, at(94))
	c.QoS = nil
	for _, f := range linted(c) {
		if f.Rule == "ecn-missing" {
			t.Errorf("of a port that is down: %+v", f)
		}
	}
	c = leaf()
	c.OS, c.QoS.Queues[3].WRED.V.ECN = FRR, false
	for _, f := range linted(c) {
		if f.Rule == "ecn-missing" {
			t.Errorf("of FRR: %+v", f)
		}
	}
}

// The value that most have; of equally common ones the first.
func TestMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 20).Draw(t, "values")
		count := func(v int) (n int) {
			for _, x := range list {
				if x == v {
					n++
				}
			}
			return n
		}
		got := majority(list)
		for _, x := range list {
			if count(x) > count(got) ||
				count(x) == count(got) && slices.Index(list, x) < slices.Index(list, got) {
				t.Fatalf("%d of %v", got, list)
			}
		}
	})
}

// The Spec of a configuration has its settings, and the platform's values for unset ones, which a note names.
func TestSpecOfText(t *testing.T) {
	c := leaf()
	s, notes, err := c.Spec(queue.Default())
	if err != nil || len(notes) != 1 { // only one port
		t.Fatal(err, notes)
	}
	k := s.Queues[3]
	if !k.Lossless || k.XOff != 3_500_000 || k.XOn != 100_000 || k.Headroom != 200_000 || k.Weight != 50 ||
		k.WRED.Min != 150_000 || k.WRED.Max != 3_000_000 || math.Abs(float64(k.WRED.Probability)-0.07) > 1e-12 ||
		!s.Queues[7].Strict || s.DSCP[24] != 3 || s.DSCP[48] != 7 || s.MTU != 9216 || !s.Watchdog.On {
		t.Errorf("%+v", s)
	}
	c.QoS.Queues[3].PG, c.Ports[0].MTU = Said[Pause]{}, Said[unit.Bytes]{}
	c.QoS.Queues[3].MTU = Said[unit.Bytes]{}
	s, notes, err = c.Spec(queue.Default())
	p := queue.Default()
	if err != nil || len(notes) != 3 || s.Queues[3].XOff != p.Queues[3].XOff || s.MTU != p.MTU {
		t.Errorf("%v, %q, %+v", err, notes, s.Queues[3])
	}
	c.Ports[0].PFC.V = PFCOff
	if s, _, _ = c.Spec(queue.Default()); s.Queues[3].Lossless {
		t.Error("lossless on a port without PFC")
	}
	c.OS = FRR
	if _, _, err := c.Spec(queue.Default()); err == nil || fmt.Sprint(err) != "x.cfg: "+ErrNoQoS.Error() {
		t.Errorf("FRR: %v", err)
	}
}

// A switch whose watchdog period is shorter than its platform's default polling polls at that period; a configured
// polling interval stays.
func TestWatchdogPolls(t *testing.T) {
	c := leaf()
	c.Watchdog.Poll = Said[unit.Time]{V: 200 * unit.Millisecond}
	c.Watchdog.Detect, c.Watchdog.Restore = Say(100*unit.Millisecond, at(98)), Say(300*unit.Millisecond,
		at(99))
	if s, _, err := c.Spec(queue.Default()); err != nil || s.Watchdog.Poll != 100*unit.Millisecond {
		t.Errorf("%v, %+v", err, s.Watchdog)
	}
	c.Watchdog.Poll = Say(200*unit.Millisecond, at(97))
	if s, _, err := c.Spec(queue.Default()); err == nil {
		t.Errorf("%+v", s.Watchdog)
	}
}

// The number of interfaces in a text and of settings on them is bounded; after the bound everything is rejected.
func TestRoom(t *testing.T) {
	c := &Config{}
	if !c.Room(at(1), MaxPorts) || c.Room(at(2), MaxPorts+1) || c.Room(at(3), 1) || c.over != at(2) {
		t.Errorf("over at %+v", c.over)
	}
	c = &Config{}
	for i := 0; i < maxSaid/1000; i++ {
		if !c.Room(at(1), 1000) {
			t.Fatalf("full after %d", 1000*i)
		}
	}
	if c.Room(at(7), 1) || c.over != at(7) {
		t.Errorf("one more is taken, over at %+v", c.over)
	}
}

// A name is removed with its definitions and uses, and names of another kind stay. Descriptions of equal treatments
// have one fingerprint, wherever they are.
func TestObjectsAndFingerprints(t *testing.T) {
	c := &Config{}
	c.Define("a", "x", at(1), false)
	c.Define("b", "x", at(2), false)
	c.Use("a", "x", at(3))
	c.Use("b", "x", at(4))
	c.Undefine("a", "x")
	c.Unuse("b", "x")
	if len(c.Objects) != 1 || c.Objects[0].Kind != "b" || len(c.Refs) != 1 || c.Refs[0].Kind != "a" {
		t.Errorf("%+v, %+v", c.Objects, c.Refs)
	}
	a, b := *leaf().QoS, *leaf().QoS
	b.Queues[3].WRED.At, b.DSCP[24].At = at(500), at(501)
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("places make a difference")
	}
	for i, change := range []func(q *QoS){func(q *QoS) { q.DSCP[9] = Say(uint8(0), at(1)) },
		func(q *QoS) { q.DSCP[24].V = 4 }, func(q *QoS) { q.Queues[3].PG.V.XOn++ },
		func(q *QoS) { q.Queues[7].Strict.V = false }, func(q *QoS) { q.Queues[1].Share = Say(0, at(1)) }} {
		b := *leaf().QoS
		change(&b)
		if a.Fingerprint() == b.Fingerprint() {
			t.Errorf("change %d makes none", i)
		}
	}
}

// TestBufferSum checks the sums at their edges. Headroom of two ports equal to the buffer is a warning, and xOFF
// beyond the remainder a note. SONiC, which shares headroom, has neither from headroom alone.
func TestBufferSum(t *testing.T) {
	for _, x := range []struct {
		os         OS
		xoff, head unit.Bytes
		want       Severity
	}{
		{NXOS, 2_000_000, 1_000_000, ""},
		{NXOS, 2_000_001, 1_000_000, Info},
		{NXOS, 1, 3_000_000, Warning},
		{SONiC, 0, 3_000_000, ""},
	} {
		c := leaf()
		other := *c.Ports[0]
		other.Name, other.Number = "Ethernet1/2", 2
		c.OS, c.Buffer, c.Ports = x.os, Say(unit.Bytes(6_000_000), at(96)), append(c.Ports[:1], &other)
		c.QoS.Queues[3].PG.V = Pause{XOff: x.xoff, Headroom: x.head}
		if got := severity(c, "buffer-sum"); got != x.want {
			t.Errorf("%s, xOFF %v, headroom %v: %q, expected %q", x.os, x.xoff, x.head, got, x.want)
		}
	}
}
