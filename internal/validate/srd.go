package validate

import (
	"fmt"
	"slices"
	"strings"

	"railyard/unit"
)

var meetings = reason("messages that meet at receivers",
	"No path is congested, but ports of receivers are, where several messages meet. SRD cuts rates there at twice the least round trip, and a message of 64 KB ends before its rate is back; AWS publishes no constants. TCP's messages end in the order of their arrival.",
	"transport.srd.slow=10", "0.71 and 0.82; it is also the threshold above which a path loses its share, so that overloaded paths lose it later")

const srdSource = "AWS News Blog on ENA Express, November 2022; EC2 User Guide"

// srdRows compares SRD relative to one-path TCP with AWS's statements: a single flow goes from 5 to 25 Gbit/s, P99
// falls by up to 50 %, and P99.9 by up to 85 %. A path's rate represents EC2's limit of a flow on one path.
func srdRows() ([]Row, error) {
	var rate [2]float64
	for i, preset := range []string{"roce-selective", "srd"} {
		t := must(slowestOf(`
name: flow
fabric: {kind: rail, segments: 2, hosts: 2, spines: 16, uplinks: 1, host_link: {rate: 25Gbps, cable: 3m},
  fabric_link: {rate: 5Gbps, cable: 50m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 40MB}]}}
`, "transport="+preset))
		rate[i] = 40e6 * 8 / t.Seconds() / 1e9
	}
	rows := []Row{
		within("one flow over one of 16 paths of 5 Gbit/s, NICs of 25: Gbit/s", srdSource, 5, rate[0], 0.05, "%.2f"),
		within("the same under SRD", srdSource, 25, rate[1], 0.05, "%.2f")}
	for _, load := range []struct {
		claim, traffic, note string
		why                  *Reason
	}{
		{"64 KB every 30 us between fixed pairs", "flows: [" + steadyPairs(60) + "]",
			"AWS gives the maximum of an undescribed load", nil},
		{"64 KB to random receivers at half load", "background: {load: 50, sizes: 64KB, for: 8ms, queue_pairs: per-pair}",
			"", meetings},
	} {
		var tails [2][2]unit.Time
		for i, preset := range []string{"tcp", "srd"} {
			tails[i] = must(tailsOf(preset, load.traffic))
		}
		for k, name := range []string{"P99", "P99.9"} {
			claim := fmt.Sprintf("%s, %s: SRD's %v over that of TCP", load.claim, name, tails[1][k])
			row := atMost(claim, srdSource+[]string{": down by up to 50 %", ": down by up to 85 %"}[k], 1,
				float64(tails[1][k])/float64(tails[0][k]), "%.3f")
			row.Note = load.note
			rows = append(rows, row.because(load.why))
		}
	}
	return rows, nil
}

// steadyPairs makes 32 hosts each send messages to one host of the next segment, at 0.7 of their rate. No receiver
// has two senders, so all queues come from shared paths.
func steadyPairs(messages int) string {
	var all []string
	for k := range messages {
		for i := range 32 {
			all = append(all, fmt.Sprintf("{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 64KB, start: %dus}", i+1, (i+8)%32+1, 30*k))
		}
	}
	return strings.Join(all, ", ")
}

// tailsOf returns how long the 99th and the 99.9th percent of messages take.
func tailsOf(preset, traffic string, sets ...string) (tails [2]unit.Time, err error) {
	r := must(finish(`
name: tails
fabric: {kind: rail, segments: 4, hosts: 8, spines: 8, uplinks: 1, host_link: {rate: 25Gbps, cable: 3m},
  fabric_link: {rate: 25Gbps, cable: 50m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
workload: {traffic: {`+traffic+`}}
`, append(sets, "transport="+preset)...))
	var times []unit.Time
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		times = append(times, m.Done-m.Posted)
	}
	slices.Sort(times)
	for k, of := range []int{990, 999} {
		tails[k] = times[len(times)*of/1000]
	}
	return tails, r.Failed()
}
