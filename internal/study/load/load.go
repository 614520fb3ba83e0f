// Package load measures latency over offered load, as papers on networks plot it: a Curve for each load balancing,
// up to the load at which the network is saturated.
package load

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/internal/study"
)

// Point is a network at one load.
type Point struct {
	LB      string  `json:"lb"`
	Offered float64 `json:"offered"` // share of NICs' rate
	result.Load
	Pauses    int64 `json:"pfc_pauses"`
	Saturated bool  `json:"saturated"`
}

// Curve is the result of one load balancing.
type Curve struct {
	LB     string  `json:"lb"`
	Most   float64 `json:"most_delivered"` // most delivered traffic at any of the loads
	Points []Point `json:"points"`
}

// slowAt is the ratio of message times to those at the lowest load from which a network counts as saturated.
const slowAt = 10

// MaxLoads bounds a curve, and how many there are.
const MaxLoads = 100

// Curves simulates each load balancing at each load, up to its saturation.
func Curves(ctx context.Context, pool *study.Pool, path string, sets, names []string, loads []float64) ([]Curve,
	error) {
	curves := make([]Curve, len(names))
	pool.Flows = true
	pool.Expect(len(names) * len(loads))
	err := pool.Each(ctx, len(names), func(i int) (err error) {
		curves[i], err = newCurve(ctx, pool, path, append(slices.Clone(sets), "lb="+names[i]), names[i], loads)
		return err
	})
	return curves, err
}

// newCurve simulates one load balancing.
func newCurve(ctx context.Context, pool *study.Pool, path string, sets []string, lb string, loads []float64) (
	Curve, error) {
	curve, alone := Curve{LB: lb}, result.Alone{}
	for _, percent := range loads {
		plan, err := scenariofile.Plan(path, append(slices.Clone(sets),
			fmt.Sprintf("workload.traffic.background.load=%g", percent)), nil)
		if err != nil {
			return curve, err
		}
		label := fmt.Sprintf("%s at %g %%", lb, percent)
		rate := offeredRate(plan) // an engine outlives the plan
		s, t, err := pool.Whole(ctx, label, plan)
		if err != nil {
			return curve, fmt.Errorf("%s: %w", label, err)
		}
		if int64(len(t.Flows)) < s.Flows.Count {
			return curve, fmt.Errorf("%s: of %d messages the table holds %d: raise output.rows, or shorten workload.traffic.background.for", label, s.Flows.Count, len(t.Flows))
		}
		if len(curve.Points) == 0 {
			alone = result.NewAlone(t.Flows)
		}
		point := Point{LB: lb, Offered: percent / 100, Pauses: s.PFCPauses,
			Load: result.NewLoad(t.Flows, rate, alone)}
		point.Saturated = point.Backlogged() || len(curve.Points) > 0 && point.Mean > slowAt*curve.Points[0].Mean
		curve.Points = append(curve.Points, point)
		if curve.Most = max(curve.Most, point.Delivered); point.Saturated {
			break
		}
	}
	return curve, nil
}

// offeredRate returns the maximum rate of all ranks together.
func offeredRate(plan *scenario.Plan) (sum float64) {
	seen := map[int]bool{}
	for rank := range plan.Jobs[0].DAG.Ranks {
		if nic := plan.Graph.WayOf(plan.Jobs[0].GPU(int32(rank)), 0); !seen[nic] {
			seen[nic] = true
			for _, l := range plan.Graph.NICs[nic].Links {
				sum += float64(plan.Graph.Links[l].Rate)
			}
		}
	}
	return sum
}

// Parse parses increasing loads in percent, separated by commas, of the flag --loads.
func Parse(text string) (loads []float64, err error) {
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseFloat(word, 64)
		if err != nil || !(p >= 0.1 && p <= 200) || len(loads) > 0 && p <= loads[len(loads)-1] {
			return nil, field.New("--loads", "found %s, expected rising percents between 0.1 and 200, as 10,20,30", field.Quote(word))
		}
		loads = append(loads, p)
	}
	if len(loads) > MaxLoads {
		return nil, field.New("--loads", "are %d, at most %d are taken", len(loads), MaxLoads)
	}
	return loads, nil
}
