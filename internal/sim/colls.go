package sim

import (
	"sort"

	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/workload"
	"railyard/unit"
)

// collectives sums up the instances of each collective. Time runs from the
// first transfer that starts to the last one delivered, so a rank that comes
// late makes the collective slow and no bus bandwidth above line rate can
// appear.
func (r *Run) collectives() []result.Collective {
	n := len(r.DAG.Colls)
	from, to := make([]unit.Time, n), make([]unit.Time, n)
	crosses, inside := make([]bool, n), make([]bool, n)
	whole := make([]bool, n)
	for i := range from {
		from[i], whole[i] = unit.Never, true
	}
	for i := range r.DAG.Ops {
		o := &r.DAG.Ops[i]
		if o.Coll < 0 {
			continue
		}
		if r.end[i] == unit.Never {
			whole[o.Coll] = false
			continue
		}
		from[o.Coll], to[o.Coll] = min(from[o.Coll], r.start[i]), max(to[o.Coll], r.end[i])
		if r.local(int(o.Rank), int(o.Peer)) {
			inside[o.Coll] = true
		} else {
			crosses[o.Coll] = true
		}
	}
	type group struct {
		name    string
		ranks   int
		crosses bool
	}
	at := map[group]int{}
	var out []result.Collective
	for i := range r.DAG.Colls {
		c := &r.DAG.Colls[i]
		if !whole[i] || from[i] == unit.Never {
			continue
		}
		k := group{c.Name, len(c.Ranks), crosses[i]}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			bound, why := r.bound(c, crosses[i], inside[i])
			out = append(out, result.Collective{Name: c.Name, Kind: c.Kind.String(), Algorithm: c.By, Ranks: len(c.Ranks), Bound: bound, BoundWhy: why, TimeMin: int64(unit.Never)})
		}
		o := &out[j]
		d := to[i] - from[i]
		o.Count++
		o.Bytes = max(o.Bytes, int64(c.Bytes))
		o.Time += int64(d) // mean below
		o.TimeMin, o.TimeMax = min(o.TimeMin, int64(d)), max(o.TimeMax, int64(d))
		if d > 0 {
			alg := float64(c.Bytes) / d.Seconds()
			o.AlgBW += alg
			bus := alg * c.Kind.BusFactor(len(c.Ranks))
			o.BusBW += bus
			o.BusBest = max(o.BusBest, bus)
		}
	}
	for i := range out {
		o := &out[i]
		o.Time /= int64(o.Count)
		o.AlgBW /= float64(o.Count)
		o.BusBW /= float64(o.Count)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Time*int64(out[i].Count) > out[j].Time*int64(out[j].Count) })
	return out
}

// bound returns the bus bandwidth that line rate allows: NVLink inside a
// server, the NIC across servers, the slower one when a collective does both. An all-to-all sends only what leaves the
// server through the NIC, so its bound is higher by that ratio.
func (r *Run) bound(c *workload.Collective, crosses, inside bool) (float64, string) {
	if !crosses {
		return float64(r.NVLink.Rate) / 8, "NVLink"
	}
	nic := r.Graph.NICs[r.Graph.NICOf[c.Ranks[0]]]
	rate := unit.Rate(0)
	for _, l := range nic.Links {
		rate += r.Graph.Links[l].Rate
	}
	b := float64(rate) / 8
	if c.Kind == coll.ToAll {
		local := 0
		for _, x := range c.Ranks {
			if r.local(x, c.Ranks[0]) {
				local++
			}
		}
		b *= float64(len(c.Ranks)-1) / float64(max(len(c.Ranks)-local, 1))
		b = min(b, float64(r.NVLink.Rate)/8)
	}
	if inside && r.NVLink.Rate < rate {
		return float64(r.NVLink.Rate) / 8, "NVLink"
	}
	return b, "NIC"
}
