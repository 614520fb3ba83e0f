package diagnose

import (
	"slices"

	"railyard/internal/counters"
	"railyard/unit"
)

// polarised is a switch above the leaves of which some uplinks carry nothing while others are full: all switches use
// the same hash, so flows that a leaf has selected all hash to one port of the next switch. It differs from an incast:
// queues are on links between switches, and idle alternatives to the same destination exist. Few large flows do the
// same by chance, so it is reported as congestion and not as a fault.
var polarised = Cause{Name: "polarised", About: "traffic is uneven over uplinks above the leaves", find: findPolarised,
	By: []string{"bytes sent"}}

// unevenUplinks is the same at a leaf, where no other switch has selected the flows: chance, or few flows.
var unevenUplinks = Cause{Name: "uneven-uplinks", About: "traffic is uneven over a leaf's uplinks",
	By: []string{"bytes sent"}, find: findUnevenUplinks}

func findPolarised(f *Fabric, c *Cause) []Finding {
	return f.uneven(c, func(tier int) bool { return tier > 1 },
		"ECMP maps flows to few uplinks: all switches use the same hash, or there are few flows",
		"a different hash seed per tier, more queue pairs per connection (NCCL_IB_QPS_PER_CONNECTION), flowlets or spraying")
}

func findUnevenUplinks(f *Fabric, c *Cause) []Finding {
	return f.uneven(c, func(tier int) bool { return tier == 1 },
		"ECMP gives several of few flows the same uplink by chance",
		"more queue pairs per connection (NCCL_IB_QPS_PER_CONNECTION), flowlets or spraying")
}

// uneven finds the switches of some tiers whose uplinks queue while another carries less than a tenth.
func (f *Fabric) uneven(c *Cause, here func(tier int) bool, why, fix string) (out []Finding) {
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
		if !here(tiers[d]) || !uneven(up) || !f.queues(up[0].Port) {
			continue
		}
		sure := Possible
		if tiers[d] > 1 && alike[tiers[d]] > 1 {
			sure = Likely
		}
		first, last := up[0], up[len(up)-1]
		all := 0.0
		for _, r := range up {
			all += float64(r.Grew)
		}
		x := c.on(d, -1, sure, "%s sends %.0f %% of its upward traffic over %s and %.0f %% over %s, one of %s", d.Name,
			100*float64(first.Grew)/all, first.Port.Name, 100*float64(last.Grew)/all, last.Port.Name,
			unit.Plural(len(up), "uplink"))
		if n := alike[tiers[d]]; n > 1 {
			x.Says += sprintf("; %d switches of its tier do the same", n)
		}
		x.Grade = Congestion
		x.show(up[:min(2, len(up)-1)]...)
		x.show(last)
		x.Why, x.Fix = why, fix
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

// queues reports a port at which more waits than now and then: pauses begin there, it is paused, or it marks. An uplink
// that carries only ACKs does not count.
func (f *Fabric) queues(p *Port) bool {
	for k := range counters.Priorities {
		if p.marksMuch(k) || p.paused(k) {
			return true
		}
	}
	return slices.ContainsFunc(f.Chains, func(c Chain) bool { return c.Port == p })
}

// marksBetween reports whether ports between switches mark frequently: they queue, though no port pauses.
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

// uplinks returns the bytes that a switch sent on its ports to the next tier, sorted: ports that are up and of equal
// speed.
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

// uneven reports whether one uplink carries less than a tenth of another.
func uneven(up []Reading) bool {
	return len(up) > 1 && up[0].Grew > 0 && up[len(up)-1].Grew*10 <= up[0].Grew
}
