package validate

import (
	"fmt"
	"math"

	"railyard/internal/queue"
	"railyard/internal/sim"
	"railyard/unit"
)

// The source on large clusters argues that a scheduled fabric is an over-design: packet spraying and receivers that
// grant credit (EQDS) achieve the same with less. Both on the same 64 NICs and the same links, and on links that are
// faster by the overhead of cells.
const (
	thesisSource = "source document on large clusters: a scheduled fabric is an over-design"

	thesisFabric = `
name: thesis
fabric: {kind: rail, segments: 4, hosts: 16, spines: 8, uplinks: 2, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: %s, cable: 30m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
workload: {traffic: {%s}}
`
	thesisRoomy = "448Gbps" // 400 over 0.90 of efficiency
)

var (
	creditPace = reason("credit at 99 % of line rate",
		"Receivers grant credit at 99 % of their line rate, as EQDS specifies. A scheduled fabric whose links are 12 % faster grants all of it.",
		"cc.algorithm=none", "0.975 for eqds and 0.990 for uec: every receiver has one sender, which needs no credit")
	creditIncast = reason("credit and headers of an incast",
		"Receivers grant credit at 99 % of their line rate, as EQDS specifies, and each packet has 16 B more headers.",
		NoSetting, "cc.eqds.share=1 leaves 1.006 and cc.uec.share=1 leaves 1.010, and the headers are necessary")
	placed = reason("places in headers",
		"Sprayed packets arrive in any order, so that each header has its place in the message. A scheduled fabric keeps order, at the cost of cells.",
		NoSetting, "a transport that is sprayed needs these fields")
)

// thesis runs each of its scenarios once, and stores the results for rows.
type thesis map[string]*thesisRun

// thesisRun is the result of traffic under a preset.
type thesisRun struct {
	slowest, last unit.Time  // time of the slowest message, and of the last of those listed
	held          int64      // time held by the cluster's switches, see heldBySwitches
	wire          int64      // bytes on links between switches
	headers       unit.Bytes // headers of a full packet between NICs
	efficiency    float64    // efficiency of the cells that carry one; 0: no cells
}

// run runs traffic under a preset, or returns its earlier result.
func (t thesis) run(preset, rate, traffic string) (*thesisRun, error) {
	key := preset + " " + rate + " " + traffic
	if x := t[key]; x != nil {
		return x, nil
	}
	r := must(finish(fmt.Sprintf(thesisFabric, rate, traffic), "transport="+preset))
	do(r.Failed())
	c, ok := r.Plan.Costs()
	if !ok {
		return nil, fmt.Errorf("a preset without costs")
	}
	x := &thesisRun{held: heldBySwitches(r), headers: c.Headers}
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		x.last = m.Done - m.Posted
		x.slowest = max(x.slowest, x.last)
	}
	for port := range r.Net.Ports {
		p := &r.Net.Ports[port]
		if r.Net.Sw[p.Node].Spec != nil && r.Net.Sw[r.Net.Ports[p.Peer].Node].Spec != nil {
			x.wire += p.TxBytes
		}
	}
	if s := r.Plan.Scheduled; s != nil {
		x.efficiency = s.Efficiency(4096 + c.Headers)
	}
	t[key] = x
	return x, nil
}

// heldBySwitches is the maximum bytes in queues, VOQs and egress buffers, summed over the cluster.
func heldBySwitches(r *sim.Run) (bytes int64) {
	for port := range r.Net.Ports {
		if node := r.Net.Ports[port].Node; r.Net.Sw[node].Spec != nil {
			for c := range queue.Classes {
				bytes += int64(r.Net.QueuePeak(int32(port), c))
			}
		}
	}
	for node := range r.Net.Sw {
		if s, ok := r.Net.Interface(int32(node)); ok {
			bytes += s.HeldPeak
		}
	}
	return bytes
}

func thesisRows() (rows []Row, err error) {
	t := thesis{}
	for _, part := range []func() ([]Row, error){t.times, t.first, t.buffers, t.costs} {
		rows = append(rows, must(part())...)
	}
	return rows, nil
}

// thesisFlows are hosts that send to one host. The last flow is from the first host of their switch to the host
// next to it.
func thesisFlows(senders int, bytes string, victim bool) string {
	pairs := make([][2]int, 0, senders+1)
	for i := range senders {
		pairs = append(pairs, [2]int{18 + i, 1})
	}
	text := transfers(bytes, pairs...)
	if victim {
		text += ", " + transfers("8MB", [2]int{17, 2})
	}
	return "flows: [" + text + "]"
}

// thesisCross makes every host send to the host at the same place of the next segment. This needs all cables.
func thesisCross() string {
	var pairs [][2]int
	for i := range 64 {
		pairs = append(pairs, [2]int{i + 1, (i+16)%64 + 1})
	}
	return "flows: [" + transfers("4MB", pairs...) + "]"
}

// times compares completion: spraying with receivers' credit over a scheduled fabric.
func (t thesis) times() (rows []Row, err error) {
	for _, c := range []struct {
		claim, traffic, rate string
		why                  *Reason
		last                 bool
	}{
		{"every NIC to one of the next segment, 4 MB", thesisCross(), "400Gbps", creditPace, false},
		{"the same on fabric links 12 % faster", thesisCross(), thesisRoomy, creditPace, false},
		{"all to all of 64, 64 KiB a pair", "alltoall: {bytes: 4MiB}", "400Gbps", nil, false},
		{"the same on fabric links 12 % faster", "alltoall: {bytes: 4MiB}", thesisRoomy, nil, false},
		{"24:1 of 2 MB", thesisFlows(24, "2MB", false), "400Gbps", creditIncast, false},
		{"a flow of 8 MB next to a 15:1 incast from its own switch", thesisFlows(15, "2MB", true), "400Gbps",
			nil, true},
	} {
		scheduled := must(t.run("scheduled", c.rate, c.traffic))
		for _, preset := range []string{"eqds", "uec"} {
			r := must(t.run(preset, c.rate, c.traffic))
			got, base := r.slowest, scheduled.slowest
			if c.last {
				got, base = r.last, scheduled.last
			}
			row := atMost(c.claim+": "+preset+"'s time over a scheduled fabric's", thesisSource, 1,
				float64(got)/float64(base), "%.3f")
			rows = append(rows, row.because(c.why))
		}
	}
	return rows, nil
}

// first is a single packet. Spraying sends it without a request.
func (t thesis) first() ([]Row, error) {
	one := "flows: [" + transfers("4096B", [2]int{1, 17}) + "]"
	var took [2]unit.Time
	for i, preset := range []string{"eqds", "scheduled"} {
		r := must(t.run(preset, "400Gbps", one))
		took[i] = r.slowest
	}
	return []Row{atMost("one packet: eqds's time over a scheduled fabric's",
		thesisSource+"; a round trip for request and grant", 1, float64(took[0])/float64(took[1]), "%.3f")}, nil
}

// buffers returns what switches must hold.
func (t thesis) buffers() (rows []Row, err error) {
	const source = thesisSource + "; switches with very small buffers"
	for _, c := range []struct{ claim, traffic string }{
		{"every NIC to one of the next segment, 4 MB", thesisCross()},
		{"24:1 of 2 MB", thesisFlows(24, "2MB", false)},
	} {
		var held [2]int64
		for i, preset := range []string{"eqds", "scheduled"} {
			r := must(t.run(preset, "400Gbps", c.traffic))
			held[i] = r.held
		}
		claim := fmt.Sprintf("%s: what the cluster's switches held under eqds, of %.1f MB of a scheduled fabric", c.claim, float64(held[1])/1e6)
		rows = append(rows, atMost(claim, source, 1, float64(held[0])/float64(held[1]), "%.3f"))
	}
	return rows, nil
}

// costs returns the costs of a design: headers, state, links, switches.
func (t thesis) costs() ([]Row, error) {
	var runs [2]*thesisRun
	for i, preset := range []string{"eqds", "scheduled"} {
		r := must(t.run(preset, "400Gbps", thesisCross()))
		runs[i] = r
	}
	const ports, gpus = 64, 1920
	plain, cells := clos(ports, gpus, 1), clos(ports, gpus, runs[1].efficiency)
	voqs := int64(cells.leaves) * gpus
	headers := atMost("headers of a full packet between NICs, bytes: eqds over a scheduled fabric",
		thesisSource+"; less cost", 1, float64(runs[0].headers)/float64(runs[1].headers), "%.3f")
	return []Row{headers.because(placed),
		atMost("bytes on links between switches for the same permutation: eqds over cells and messages",
			thesisSource+"; less cost", 1, float64(runs[0].wire)/float64(runs[1].wire), "%.3f"),
		atMost(fmt.Sprintf("%d GPUs on %d-port switches at line rate, switches: sprayed %d over scheduled %d",
			gpus, ports, plain.leaves+plain.spines, cells.leaves+cells.spines), thesisSource+"; less cost", 1,
			float64(plain.leaves+plain.spines)/float64(cells.leaves+cells.spines), "%.3f"),
		atMost(fmt.Sprintf("the same, optics between switches: %d over %d", 2*plain.cables, 2*cells.cables),
			thesisSource+"; less cost", 1, float64(plain.cables)/float64(cells.cables), "%.3f"),
		atMost(fmt.Sprintf("state per end point, queues: a NIC's of eqds, one, over the %.0f VOQs of all interface nodes per GPU and class", float64(voqs)/gpus), thesisSource+
			"; state of all output queues in each switch", 1, gpus/float64(voqs), "%.4f"),
	}, nil
}

// clos counts the switches and cables of a two-tier fabric that carries line rate. Packets get only a share of the
// rate of links between switches.
func clos(ports, gpus int, share float64) (n struct{ leaves, spines, cables int }) {
	down := int(math.Floor(float64(ports) * share / (1 + share)))
	n.leaves = (gpus + down - 1) / down
	n.cables = n.leaves * int(math.Ceil(float64(down)/share))
	n.spines = (n.cables + ports - 1) / ports
	return n
}
