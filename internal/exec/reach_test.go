package exec

import (
	"testing"

	"railyard/internal/workload"
	"railyard/unit"
)

// TestOnRail: the relay is in the sender's server and on the other's rail. It is the GPU at the other's position if
// that is on the rail, else the rail's first. If the server has none on the rail, it is the sender itself.
func TestOnRail(t *testing.T) {
	m := Machine{ // 0..3, 4..7 with a NIC for two GPUs, 8..9, 10..12
		Server: []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3},
		Rail:   []int{0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 2, 1, 0},
	}
	for _, c := range []struct{ from, to, want int }{
		{0, 7, 3}, {0, 6, 2}, {3, 4, 0}, {3, 5, 1}, // at the other's position
		{7, 0, 4}, {4, 3, 7}, // in the second server
		{0, 11, 2},           // place 1 is on rail 0: the first on rail 1
		{4, 8, 6}, {5, 9, 6}, // place 0 and 1 are on rail 0
		{8, 0, 8},                // server 2 has no GPU on rail 0
		{12, 9, 11}, {10, 3, 11}, // position 3 would be beyond the last
		{8, 10, 8}, {2, 10, 2}, // rail 2 exists nowhere else
	} {
		if got := m.OnRail(c.from, c.to); got != c.want {
			t.Errorf("from %d on the rail of %d: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

// TestAnyRailNeedsNoRelay: a GPU with AnyRail is reached directly, even with PXN, and reaches others directly.
func TestAnyRailNeedsNoRelay(t *testing.T) {
	m := machine(3)
	m.NVLink.PXN = true
	m.Rail[4] = AnyRail
	b := workload.NewBuilder(6)
	b.Transfer(1, 4, unit.MB)
	x, w := over(m, seal(t, b))
	for _, c := range []struct{ from, to, want int }{{1, 4, 1}, {4, 1, 4}, {4, 0, 4}, {0, 4, 0}, {0, 3, 1}, {0, 2, 0}} {
		if got := x.Relay(c.from, c.to); got != c.want {
			t.Errorf("%d reaches %d by %d, want %d", c.from, c.to, got, c.want)
		}
	}
	if w.run(); len(w.sent) != 1 || w.sent[0] != [2]int{1, 4} || x.NVBytes != 0 {
		t.Errorf("sent %v, %v over NVLink", w.sent, x.NVBytes)
	}
}

// TestKill: computations, sends, relays and receives of a dead GPU never end, whenever it fails. Other GPUs go on.
func TestKill(t *testing.T) {
	ser := unit.Serialize(unit.MB, rate)
	for _, c := range []struct {
		name string
		gpu  int
		at   unit.Time // time of its failure
		done []bool    // 0 computes, sends to 2; 1 sends to 3; 2 computes then; a transfer in a server
	}{
		{"before it computes", 0, 0, []bool{false, false, true, false, false}},
		{"while it computes", 0, 2 * us, []bool{false, false, true, false, false}},
		{"while its bytes are under way", 0, 11 * us, []bool{true, true, true, true, false}},
		{"while it is sent", 2, 11 * us, []bool{true, false, true, false, true}},
		{"when all is over", 0, 10*us + 2*(lat+ser), []bool{true, true, true, true, true}},
		{"the other sender", 1, 0, []bool{true, true, false, true, false}},
	} {
		b := workload.NewBuilder(4)
		computes := b.Compute(0, 10*us, workload.Forward)
		out := b.Transfer(0, 2, unit.MB, computes)
		side := b.Transfer(1, 3, unit.MB)
		then := b.Compute(2, us, workload.Forward, out)
		near := b.Transfer(0, 1, unit.GB/100, computes)
		x, w := over(machine(2), seal(t, b))
		if c.at == 0 {
			x.Kill(c.gpu)
		} else {
			w.at(c.at, func() { x.Kill(c.gpu) })
		}
		w.run()
		left := 0
		for i, op := range []int32{computes, out, side, then, near} {
			if done := x.End[op] != unit.Never; done != c.done[i] {
				t.Errorf("%s: operation %d ended: %v, want %v", c.name, op, done, c.done[i])
			}
			if !c.done[i] {
				left++
			}
		}
		if x.Left != left || x.Computing != 0 || !x.Dead(c.gpu) || x.Dead(3) {
			t.Errorf("%s: %d left, want %d; %d computing", c.name, x.Left, left, x.Computing)
		}
	}
}
