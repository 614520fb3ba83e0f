package validate

import (
	"fmt"
	"strings"

	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/unit"
)

// tori measures the throughput of a torus under loads with known bounds (Dally and Towles, Principles and Practices
// of Interconnection Networks, 3.2 and 8.4). Every switch sends nearly half way around its ring, or every switch
// sends to all switches.
func tori() (rows []Row, err error) {
	for _, side := range []int{5, 6, 8} {
		hops := (side+1)/2 - 1
		for _, lb := range []string{"dimension-order", "minimal-adaptive"} {
			got := must(aroundTorus(side, lb, tornado(side, hops, unit.MB), "100Gbps", unit.MB))
			rows = append(rows, within(fmt.Sprintf("%s, tornado on a torus of side %d: share of injected traffic", lb, side), fmt.Sprintf("1/%d: all flows of a ring go %d cables the same way",
				hops, hops), 1/float64(hops), got, 0.04, "%.4f"))
		}
	}
	around := must(valiantTori())
	all, err := toriToAll()
	return append(append(rows, around...), all...), err
}

// valiantTori makes NICs send at nine tenths of the capacity of detours and measures the arrivals meanwhile. For
// any traffic, two legs to random places carry half of what random traffic carries.
func valiantTori() (rows []Row, err error) {
	for _, side := range []int{6, 8} {
		hops, places := (side+1)/2-1, float64(side*side*side)
		// A leg leads to any switch but the sender's and the receiver's. If it led to any switch, its mean length
		// would be a quarter of a ring in each dimension. Six cables leave each switch.
		legs := 2 * (places*3*float64(side)/4 - float64(hops)) / (places - 2)
		offered := 0.9 * 6 / legs
		r := must(onTorus(side, "valiant", tornado(side, hops, 2*unit.MB),
			fmt.Sprintf("%.0fMbps", 1e5*offered), "100Gbps", "lb_options.per_packet=true"))
		_, t, _ := r.Outcome("")
		line := float64(unit.Serialize(2*unit.MB*4178/4096, unit.Rate(offered*1e11)))
		got := busy(t, "host", 100*unit.Gbps, line*0.6, line*0.95)
		rows = append(rows, within(fmt.Sprintf("valiant, tornado on a torus of side %d, NICs at 9/10 of the bound: share of a cable's rate that arrives", side),
			fmt.Sprintf("%.3f, of a bound of 6/%.2f: shortest paths carry %.3f", offered, legs, 1/float64(hops)), offered, got, 0.02, "%.4f"))
	}
	return rows, nil
}

var (
	halfWay = reason("hashing half way around a ring",
		"Half way around a ring both directions are equally long, and each flow hashes to one of them.",
		"lb=minimal-adaptive workload.traffic.alltoall.bytes=8MB", "0.484; dimension-order with 8 MB leaves 0.396")
	beginAndEnd = reason("begin and end of an all-to-all",
		"All links are busy in the middle, as in the next row. Packets spread before it, and the last ones cross several links one after the other while others are idle.",
		"workload.traffic.alltoall.bytes=8MB", "0.484")
)

// toriToAll simulates an all-to-all, over cables that are the bottleneck.
func toriToAll() (rows []Row, err error) {
	// Of 2 MB a rank keeps a 64th. Ways to others are 3*64/63 cables long on average; six leave a switch.
	const toAll, want = "workload: {traffic: {alltoall: {bytes: 2MB}}}\n", 25. / 100 * 6 / 3
	for _, lb := range []string{"dimension-order", "minimal-adaptive"} {
		r := must(onTorus(4, lb, toAll, "100Gbps", "25Gbps"))
		s, t, _ := r.Outcome("")
		line := unit.Serialize(unit.Bytes(s.NetworkBytes/63)*4178/4096, 100*unit.Gbps)
		row := within(lb+", all to all on a torus of side 4 with cables of a quarter of the NICs' rate: share of injected traffic", "6 cables of each switch, paths of 3*64/63", want,
			float64(line)/float64(s.StepTime), 0.05, "%.3f")
		why := beginAndEnd
		if lb == "dimension-order" {
			why = halfWay
		}
		if rows = append(rows, row.because(why)); lb == "minimal-adaptive" {
			took := float64(s.StepTime)
			rows = append(rows, within("the same from a tenth of that time to eight tenths: how busy cables between switches are", "no packet waits while a cable on its path is idle", 1,
				busy(t, "leaf", 25*unit.Gbps, 0.1*took, 0.8*took), 0.005, "%.4f"))
		}
	}
	return rows, nil
}

// busy returns the share of a rate that cables from switches to such nodes carry between two moments. It uses the
// samples between them.
func busy(t *result.Tables, to string, rate unit.Rate, from, until float64) float64 {
	counts := map[int32]bool{}
	for i := range t.Ports {
		if p := &t.Ports[i]; !strings.HasPrefix(p.Node, "host") && strings.HasPrefix(p.Peer, to) {
			counts[p.Port] = true
		}
	}
	bytes, begin, end := 0.0, 0.0, 0.0
	for i := range t.Links {
		l := &t.Links[i]
		if a, b := float64(l.Start), float64(l.Start+l.Length); counts[l.Port] && a >= from && b <= until {
			bytes += float64(l.Bytes)
			if end = max(end, b); begin == 0 {
				begin = a
			}
		}
	}
	return bytes * 8 / float64(len(counts)) / float64(rate) / ((end - begin) / float64(unit.Second))
}

// tornado makes every host of a torus send to the host a fixed number of places further in its first ring.
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

// aroundTorus returns which share of line rate a torus carries.
func aroundTorus(side int, lb, workload, cable string, bytes unit.Bytes) (float64, error) {
	r := must(onTorus(side, lb, workload, "100Gbps", cable))
	s, _, _ := r.Outcome("")
	return float64(unit.Serialize(bytes*4178/4096, 100*unit.Gbps)) / float64(s.StepTime), nil
}

// onTorus runs a load on one, lossless and without a deadlock.
func onTorus(side int, lb, workload, nic, cable string, sets ...string) (*sim.Run, error) {
	r := must(finish(fmt.Sprintf(`
name: torus
fabric: {kind: torus, k: %d, uplinks: 1, host_link: {rate: %s, cable: 3m},
  fabric_link: {rate: %s, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 65535, window: 65536}
lb: %s
%s`, side, nic, cable, lb, workload), sets...))
	s, _, _ := r.Outcome("")
	if s.Drops > 0 || s.Deadlock != nil {
		return nil, fmt.Errorf("%s on a torus lost %d packets, closed chains of pauses %+v", lb, s.Drops, s.Deadlock)
	}
	return r, nil
}
