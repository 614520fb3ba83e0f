package validate

import (
	"fmt"
	"strings"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// twoHalls is one message over spines. The links of one spine are longer by the given number of metres.
func twoHalls(spines int, metres int, bytes string, extra ...string) string {
	var switches, links strings.Builder
	for i := 1; i <= spines; i++ {
		cable := 30
		if i == spines {
			cable += metres
		}
		fmt.Fprintf(&switches, "      - {name: spine-%d, role: spine, tier: 2}\n", i)
		for leaf := 1; leaf <= 2; leaf++ {
			fmt.Fprintf(&links, "      - {from: leaf-%d, to: spine-%d, cable: %dm}\n", leaf, i, cable)
		}
	}
	return `
name: two halls
fabric:
  kind: graph
  host_link: {rate: 400Gbps, cable: 3m}
  fabric_link: {rate: 400Gbps}
  graph:
    hosts: [host-1, host-2]
    switches:
      - {name: leaf-1, role: leaf, tier: 1}
      - {name: leaf-2, role: leaf, tier: 1}
` + switches.String() + `    links:
      - {from: host-1, to: leaf-1}
      - {from: host-2, to: leaf-2}
` + links.String() + `server: {gpus: 1, nics: 1}
cc: {algorithm: none}
lb: spray
transport: {recovery: selective, window: 65536, nak_after: 65535, ack_every: 16}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: ` + bytes + `}]}}
` + strings.Join(extra, "\n")
}

// reorderRows compares a NIC's memory for out-of-order packets with the product of path delay differences. Packets
// use k paths in turn. If one path is longer by d, the other paths deliver (k-1)/k of the rate times d until its
// packets arrive.
func reorderRows() ([]Row, error) {
	const source = "rate × difference of path delays"
	rate := 400e9 / 8 * 4096 / float64(roce.DataLen(roce.WriteMiddle, 4096)+roce.PreambleIFG) // payload
	summary := func(text string, sets ...string) *result.Summary {
		r := must(finish(text, sets...))
		s, _, _ := r.Outcome("")
		return s
	}
	peak := func(s *result.Summary) float64 {
		if s.Reorder == nil {
			return 0
		}
		return float64(s.Reorder.Peak)
	}
	var rows []Row
	for _, c := range []struct{ spines, metres int }{{2, 1000}, {2, 4000}, {4, 1000}, {4, 2000}, {8, 2000}} {
		d := 2 * float64((&topo.Link{LengthMM: int64(c.metres) * 1000}).Propagation()) / float64(unit.Second)
		share := float64(c.spines-1) / float64(c.spines)
		text := twoHalls(c.spines, c.metres, "16MiB")
		rows = append(rows, within(fmt.Sprintf("placement in order, 1 of %d paths longer by %.3g µs: KB that the NIC keeps", c.spines, d*1e6),
			source, rate*share*d/1e3, peak(summary(text, "server.reorder.placement=order"))/1e3, 0.03, "%.1f"))
	}
	return append(rows, reorderForms(summary, peak, rate)...), nil
}

// reorderForms are rows of one message whose First takes the longer path, or the shorter one.
func reorderForms(summary func(string, ...string) *result.Summary, peak func(*result.Summary) float64,
	rate float64) (rows []Row) {
	const metres, seeds = 2000, 8
	d := 2 * float64((&topo.Link{LengthMM: metres * 1000}).Propagation()) / float64(unit.Second)
	need := rate * d / 2
	text := twoHalls(2, metres, "4MiB")
	late := -1
	var most, least float64
	for seed := range seeds {
		p := peak(summary(text, fmt.Sprintf("seed=%d", seed)))
		if most = max(most, p); p == most {
			late = seed
		}
		if seed == 0 || p < least {
			least = p
		}
	}
	first := fmt.Sprintf("seed=%d", late)
	rows = append(rows,
		within("placement by address, First on the longer of 2 paths: KB of Middle and Last packets before it",
			"rate × difference of path delays", need/1e3, most/1e3, 0.03, "%.1f"),
		exact("placement by address, First on the shorter path: bytes that the NIC keeps",
			"every address is known: RETH of the First and PSN", 0, int(least)))
	for _, free := range []struct{ claim, set string }{
		{"WRITE Only: bytes that the NIC keeps", "transport.write=only"},
		{"MRC: bytes that the NIC keeps", "transport.kind=mrc"},
		{"go-back-N: bytes that the NIC keeps", "transport.recovery=go-back-n"},
	} {
		rows = append(rows, exact(free.claim, "every packet has its address, or is dropped", 0,
			int(peak(summary(text, first, free.set)))))
	}
	for _, memory := range []unit.Bytes{64 * unit.KiB, 256 * unit.KiB} {
		s := summary(text, first, fmt.Sprintf("server.reorder.memory=%v", memory))
		refused := int64(0)
		if s.Reorder != nil {
			refused = s.Reorder.Refused
		}
		rows = append(rows,
			within(fmt.Sprintf("the same with %v of memory: packets dropped before the First arrives", memory),
				"rate × difference of path delays − memory", (need-float64(memory))/4096, float64(refused), 0.02, "%.0f"),
			exact(fmt.Sprintf("%v of memory: most bytes in use", memory), "the limit", int(memory), int(peak(s))),
			exact(fmt.Sprintf("%v of memory: packets retransmitted", memory), "those that were dropped", refused,
				s.Retransmissions))
	}
	return append(rows, throughMemory(summary)...)
}

// throughMemory are rows of NICs that write packets ahead of others to a memory of their own first.
func throughMemory(summary func(string, ...string) *result.Summary) (rows []Row) {
	const bytes = 64 << 20
	for _, c := range []struct {
		spines int
		rate   unit.Rate
	}{{2, 200 * unit.Gbps}, {4, 200 * unit.Gbps}, {4, 400 * unit.Gbps}} {
		text := twoHalls(c.spines, 1000, "64MiB")
		share := float64(c.spines-1) / float64(c.spines)
		want := bytes * 2 * share * 8 / float64(c.rate)
		s := summary(text, "server.reorder.placement=local", fmt.Sprintf("server.reorder.rate=%v", c.rate),
			"transport.write=only")
		rows = append(rows, within(fmt.Sprintf("WRITE Only through a NIC's memory of %v, %d paths: ms", c.rate, c.spines),
			"each packet ahead of others is written and read: 2 (k − 1) / k of the bytes", want*1e3,
			float64(s.StepTime)/1e9, 0.05, "%.3f"))
	}
	return rows
}
