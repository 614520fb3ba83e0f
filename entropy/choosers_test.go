package entropy

import (
	"maps"
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// A chooser returns an existing port for any feedback. Equal seeds and feedback give equal ports, and nothing is
// allocated per packet.
func TestEveryChooserTakesAPortThatThereIs(t *testing.T) {
	for _, p := range Policies() {
		rapid.Check(t, func(rt *rapid.T) {
			v := maps.Clone(p.Defaults)
			if _, ok := v["set_aside"]; ok {
				v["set_aside"] = rapid.IntRange(1, 100).Draw(rt, "set aside")
			}
			ports := rapid.IntRange(2, Most).Draw(rt, "ports")
			seed := rapid.Uint32().Draw(rt, "seed")
			a, b := p.New(v)(ports, seed), p.New(v)(ports, seed)
			now := unit.Time(0)
			for range rapid.IntRange(1, 2000).Draw(rt, "packets") {
				i := a.Next(now)
				if i < 0 || i >= ports || b.Next(now) != i {
					rt.Fatalf("%s takes port %d of %d", p.Name, i, ports)
				}
				if rapid.IntRange(0, 3).Draw(rt, "hear") > 0 {
					at := rapid.IntRange(0, ports-1).Draw(rt, "of")
					f := Feedback(rapid.IntRange(0, 4).Draw(rt, "what"))
					a.Heard(now, at, f)
					b.Heard(now, at, f)
				}
				now += unit.Time(rapid.Int64Range(0, int64(unit.Millisecond)).Draw(rt, "wait"))
			}
			if n := testing.AllocsPerRun(10, func() { a.Heard(now, a.Next(now), Marked) }); n > 0 {
				rt.Fatalf("%s: %v allocations for a packet", p.Name, n)
			}
		})
	}
}

// Each round has every port once, and rounds differ in their orders.
func TestObliviousRounds(t *testing.T) {
	for _, ports := range []int{2, 3, 100, 128, 256} {
		o := newOblivious(ports, 5)
		var first []int
		orders := 0
		for range 20 {
			var round []int
			for range ports {
				round = append(round, o.Next(0))
			}
			sorted := slices.Compact(slices.Sorted(slices.Values(round)))
			if len(sorted) != ports || sorted[0] != 0 || sorted[ports-1] != ports-1 {
				t.Fatalf("%d ports: the round %v", ports, round)
			}
			if first == nil {
				first = round
			} else if !slices.Equal(first, round) {
				orders++
			}
		}
		if orders == 0 {
			t.Errorf("%d ports: every round has the same order", ports)
		}
	}
}

// A marked port is skipped in the next round, the port of a lost packet in four rounds, and that of a time-out in
// fifteen. The other ports send its packets.
func TestBitmapSkips(t *testing.T) {
	for f, rounds := range map[Feedback]int{Arrived: 0, Marked: 1, Trimmed: 4, Missing: 4, TimedOut: 15} {
		b := newBitmap(16, 9)
		b.Heard(0, 7, f)
		seen := 0
		for seen < 40*16 && b.Next(0) != 7 {
			seen++
		}
		if got := (seen + 8) / 15; got < rounds || got > rounds+1 {
			t.Errorf("after feedback %d the port comes again after %d packets of others", f, seen)
		}
	}
	b := newBitmap(16, 9)
	for i := range 16 {
		b.Heard(0, i, TimedOut)
		b.Heard(0, i, TimedOut)
	}
	b.Next(0) // all ports are bad: one is still used, and a penalty is bounded
	if slices.Max(b.penalty) != worst {
		t.Errorf("penalties %v", b.penalty)
	}
}

// REPS reuses a good port once and no bad one; without a known good port it draws a random one. Frozen by a
// time-out, it reuses only its known ports until the freeze ends; then it explores.
func TestREPS(t *testing.T) {
	r := newREPS(200, unit.Millisecond, 3)
	for i := range 8 {
		r.Heard(0, 10+i, Arrived)
		r.Heard(0, 100+i, Marked)
	}
	for i := range 8 {
		if got := r.Next(0); got != 10+i {
			t.Fatalf("packet %d leaves from port %d", i, got)
		}
	}
	drawn := map[int]bool{}
	for range 100 {
		drawn[r.Next(0)] = true
	}
	if len(drawn) < 50 {
		t.Errorf("of 100 packets drawn only %d ports came up", len(drawn))
	}
	r.Heard(0, 10, TimedOut)
	frozen := map[int]bool{}
	for range 100 {
		frozen[r.Next(unit.Millisecond)] = true
	}
	for i := range 8 {
		if !frozen[10+i] {
			t.Errorf("frozen, it does not use port %d", 10+i)
		}
	}
	if len(frozen) != 8 {
		t.Errorf("frozen, it uses %v", frozen)
	}
	r.Heard(unit.Millisecond, 77, Arrived) // still frozen: the port is known from now on
	if later := r.Next(unit.Millisecond); later == 10 {
		t.Error("the oldest known port has not given way")
	}
	thawed := map[int]bool{}
	for range explore {
		thawed[r.Next(unit.Millisecond+1)] = true
	}
	if len(thawed) < 10 {
		t.Errorf("after the freeze it explores %d ports", len(thawed))
	}
}

// Mixed uses good ports in the order of their arrival, once each, and otherwise chooses as bitmap does.
func TestMixed(t *testing.T) {
	m, b := newMixed(64, 4), newBitmap(64, 4)
	m.Heard(0, 5, Arrived)
	m.Heard(0, 6, Marked)
	b.Heard(0, 6, Marked)
	m.Heard(0, 9, Arrived)
	if i, j := m.Next(0), m.Next(0); i != 5 || j != 9 {
		t.Errorf("good ports 5 and 9, it takes %d and %d", i, j)
	}
	for range 300 {
		if i, j := m.Next(0), b.Next(0); i != j {
			t.Fatalf("port %d, bitmap takes %d", i, j)
		}
	}
	for i := range 300 { // more than its memory: the oldest are dropped
		m.Heard(0, i%64, Arrived)
	}
	if i := m.Next(0); i != 300%256 {
		t.Errorf("the oldest of 256 kept is %d", i)
	}
}

// said is an answer about a packet, or a report of n missing packets from it on.
type said struct {
	psn     uint32
	missing int
}

func (s said) About() (uint32, bool)  { return s.psn, s.missing == 0 }
func (s said) Missing() (uint32, int) { return s.psn, s.missing }

// The outcome of a packet is reported for the port of its last transmission, across the wrap of PSNs.
func TestPathsRememberPorts(t *testing.T) {
	b := newBitmap(8, 1)
	p := NewPaths(b)
	left := map[uint32]int{}
	for i := range uint32(20) {
		left[1<<24-10+i] = p.Next(0, (1<<24-10+i)&(1<<24-1), nil, 8)
	}
	p.Answered(0, said{psn: 3}, true)
	p.Answered(0, said{psn: 4}, false)
	p.Answered(0, said{psn: 5, missing: 1}, true)
	for port, n := range b.penalty {
		if want := port == left[1<<24+3]; (n == 1) != want {
			t.Errorf("port %d has penalty %d", port, n)
		}
	}
	before := slices.Clone(b.penalty)
	p.Lost(0, said{1<<24 - 2, 3}, Missing) // the last two and the first
	for port, n := range b.penalty {
		lost := uint8(0)
		for _, psn := range []uint32{1<<24 - 2, 1<<24 - 1, 1 << 24} {
			if port == left[psn] {
				lost++
			}
		}
		if (n > before[port]) != (lost > 0) {
			t.Errorf("port %d has penalty %d, before %d; %d lost", port, n, before[port], lost)
		}
	}
	none, turn, beside := (*Paths)(nil), Turn{}, Turn{}
	none.Heard(0, 3, Missing)
	none.Answered(0, said{psn: 3}, true)
	none.Lost(0, said{3, 2}, Missing)
	for i := range uint32(20) {
		if got, want := none.Next(0, i, &turn, 8), beside.Next(8); got != want {
			t.Errorf("without a chooser packet %d leaves from %d, want %d", i, got, want)
		}
	}
	if NewPaths(nil) != nil {
		t.Error("no chooser has a memory")
	}
}

// A command line sets a policy and its parameters; unknown parameters are reported.
func TestParse(t *testing.T) {
	p, v, err := Parse("reps,source_ports=32,freeze=1ms")
	if err != nil || p.Name != "reps" || Ports(v) != 32 || v["freeze"] != unit.Millisecond ||
		v["ack_every"] != 1 {
		t.Fatalf("%v %v %v", p, v, err)
	}
	for text, want := range map[string]string{
		"rep": "unknown policy \"rep\"; " +
			"accepted: entropy, oblivious, bitmap, reps, mixed",
		"reps,ports=3":        "reps has no parameter \"ports\"; it has source_ports, ack_every, freeze",
		"reps,source_ports":   "source_ports of reps: \"\" is not a whole number",
		"bitmap,freeze=1ms":   "bitmap has no parameter \"freeze\"; it has source_ports, ack_every",
		"reps,source_ports=1": "source_ports of reps: 1 is nothing to choose from, expected at least 2",
	} {
		if _, _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
