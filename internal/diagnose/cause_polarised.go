package diagnose

import (
	"slices"

	"railyard/internal/counters"
)

// polarised is uplinks of one switch of which some carry nothing while others are full:
// every switch hashes alike, so that what one has sorted the next sorts into one place. What
// tells it from an incast: it queues on links between switches, where there are others that
// go to the same place and are idle, and at several switches of a tier at once. Few large
// flows do the same by chance, so that it is told as congestion and not as a fault.
var polarised = Cause{Name: "polarised", About: "traffic is uneven over uplinks", find: findPolarised,
	By: []string{"bytes sent"}}

func findPolarised(f *Fabric, c *Cause) (out []Finding) {
	if !slices.ContainsFunc(f.Chains, func(c Chain) bool { return c.Port.between() }) && !f.marksBetween() {
		return nil // nothing queues between switches
	}
	tiers := f.tiers()
	alike := map[int]int{} // switches that do so, by tier
	for _, d := range f.Devices {
		if up := f.uplinks(d, tiers); uneven(up) {
			alike[tiers[d]]++
		}
	}
	for _, d := range f.Devices {
		up := f.uplinks(d, tiers)
		if !uneven(up) || !f.queues(up[0].Port) {
			continue
		}
		sure := Possible
		if alike[tiers[d]] > 1 {
			sure = Likely
		}
		first, last := up[0], up[len(up)-1]
		x := c.on(d, -1, sure, "%s sends %d times as much over %s as over %s", d.Name, first.Grew/max(last.Grew, 1),
			first.Port.Name, last.Port.Name)
		if last.Grew == 0 {
			x.Says = sprintf("%s sends all traffic over %s and none over %s", d.Name, first.Port.Name, last.Port.Name)
		}
		if n := alike[tiers[d]]; n > 1 {
			x.Says += sprintf("; %d switches of its tier do the same", n)
		}
		x.Grade = Congestion
		x.show(up[:min(2, len(up)-1)]...)
		x.show(last)
		x.Why = "ECMP maps flows to few uplinks: all switches use the same hash, or there are few flows"
		x.Fix = "a different hash seed per tier, more queue pairs per connection (NCCL_IB_QPS_PER_CONNECTION), flowlets or spraying"
		x.next(first.Port, askLink, "rates of uplinks")
		for i := range f.Chains {
			if f.Chains[i].Port.between() {
				x.harm += share(f.Chains[i].Frames, f.allPauses())
			}
		}
		out = append(out, x)
	}
	return out
}

// queues reports a port at which more waits than now and then: pauses begin there, it is paused, or it marks.
// One
// that carries nothing but ACKs does not.
func (f *Fabric) queues(p *Port) bool {
	for k := range counters.Priorities {
		if p.marksMuch(k) || p.paused(k) {
			return true
		}
	}
	return slices.ContainsFunc(f.Chains, func(c Chain) bool { return c.Port == p })
}

// marksBetween reports that ports between switches mark more than now and then: they queue, though nobody has
// to pause.
func (f *Fabric) marksBetween() (any bool) {
	f.ports(func(p *Port) {
		for k := range counters.Priorities {
			any = any || p.between() && p.marksMuch(k)
		}
	})
	return any
}

// between reports a port whose cable goes from switch to switch.
func (p *Port) between() bool {
	return p != nil && p.Peer != nil && p.On.Kind == Switch && p.Peer.On.Kind == Switch
}

// tiers returns how far switches are from the nearest host: those that have hosts are 1.
func (f *Fabric) tiers() map[*Device]int {
	out := map[*Device]int{}
	var todo []*Device
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			if d.Kind == Switch && p.Peer != nil && p.Peer.On.Kind == Host && out[d] == 0 {
				out[d] = 1
				todo = append(todo, d)
			}
		}
	}
	for len(todo) > 0 {
		d := todo[0]
		todo = todo[1:]
		for _, p := range d.Ports {
			if p.between() && out[p.Peer.On] == 0 {
				out[p.Peer.On] = out[d] + 1
				todo = append(todo, p.Peer.On)
			}
		}
	}
	return out
}

// uplinks returns what a switch sent by its ports to the tier above, most first: those that are
// up and as fast as each other.
func (f *Fabric) uplinks(d *Device, tiers map[*Device]int) (up []Reading) {
	for _, p := range d.Ports {
		on, _, _, known := said(p, upOf)
		if r := p.sent(); p.between() && tiers[p.Peer.On] > tiers[d] && r.Is && !(known && !on) {
			up = append(up, r)
		}
	}
	for _, r := range up {
		if r.Port.Speed() != up[0].Port.Speed() {
			return nil
		}
	}
	return most(up)
}

// uneven reports uplinks of which one carries less than a tenth of another.
func uneven(up []Reading) bool {
	return len(up) > 1 && up[0].Grew > 0 && up[len(up)-1].Grew*10 <= up[0].Grew
}
