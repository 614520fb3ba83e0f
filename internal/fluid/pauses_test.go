package fluid_test

import (
	"testing"

	"railyard/internal/fluid"
	"railyard/unit"
)

// TestPauses checks flows under PFC alone, whose times are computed here. NICs 0 and 1 send to receiver 4 and NIC 2
// to receiver 5, 1e6 bytes each at 0.01 B/ps, over uplink 3, which has capacity for all. Receiver 4 takes half of
// what arrives. Its queue pauses the uplink, which then carries equal rates for both receivers. All three flows
// have 0.005 B/ps and end at 200 us. Without pauses the third has the whole line and ends at 100 us.
func TestPauses(t *testing.T) {
	for _, pauses := range []bool{true, false} {
		n := fluid.New([]float64{0.01, 0.01, 0.01, 0.04, 0.01, 0.01})
		n.Pauses = pauses
		for nic := range int32(3) {
			n.Start(0, nic, 1e6, 1, []fluid.Use{{Link: nic, Share: 1}, {Link: 3, Share: 1, Holds: true},
				{Link: 4 + nic/2, Share: 1, Holds: true}})
		}
		want := map[int32]unit.Time{0: 200 * unit.Microsecond, 1: 200 * unit.Microsecond, 2: 100 * unit.Microsecond}
		if pauses {
			want[2] = 200 * unit.Microsecond
		}
		for range want {
			n.Next(unit.Never)
			if at, _, tag := n.End(); at < want[tag]-2 || at > want[tag]+2 {
				t.Errorf("pauses %v: flow %d ends at %v, want %v", pauses, tag, at, want[tag])
			}
		}
	}
}

// TestTurns checks that a NIC with several flows sends no more into a full link than a NIC with one. NIC 0 has
// three, NIC 1 one, and link 2 carries the rate of one of them. Each NIC has half. The single flow ends when it has
// sent its 1e6 bytes at 0.005 B/ps.
func TestTurns(t *testing.T) {
	n := fluid.New([]float64{0.01, 0.01, 0.01})
	n.Pauses = true
	for tag := range int32(4) {
		n.Start(0, tag, 1e6, 1, []fluid.Use{{Link: tag / 3, Share: 1}, {Link: 2, Share: 1, Holds: true}})
	}
	n.Next(unit.Never)
	if at, _, tag := n.End(); tag != 3 || at < 200*unit.Microsecond-2 || at > 200*unit.Microsecond+2 {
		t.Errorf("flow %d is fastest, %v, want flow 3, 200 us", tag, at)
	}
}

// TestDown checks that a link without a rate delays no other flow: data sent into it are lost, and no switch queues
// them.
func TestDown(t *testing.T) {
	n := fluid.New([]float64{0.01, 0, 0.01})
	n.Pauses = true
	n.Start(0, 0, 1e6, 1, []fluid.Use{{Link: 0, Share: 1}, {Link: 1, Share: 1, Holds: true}})
	n.Start(0, 1, 1e6, 1, []fluid.Use{{Link: 0, Share: 1}, {Link: 2, Share: 1, Holds: true}})
	at, ok := n.Next(unit.Never)
	if !ok {
		t.Fatal("the flow beside a link that is down does not end")
	}
	if _, _, tag := n.End(); tag != 1 || at > 201*unit.Microsecond {
		t.Errorf("flow %d ends at %v", tag, at)
	}
}

// TestUnequal checks that with pauses NICs share a full link by the weights of their flows. Of two NICs with
// weights 3 and 1 the first has three quarters of link 2, and ends with 1e6 bytes at 0.0075 B/ps.
func TestUnequal(t *testing.T) {
	n := fluid.New([]float64{0.01, 0.01, 0.01})
	n.Pauses = true
	for tag := range int32(2) {
		n.Start(0, tag, 1e6, float64(3-2*tag), []fluid.Use{{Link: tag, Share: 1}, {Link: 2, Share: 1, Holds: true}})
	}
	n.Next(unit.Never)
	if at, _, tag := n.End(); tag != 0 || at < 133_333_331 || at > 133_333_336 {
		t.Errorf("flow %d ends first, at %v, want flow 0, 133.3 us", tag, at)
	}
}
