package fitting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/calibrate"
	"railyard/internal/coll"
	"railyard/internal/input"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// Maximum bytes of all ranks of a collective that is simulated by packets, in some seconds: once without a
// hypothesis, with each hypothesis, and with the best-fitting ones. Larger ones are simulated as flows.
const (
	packetsOnce = 64 * unit.GiB
	packetsEach = 4 * unit.GiB
	packetsBest = 16 * unit.GiB
	flowsEach   = 32 * unit.GiB // larger sizes take proportionally long
)

// byFidelity simulates the points of a scenario by packets or as flows.
type byFidelity struct {
	bench func(flows bool) (*calibrate.Bench, error)
	of    map[bool]*calibrate.Bench
}

// time returns the time of a point in µs.
func (f *byFidelity) time(point string, flows bool) (float64, error) {
	t, _, err := f.modelled(point, flows)
	return t, err
}

// modelled returns the time of a point in µs, and the estimate of NCCL's tuning model; nil: none.
func (f *byFidelity) modelled(point string, flows bool) (float64, *coll.Choice, error) {
	if f.of[flows] == nil {
		b, err := f.bench(flows)
		if err != nil {
			return 0, nil, err
		}
		if f.of == nil {
			f.of = map[bool]*calibrate.Bench{}
		}
		f.of[flows] = b
	}
	b := f.of[flows]
	n := slices.IndexFunc(b.Points, func(m calibrate.Measurement) bool { return m.Name == point })
	if n < 0 {
		return 0, nil, fmt.Errorf("%s is not measured on this scenario", point)
	}
	t, err := b.Time(n)
	return t * 1e6, b.Points[n].Model, err
}

// settings returns the overrides with which run simulates the collective of a point instead of the scenario's. The
// last simulation must be that of the point.
func (f *byFidelity) settings(p *Point, own *scenario.CollSpec) (sets []string) {
	b := f.of[p.Flows]
	n := slices.IndexFunc(b.Points, func(m calibrate.Measurement) bool { return m.Name == p.Name })
	spec := b.Spec(n)
	if spec == nil || own == nil || len(own.Without) > 0 {
		return nil
	}
	for _, x := range []struct {
		key       string
		now, then any
	}{{"kind", own.Kind, spec.Kind}, {"bytes", own.Bytes.ShowSet(), strings.ReplaceAll(spec.Bytes.ShowSet(), " ", "")},
		{"algorithm", own.Algorithm, spec.Algorithm}, {"protocol", own.Protocol, spec.Protocol},
		{"channels", own.Channels, spec.Channels}, {"groups", cmp.Or(own.Groups, "all"), spec.Groups},
		{"cross_nic", own.CrossNIC, spec.CrossNIC}, {"repeat", own.Repeat, spec.Repeat},
		{"chunk", own.Chunk, spec.Chunk}} {
		if x.now != x.then {
			sets = append(sets, fmt.Sprintf("workload.traffic.collective.%s=%v", x.key, x.then))
		}
	}
	if p.Flows {
		sets = append(sets, "fidelity=flow")
	}
	return sets
}

// asFlows makes a document simulate flows. It reports whether the document has flows or does not set its fidelity.
func asFlows(doc *scenario.Document) bool {
	open := doc.Prefer("flow") || doc.File.Fidelity == "auto" || doc.File.Fidelity == "flow"
	if open {
		doc.File.Fidelity = "flow"
	}
	return open
}

// Compared simulates a limited number of the measured points, evenly spread, with the scenario's calibration: by
// packets, or as flows if there are too many packets. Nothing is fitted. without returns the reason why larger
// points are not simulated.
func (c *Question) Compared(most int, simulate func(*scenario.Plan) (*result.Summary, error),
	progress func(share float64, label string)) (all []Point, without string, err error) {
	set, err := c.read()
	if err != nil {
		return nil, "", err
	}
	doc, err := scenariofile.Read(c.Fabric, c.Set)
	if err != nil {
		return nil, "", err
	}
	larger := asFlows(doc)
	by := &byFidelity{bench: func(flows bool) (*calibrate.Bench, error) {
		return calibrate.NewBench(calibrate.Setup{Files: scenariofile.Beside(c.Fabric), Simulate: simulate,
			Largest: c.Largest, Algorithm: c.Algorithm, Load: func() (*scenario.Document, error) {
				doc, err := scenariofile.Read(c.Fabric, c.Set)
				if err == nil && flows {
					asFlows(doc)
				}
				return doc, err
			}}, set)
	}}
	b, err := by.bench(false)
	if err != nil {
		return nil, "", input.Fault(err)
	}
	by.of = map[bool]*calibrate.Bench{false: b}
	for i := range b.Points {
		p := &b.Points[i]
		at := Point{Name: p.Name, Bytes: int64(p.Size()), Measured: p.Measured * 1e6, Group: p.Group, total: p.Total(),
			Flows: p.Bytes > c.Largest && p.Total() > packetsOnce}
		if at.Flows && !larger {
			without = fmt.Sprintf("fidelity %s is set; --set fidelity=auto simulates them as flows", doc.File.Fidelity)
			continue
		}
		all = append(all, at)
	}
	all = spread(all, most)
	for i := range all {
		p := &all[i]
		progress(float64(i)/float64(len(all)), p.Name)
		var model *coll.Choice
		if p.Before, model, err = by.modelled(p.Name, p.Flows); model != nil {
			p.Algorithm, p.Model = model.Algorithm, model.Micros
		}
		if err == nil && doc.File.Workload.Traffic != nil {
			p.Settings = by.settings(p, doc.File.Workload.Traffic.Collective)
		}
		switch {
		case errors.Is(err, context.Canceled):
			return nil, "", err
		case err != nil && p.Flows:
			without = err.Error()
		case err != nil:
			return nil, "", input.Fault(err)
		}
	}
	return slices.DeleteFunc(all, func(p Point) bool { return p.Before == 0 }), without, nil
}

// spread returns a limited number of the points, evenly spread, including the first and the last.
func spread(points []Point, most int) (some []Point) {
	n := min(len(points), most)
	for i := range n {
		some = append(some, points[i*(len(points)-1)/max(1, n-1)])
	}
	return some
}

// Large reports which points the bandwidth determines: in the simulation they reach at least half of the highest
// rate of their group.
func Large(points []Point) []bool {
	best := map[string]float64{}
	rate := func(p *Point) float64 { return float64(p.Bytes) / p.Before }
	for i := range points {
		best[points[i].Group] = max(best[points[i].Group], rate(&points[i]))
	}
	large := make([]bool, len(points))
	for i := range points {
		large[i] = rate(&points[i]) >= best[points[i].Group]/2
	}
	return large
}

// shape describes which of the points differ.
func shape(points []Point) string {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	least, most, last := math.Inf(1), 0.0, len(points)-1
	var off []int
	for i, p := range points {
		r := p.Measured / p.Before
		least, most = min(least, r), max(most, r)
		if math.Abs(p.Before/p.Measured-1) > Expected {
			off = append(off, i)
		}
	}
	size := func(i int) string { return unit.Bytes(points[i].Bytes).ShowSet() }
	switch {
	case len(off) == 0:
		return ""
	case len(points) == 1:
		return fmt.Sprintf("%s takes %.2g × as long as simulated", size(0), most)
	case len(points) > 2 && len(off) == 1 && off[0] > 0 && off[0] < last:
		return fmt.Sprintf("one size, %s: repeat the measurement", size(off[0]))
	case len(off) == len(points) && len(points) > 1 && most < 1.25*least:
		return fmt.Sprintf("all sizes take about %.2g × as long as simulated", math.Sqrt(least*most))
	case off[0] > 0 && off[len(off)-1] == last:
		return fmt.Sprintf("sizes from %s on", size(off[0]))
	case off[0] == 0 && off[len(off)-1] < last:
		return fmt.Sprintf("sizes up to %s", size(off[len(off)-1]))
	}
	at := func(i int) string { return fmt.Sprintf("%.2g × at %s", points[i].Measured/points[i].Before, size(i)) }
	return fmt.Sprintf("measured over simulated time is %s and %s, at most %.2g ×", at(0), at(last), most)
}
