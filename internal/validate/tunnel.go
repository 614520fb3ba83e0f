package validate

import (
	"fmt"

	"railyard/internal/sim"
	"railyard/roce"
	"railyard/unit"
)

// Bytes of a tunnel's frame around a packet from its IP header on: Ethernet, IPv4, UDP, BTH, RETH, immediate, ICRC.
// The packet loses its own Ethernet header and FCS.
const (
	immediate   = 4
	tunnelAdds  = ethernet + ipv4 + udp + bth + reth + immediate + icrc
	tunnelSaves = ethernet
)

// tunnelled is 100 Gbit/s, 1 us per hop, three tiers, as credit's rows.
const tunnelled = `
name: tunnel
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 1us}}
server: {nic_latency: 0s}
transport: {kind: %s, tunnel: %s}
workload: {traffic: {%s}}
`

// tunnelRows compares RoCE with DCQCN in a tunnel of EQDS with closed forms (Olteanu et al., NSDI 2022: the tunnel
// sends packets of other transports unchanged, on credit).
func tunnelRows() (rows []Row, err error) {
	const paper = "docs/references.md, credit"
	const packets, senders = 1000, 15
	const bytes = packets * 4096
	wire := float64(packets*(4096+middleFrame-tunnelSaves+tunnelAdds+wireGap) + reth) // a RETH in the first packet
	alone := fmt.Sprintf("flows: [{from: host-2/gpu-1, to: host-1/gpu-1, bytes: %dB}]", bytes)
	one, on := must(inTunnel("roce", "eqds", alone)), must(onReceiversLink(alone))
	rows = append(rows, exact("EQDS tunnel: bytes of 1,000 RoCE packets on the receiver's link, preamble and gap included",
		fmt.Sprintf("closed form: a packet less %d B of Ethernet, %d B of headers and %d B of preamble and gap around it",
			tunnelSaves, tunnelAdds, wireGap), int(wire), on.bytes),
		exact("EQDS tunnel: of these, payload that is the sender's next packet as it was, its ICRC right", paper, packets, on.unchanged))
	form := wire*8/99e3 + 2 + 2*4242*8/100e3 // two links, the NIC's own wire to its edge
	rows = append(rows, within("EQDS tunnel: one flow of 4.1 MB, us", "closed form: bytes with headers / 99 % of the rate + path latency",
		form, one.slowest, 0.02, "%.1f"))
	traffic := fmt.Sprintf("incast: {bytes: %dB, fan_in: %d}", bytes, senders)
	many, plain := must(inTunnel("roce", "eqds", traffic)), must(inTunnel("roce", "none", traffic))
	rows = append(rows,
		within("EQDS tunnel: 15 to one, slowest flow, us", "closed form: senders × bytes with headers / rate + round trip",
			senders*wire*8/100e3+14, many.slowest, 0.02, "%.1f"),
		atMost("EQDS tunnel: 15 to one, longest queue in the fabric, KB", paper+": one product, a queue's limit",
			float64(many.Plan.SpecOf(many.Graph.Node("leaf-1-1")).Queues[3].Limit)/1e3, many.queue/1e3, "%.0f"),
		atMost("EQDS tunnel: 15 to one, longest queue, of that with DCQCN without", paper, 0.05, many.queue/plain.queue, "%.3f"),
		exact("EQDS tunnel: 15 to one, PFC pauses", paper, 0, int(many.Net.Pauses)))
	perm := must(inTunnel("roce", "eqds", "permutation: {bytes: 4MB}"))
	rows = append(rows, exact("EQDS tunnel: permutation of 16 hosts over all paths, packets out of order to go-back-N, or retransmitted by it",
		paper+": the far edge restores the order", 0, int(perm.Hosts.Count.OutOfOrder+perm.Hosts.Count.Duplicates+perm.Hosts.Count.Naks)))
	const tcpWire = 4096 + ethernet + ipv4 + 20 + 12 - tunnelSaves + tunnelAdds + wireGap // TCP with timestamps
	// Hosts: two stagings of 20 us and 64 KiB at 200 Gbit/s, a call, its copy at 86 Gbit/s, interrupt, wakeup.
	const hosts = 2*20 + 65536*8/200e3 + 0.5 + 65536*8/86e3 + 8 + 5
	tcp := must(inTunnel("tcp", "eqds", traffic))
	rows = append(rows,
		within("EQDS tunnel: kernel TCP, 15 to one, slowest flow, us", "closed form: senders × bytes with headers / 99 % of the rate + round trip + hosts",
			senders*packets*tcpWire*8/99e3+14+hosts, tcp.slowest, 0.02, "%.1f"),
		exact("EQDS tunnel: kernel TCP, 15 to one, packets dropped", paper, 0, int(tcp.Net.Drops)))
	victim, err := victimIn("eqds")
	const frames = 8e6/4096 + 1
	rows = append(rows, within("EQDS tunnel: a flow of 8 MB next to an incast that shares its uplink, us",
		"closed form: bytes with headers / 99 % of the rate + path latency",
		(8e6+frames*(middleFrame-tunnelSaves+tunnelAdds+wireGap))*8/99e3+5, victim, 0.02, "%.1f"))
	return rows, err
}

// tunnelRun is the result of a run: the time of its slowest flow in us and its longest queue in bytes.
type tunnelRun struct {
	*sim.Run
	slowest, queue float64
}

func inTunnel(transport, kind, traffic string) (t tunnelRun, err error) {
	t.Run = must(finish(fmt.Sprintf(tunnelled, transport, kind, traffic)))
	s, _, _ := t.Outcome("")
	t.slowest = float64(s.Flows.Max) / 1e6
	for _, p := range t.Ports() {
		if t.Net.Sw[p.Node].Spec != nil {
			t.queue = max(t.queue, float64(p.Packets.QueuePeak))
		}
	}
	return t, nil
}

// linkRun is the content of a capture of the receiver's link: bytes of the tunnel's data on the wire, and the
// number of complete packets that are in order.
type linkRun struct{ bytes, unchanged int }

func onReceiversLink(traffic string) (on linkRun, err error) {
	r := must(start(fmt.Sprintf(tunnelled, "roce", "eqds", traffic)))
	c := must(r.Capture([]string{"leaf-1-1:Eth1"}, 0, unit.Second))
	do(r.Go(nil))
	next := uint32(0)
	c.Frames(func(_ unit.Time, _ int, out bool, b []byte, _ string) {
		var f, in roce.Frame
		if !out || f.Decode(b) != nil || f.BTH.Opcode != roce.WriteOnlyImm {
			return
		}
		on.bytes += len(b) + 4 + wireGap // plus the FCS, which captures omit
		good := in.DecodeIP(f.Payload()) == nil && in.ComputeICRC() == in.ICRC && f.ComputeICRC() == f.ICRC
		if good && (on.unchanged == 0 || in.BTH.PSN == next) && len(in.Payload()) == 4096 {
			on.unchanged++
		}
		next = (in.BTH.PSN + 1) & roce.PSNMask
	})
	return on, nil
}

// victimIn returns the time, in us, of the flow to another NIC that shares the uplink of an incast.
func victimIn(kind string) (us float64, err error) {
	r := must(finish(`
name: victim
fabric: {kind: rail, segments: 2, hosts: 8, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 800Gbps, cable: 30m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
transport: {tunnel: ` + kind + `}
workload: {traffic: {flows: [
  {from: host-1/gpu-1, to: host-9/gpu-1, bytes: 2MB}, {from: host-2/gpu-1, to: host-9/gpu-1, bytes: 2MB},
  {from: host-3/gpu-1, to: host-9/gpu-1, bytes: 2MB}, {from: host-4/gpu-1, to: host-9/gpu-1, bytes: 2MB},
  {from: host-5/gpu-1, to: host-9/gpu-1, bytes: 2MB}, {from: host-6/gpu-1, to: host-9/gpu-1, bytes: 2MB},
  {from: host-7/gpu-1, to: host-9/gpu-1, bytes: 2MB}, {from: host-8/gpu-1, to: host-10/gpu-1, bytes: 8MB}]}}
`))
	for i := range r.Hosts.Messages {
		if m := &r.Hosts.Messages[i]; m.Bytes == 8*unit.MB {
			us = (m.Done - m.Posted).Micros()
		}
	}
	return us, nil
}
