package identify

import (
	"slices"
	"strings"

	"railyard/internal/input"
	"railyard/internal/measured"
	"railyard/unit"
)

// showMeasured adds ranks, sizes and the best figures of measurements.
func showMeasured(f *File, a *Account) error {
	from, _, err := input.Stream(f.Path, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	said, err := scan(f)
	if err != nil {
		return err
	}
	set, err := measured.Read(measured.File{Name: f.Path, Text: from})
	if err != nil && said.count > 0 { // an error without rows before it
		said.show(a, &measured.Set{})
		return nil
	} else if err != nil {
		return err
	}
	a.Measured, a.Algorithm = set, said.algorithm
	said.show(a, set)
	flag := "--perftest"
	if table := set.Table(); len(table) > 0 {
		flag = "--nccl-tests"
		small, best := table[0], table[0]
		for _, c := range table {
			if c.Bytes < small.Bytes {
				small = c
			}
			if c.BusBW() > best.BusBW() {
				best = c
			}
		}
		words := unit.Plural(len(table), "size")
		if best.Ranks > 0 {
			words = best.Kind.String() + " over " + unit.Plural(best.Ranks, "rank") + ", " + words
		}
		a.show("%s", words)
		a.show("best bus bandwidth %s GB/s at %s", unit.Digits(best.BusBW()), best.Bytes.ShowSet())
		a.show("%s at %s", small.Time.Show(), small.Bytes.ShowSet())
		if strings.Contains(best.GPU, "NVIDIA") || best.GPU != "" {
			a.show("GPU: %s", best.GPU)
		}
	}
	if len(set.Pairs) > 0 {
		best := slices.MaxFunc(set.Pairs, func(a, b measured.Pair) int { return int((a.Rate - b.Rate) / unit.Mbps) })
		a.show("%s between two hosts", unit.Plural(len(set.Pairs), "measurement"))
		if best.MTU > 0 {
			a.show("path MTU %d, with which they are simulated", int(best.MTU))
		}
		if best.Rate > 0 {
			a.show("best rate %s at %s", best.Rate.Show(), best.Bytes.ShowSet())
		}
		for _, p := range set.Pairs {
			if p.Latency {
				a.show("latency %s at %s", p.Time.Show(), p.Bytes.ShowSet())
				break
			}
		}
	}
	if f.Scenario == "" {
		a.next("compare with a simulation of the fabric", "explain %s --fabric SCENARIO", f.quoted())
		a.next("write a scenario of the fabric", "init")
		return nil
	}
	a.next("fit the scenario to the measurements", "calibrate%s %s %s --out calibrated.yaml", f.fabric("--fabric"), flag, f.quoted())
	return nil
}
