package flows

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// Measure simulates with packets several senders that start together to one receiver. It runs until all but one
// have ended, and then until the last one has the link's rate again. It returns the use of the receiver's link.
// sets are the scenario settings of the congestion control. If shares are unequal the last sender may have used
// most of the link and end with the others. In that case another sender is the last.
func Measure(rate unit.Rate, senders int, sets ...string) (c Curve, err error) {
	for long := range min(senders, mostTries) {
		for _, w := range []int{20, aloneWindows} {
			if c, err = measure(rate, senders, long, w, sets); err != nil || in(c.Alone, w) > recovered {
				break
			}
		}
		if err == nil {
			break
		}
	}
	return c, err
}

// mostTries is the number of senders of which one has to be the last.
const mostTries = 4

// recovered is from which part of the link's rate on nothing more is waited for.
const recovered = 0.93

func measure(rate unit.Rate, senders, long, windows int, sets []string) (c Curve, err error) {
	each, more := unit.InTime(rate, Age(sharedWindows))/unit.Bytes(senders), unit.InTime(rate, Age(windows))
	var flows strings.Builder
	for i := range senders {
		bytes := each
		if i == long {
			bytes += more
		}
		fmt.Fprintf(&flows, "      - {from: host-%d/gpu-1, to: host-1/gpu-1, bytes: %dB}\n", i+2, bytes)
	}
	text := fmt.Sprintf("name: incast\n"+"fabric: {kind: rail-only, hosts: %d, host_link: {rate: %dbps}}\n"+
		"server: {gpus: 1, nics: 1}\n"+
		"output: {sample: 2us, rows: 1000000}\n"+
		"workload:\n  traffic:\n    flows:\n%s", senders+1, int64(rate), flows.String())
	d, err := scenario.Parse("incast", []byte(text), sets)
	if err != nil {
		return c, err
	}
	p, err := d.Resolve(nil)
	if err != nil {
		return c, err
	}
	r, err := sim.New(p)
	if err != nil {
		return c, err
	}
	if err := r.Go(nil); err != nil {
		return c, err
	}
	if err := r.Failed(); err != nil || !r.Exec.Done() {
		return c, fmt.Errorf("the incast does not end: %w", err)
	}
	o := r.Observe()
	first, others, last := unit.Never, unit.Time(0), unit.Time(0)
	for i := range o.Messages {
		done := o.Messages[i].Done
		if first = min(first, done); i != long {
			others = max(others, done)
		}
		last = max(last, done)
	}
	c = Curve{Control: ControlOf(p, p.Default()), Rate: rate, Senders: senders}
	nic, began := p.Graph.NICs[0], unit.Never
	var rows []int
	for i := range o.Recorded.Links {
		row := &o.Recorded.Links[i]
		if port := &o.Ports[row.Port]; int(port.Link) == nic.Links[0] && int(port.Node) != p.Graph.Hosts[nic.Host] {
			began = min(began, unit.Time(row.Start))
			rows = append(rows, i)
		}
	}
	carried := func(from, to unit.Time) float64 {
		sum := 0.0
		for _, i := range rows {
			row := &o.Recorded.Links[i]
			a, b := unit.Time(row.Start), unit.Time(row.Start+row.Length)
			if x, z := max(a, from), min(b, to); z > x {
				sum += float64(row.Bytes) * float64(z-x) / float64(b-a)
			}
		}
		return math.Round(min(1, sum/(bytesPer(rate)*float64(to-from)))*1e4) / 1e4
	}
	for w := 0; w < sharedWindows && (w == 0 || began+Age(w+1) <= first); w++ {
		c.Shared = append(c.Shared, carried(began+Age(w), began+Age(w+1)))
	}
	for w := 0; w < windows && (w == 0 || others+Age(w+1) <= last); w++ {
		c.Alone = append(c.Alone, carried(others+Age(w), others+Age(w+1)))
	}
	if len(c.Shared) < fewest || len(c.Alone) < fewest {
		return c, fmt.Errorf("%d senders do not share a link of %v for %v", senders, rate, Age(fewest))
	}
	return c, nil
}

// fewest is the minimum number of windows of a curve.
const fewest = 10
