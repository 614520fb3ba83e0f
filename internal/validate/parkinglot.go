package validate

import "railyard/unit"

var oneWindow = reason("one window for several full ports",
	"The paper's window follows the largest load of all ports, acknowledgement by acknowledgement. That of two full ports, which vary, is larger than either's mean, so that the flow through both is cut more than those through one. The paper's simulator has a window for each port as an option, and its published runs leave it off (MULTI_RATE 0 in run.py and mix/config.txt).",
	"cc.hpcc.per_hop=true cc.hpcc.base_rtt=13us", "0.51 (next row); per_hop alone has 0.58, as round trips of each path's own favor the longer one")

// parkingLot is a flow over two links in series. It shares each link with another flow.
func parkingLot() (rows []Row, err error) {
	const claim = "HPCC, two full links in series: share of the flow through both in what a link carries"
	const source = "max-min shares"
	single, each := must(parked()), must(parked("cc.hpcc.per_hop=true", "cc.hpcc.base_rtt=13us"))
	return []Row{within(claim, source, 0.5, single, 0.1, "%.3f").because(oneWindow),
		within(claim+", a window for each port and one base round trip", source, 0.5, each, 0.1, "%.3f")}, nil
}

// parked returns the long flow's share of the payload over the first link, from 10 to 20 ms.
func parked(sets ...string) (long float64, err error) {
	r := must(start(`
name: parking lot
fabric:
  kind: graph
  host_link: {rate: 100Gbps, delay: 1us}
  graph:
    hosts: [host-1, host-2, host-3, host-4, host-5, host-6]
    switches: [{name: s-1, role: leaf}, {name: s-2, role: leaf}, {name: s-3, role: leaf}]
    links: [{from: host-1, to: s-1}, {from: host-2, to: s-1}, {from: host-3, to: s-2}, {from: host-4, to: s-2},
      {from: host-5, to: s-3}, {from: host-6, to: s-3}, {from: s-1, to: s-2}, {from: s-2, to: s-3}]
server: {gpus: 1, nics: 1}
cc: {algorithm: hpcc}
workload:
  traffic:
    flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 1GB}, {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 1GB},
      {from: host-4/gpu-1, to: host-6/gpu-1, bytes: 1GB}]
`, sets...))
	r.Begin()
	var had [2]unit.Bytes
	for _, until := range []unit.Time{10 * unit.Millisecond, 20 * unit.Millisecond} {
		for never := false; r.Net.Q.Now() < until; {
			r.RunUntil(&never, r.Net.Q.Popped()+20, r.Event)
		}
		for i := range had {
			had[i] = r.Hosts.Placed(int32(i)) - had[i]
		}
	}
	return float64(had[0]) / float64(had[0]+had[1]), nil
}
