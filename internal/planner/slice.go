package planner

import (
	"fmt"

	"railyard/internal/partition"
	"railyard/unit"
)

// Rails describes a fabric built of rails, for slices.
type Rails struct {
	Hosts, Segments int // servers of a segment, segments
	Uplinks         int // uplinks of a rail switch
	Separate        bool
	Whole           string // reason why it is used whole and cannot be sliced
}

// Slice is a part of a step and of its fabric that represents the whole.
type Slice struct {
	Layout   partition.Layout
	Fold     bool // whether it is one of several separate rails
	Hosts    int  // servers of a segment; 0: the fabric unchanged
	Segments int
	Uplinks  int
	Packets  float64 // packets in the network, approximately
	About    string  // omitted parts, "" for none
	Flows    bool    // even that has too many packets, so it is simulated as flows
}

// Slice selects the part of a candidate's step to simulate within a number of packets. It is the whole step, or one
// rail if every tensor parallel group fills a server and rails are separate. Otherwise it is fewer replicas on
// proportionally smaller segments, with an equal share of hops across the spines at equal oversubscription.
func (in SearchInput) Slice(c Candidate, r Rails, mtu int, packets float64) (Slice, error) {
	l := c.Layout
	whole := (c.Tiers[1] + c.Tiers[2]) * float64(l.GPUs()) / float64(mtu)
	s := Slice{Layout: l, Packets: whole}
	if whole <= packets && l.GPUs() <= maxWhole && in.Step(l).TooBig() == nil {
		return s, nil
	}
	if r.Separate && l.TP == in.Site.PerServer && l.TP > 1 {
		s.Fold = true
		s.Packets /= float64(l.TP)
		s.About = fmt.Sprintf("1 of %d rails, which never meet", l.TP)
	}
	replicas := 0
	for _, d := range divisors(l.DP) {
		x := l
		x.DP = d
		inside := x.GPUs() <= in.Site.PerServer && l.GPUs() > in.Site.PerServer // no traffic crosses the network
		if (d*l.CP)%l.EP != 0 || d < min(2, l.DP) || inside {
			continue
		}
		t := in.Step(x)
		t.Fold = s.Fold
		if share := s.Packets * float64(d) / float64(l.DP); (share <= packets && t.Ranks() <= 4*maxWhole ||
			replicas == 0) && t.TooBig() == nil {
			replicas, s.Layout = d, x
		}
	}
	if replicas == 0 {
		return s, fmt.Errorf("too many operations even with the fewest replicas, two or more, that span servers")
	}
	if s.Packets *= float64(replicas) / float64(l.DP); s.Packets > 4*packets {
		if s.Flows = true; l.GPUs() <= 4*maxWhole && in.Step(l).TooBig() == nil {
			return Slice{Layout: l, Packets: whole, Flows: true}, nil // flows can simulate all of it
		}
	}
	if replicas < l.DP {
		s.About = join(s.About, fmt.Sprintf("%d of %d replicas", replicas, l.DP))
	}
	if s.Fold || r.Separate && replicas < l.DP {
		in.shrink(&s, r, l)
	} else if s.About != "" && r.Whole != "" {
		s.About = join(s.About, "the fabric whole: "+r.Whole)
	}
	return s, nil
}

// maxWhole is the number of GPUs that are simulated without folding or omission.
const maxWhole = 1024

// shrink makes the segments smaller in proportion to the remaining replicas.
func (in SearchInput) shrink(s *Slice, r Rails, l partition.Layout) {
	share := float64(s.Layout.DP) / float64(l.DP)
	servers := max(1, (s.Layout.GPUs()+in.Site.PerServer-1)/in.Site.PerServer)
	s.Hosts = min(r.Hosts, max(4, int(float64(r.Hosts)*share+0.5)))
	s.Segments = (servers + s.Hosts - 1) / s.Hosts
	s.Uplinks = max(1, r.Uplinks*s.Hosts/r.Hosts)
	if s.Hosts != r.Hosts || s.Segments < r.Segments {
		s.About = join(s.About, fmt.Sprintf("%s of %s instead of %d of %d",
			unit.Plural(s.Segments, "segment"), unit.Plural(s.Hosts, "server"), r.Segments, r.Hosts))
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
