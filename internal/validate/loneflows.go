package validate

import (
	"fmt"
	"strings"

	"railyard/cc"
	"railyard/unit"
)

// A flow that is alone has its line for itself, under any size and control: it takes the time of its packets on the
// wire plus one round trip, and a longer flow takes longer. Stalls for credit, for a window or for an acknowledgement
// are visible here.

// loneSizes are dense where a flow exceeds the path's capacity, and the unsolicited part.
var loneSizes = []int64{1e3, 4e3, 16e3, 64e3, 150e3, 200e3, 256e3, 300e3, 400e3, 600e3, 650e3, 750e3, 900e3, 930e3,
	1000e3, 1200e3, 1500e3, 2000e3, 2500e3, 4000e3, 16000e3, 64000e3}

// loneFlows has a row for each congestion control, and for each transport with one of its own.
func loneFlows() (rows []Row, err error) {
	all := []lone{{"srd", "", 0, 1}, {"falcon", "", 108, 1}, {"mrc", "", 38, 1}} // IPv6 and PSP; METH and TSETH
	for _, name := range cc.Names() {
		c := lone{"roce", name, 0, 1}
		switch a := cc.Lookup(name); {
		case a.Credit != nil, name == "nscc": // for switches that trim
			c.preset = "uec"
		case strings.HasPrefix(name, "hpcc"):
			c.more, c.share = 42, 0.95 // telemetry; docs/references.md, hpcc: the share of the line that it aims at
		}
		all = append(all, c)
	}
	for _, c := range all {
		row, err := c.row()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", c.preset, c.control, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// lone is a transport, with a congestion control if it has none of its own. Its packets have more headers than
// RoCEv2's, and it uses a share of the line.
type lone struct {
	preset, control string
	more            int64
	share           float64
}

func (c *lone) row() (Row, error) {
	name, sets := c.preset, []string{"transport=" + c.preset}
	if c.control != "" {
		name, sets = c.control, append(sets, "cc.algorithm="+c.control)
	}
	worst, where, shorter := 0.0, "", ""
	for _, rate := range []unit.Rate{100 * unit.Gbps, 400 * unit.Gbps, 800 * unit.Gbps} {
		before := unit.Time(0)
		for _, size := range loneSizes {
			got := must(loneFlow(rate, size, sets))
			at := fmt.Sprintf("%v at %v", unit.Bytes(size), rate)
			if x := got.Seconds() / c.bound(rate, size); x > worst {
				worst, where = x, at
			}
			if got < before {
				shorter = at
			}
			before = got
		}
	}
	claim := "one flow, 1 KB to 64 MB at 100, 400, 800 Gbit/s, " + name + ": most over line rate and a round trip"
	if c.share < 1 {
		claim += fmt.Sprintf(", of %.0f %% of the line", 100*c.share)
	}
	row := atMost(claim, "arithmetic", 1.05, worst, "%.3f")
	row.Ours += " (" + where + ")"
	if shorter != "" {
		row.OK, row.Ours = false, row.Ours+", "+shorter+" ends before a shorter one"
	}
	return row, nil
}

// loneLinks are the links between hosts of two pods.
const loneLinks = 6

// bound returns the time of a flow's packets on the wire, plus that of the first one on each further link, plus a round
// trip of the links, in seconds.
func (c *lone) bound(rate unit.Rate, size int64) float64 {
	frame := swiftWire - 4096 + c.more
	packets := (size + 4095) / 4096
	bytes := size + packets*frame + (loneLinks-1)*(min(size, 4096)+frame)
	return float64(8*bytes)/(float64(rate)*c.share) + 2*loneLinks*1e-6
}

func loneFlow(rate unit.Rate, size int64, sets []string) (unit.Time, error) {
	r := must(finish(fmt.Sprintf(`
name: lone
fabric: {kind: fat-tree, k: 4, host_link: {rate: %dbps, delay: 1us}}
server: {nic_latency: 0s, gpus: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-14/gpu-1, bytes: %dB}]}}
`, rate, size), sets...))
	s, _, _ := r.Outcome("")
	return unit.Time(s.Flows.Max), nil
}
