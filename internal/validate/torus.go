package validate

import (
	"fmt"
	"strings"

	"railyard/unit"
)

// tori measures what a torus carries of loads whose bounds are known (Dally and Towles, Principles and
// Practices of Interconnection Networks, 3.2 and 8.4): every switch sends nearly half way around its ring,
// and everybody sends to all.
func tori() (rows []Row, err error) {
	for _, side := range []int{5, 6, 8} {
		hops := (side+1)/2 - 1
		for _, lb := range []string{"dimension-order", "minimal-adaptive"} {
			got, err := aroundTorus(side, lb, tornado(side, hops, unit.MB), "100Gbps", unit.MB)
			if err != nil {
				return nil, err
			}
			rows = append(rows, within(fmt.Sprintf("%s, tornado on a torus of side %d: share of what is "+
				"injected", lb, side), fmt.Sprintf("1/%d: all flows of a ring go %d cables the same way",
				hops, hops), 1/float64(hops), got, 0.04, "%.4f"))
		}
	}
	// Ways to others are 3*64/63 cables long on average, and each switch has six.
	want := 25. / 100 * 6 / (3 * 64. / 63)
	const toAll = "workload: {traffic: {alltoall: {bytes: 2MB}}}\n"
	for _, lb := range []string{"dimension-order", "minimal-adaptive"} {
		got, err := aroundTorus(4, lb, toAll, "25Gbps", 2*unit.MB)
		if err != nil {
			return nil, err
		}
		r := within(lb+", all to all on a torus of side 4 with cables of a quarter of the NICs' rate: share "+
			"of what is injected", "6 cables of each switch, ways of 3*64/63", want, got, 0.05, "%.3f")
		if r.Note = "what all cables would carry that are busy from the first byte to the last; where the " +
			"rest stays has not been looked into"; lb == "dimension-order" {
			r.Note = "half way around a ring both sides are as long, and flows hash to one of them, as " +
				"uneven as hashing is"
		}
		if r.OK {
			r.Note = ""
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// tornado has every host of a torus send so many places on in its first ring.
func tornado(side, hops int, bytes unit.Bytes) string {
	var b strings.Builder
	b.WriteString("workload:\n  traffic:\n    flows:\n")
	plane := side * side
	for i := range side * plane {
		fmt.Fprintf(&b, "      - {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %dB}\n", i+1,
			(i+hops*plane)%(side*plane)+1, bytes)
	}
	return b.String()
}

// aroundTorus is which share of line rate a torus carries, lossless and without a deadlock.
func aroundTorus(side int, lb, workload, cable string, bytes unit.Bytes) (float64, error) {
	r, err := finish(fmt.Sprintf(`
name: torus
fabric: {kind: torus, k: %d, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: %s, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 65535, window: 65536}
lb: %s
%s`, side, cable, lb, workload))
	if err != nil {
		return 0, err
	}
	s, _, _ := r.Outcome("")
	if s.Drops > 0 || s.Deadlock != nil {
		return 0, fmt.Errorf("%s on a torus lost %d packets, closed chains of pauses %+v", lb, s.Drops,
			s.Deadlock)
	}
	return float64(unit.Serialize(bytes*4178/4096, 100*unit.Gbps)) / float64(s.StepTime), nil
}
