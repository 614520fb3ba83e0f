package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/unit"
)

// grading is a chooser that gives all ports one grade.
type grading struct {
	route.Informed
	band *uint8
}

func (g grading) Every() unit.Time                          { return unit.Microsecond }
func (g grading) Band(unit.Time, int32, []route.Port) uint8 { return *g.band }

// A switch learns its neighbour's grades over a cable that broke and was repaired: grades that changed meanwhile,
// and grades that were lost in flight.
func TestGradesOfABrokenCable(t *testing.T) {
	spec := queue.Default()
	rise, err := spec.Rise(3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what    string
		inAir   bool // the cable breaks while the first grade is in flight
		then    uint8
		changes bool // during the failure
	}{
		{"nothing changes", false, 3, false}, {"a grade is lost with the cable", true, 3, false},
		{"a grade changes meanwhile", false, 1, true}, {"a grade becomes the best meanwhile", false, 0, true},
		{"a grade is lost, and becomes the best", true, 0, true},
	} {
		net, _, name := triangle(t, &spec, &rise)
		port := int32(-1)
		for p, n := range name {
			if n == "R1 → R2" {
				port = p
			}
		}
		far, band := net.node[net.Ports[port].Peer], uint8(3)
		for node := range net.Sw {
			if net.Sw[node].Spec != nil {
				net.inform(int32(node), grading{band: &band})
			}
		}
		drain := func(until unit.Time) {
			for net.Q.Len() > 0 && net.Q.Now() < until {
				e, _ := net.Q.Pop()
				deliver(net, &e)
			}
		}
		if net.grade(far); !c.inAir {
			drain(net.Q.Now() + unit.Microsecond)
		}
		net.SetLink(port, LinkState{Rate: 100 * unit.Gbps})
		drain(net.Q.Now() + 10*unit.Microsecond)
		if c.changes {
			band = c.then
			net.grade(far)
		}
		drain(net.Q.Now() + 10*unit.Microsecond)
		net.SetLink(port, LinkState{Up: true, Rate: 100 * unit.Gbps})
		drain(net.Q.Now() + 10*unit.Microsecond)
		for place, p := range net.Sw[far].ports {
			if got, want := net.beyond[port].grades[place], net.informed[far].told[place]; got != want {
				t.Errorf("%s: R1 knows grade %d of %s, R2 has told %d", c.what, got, name[p], want)
			}
		}
	}
}
