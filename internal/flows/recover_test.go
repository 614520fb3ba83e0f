package flows_test

import (
	"fmt"
	"math"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/flows"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/scenarios"
	"railyard/unit"
)

// packets runs a scenario text by packets and returns when its first flow ends.
func packets(t *testing.T, text string, sets ...string) unit.Time {
	t.Helper()
	r, err := sim.New(planned(t, text, sets...))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	_, tab, _ := r.Outcome("test")
	return unit.Time(tab.Flows[0].Done)
}

// TestRecovery breaks a link under a queue pair. Packets on new routes show the gap, so the queue pair retransmits
// at once if it still had data to send when routes converged. Otherwise it waits for its ACK timeout.
func TestRecovery(t *testing.T) {
	const mb = 1 << 20
	text := pair + traffic([3]int{1, 3, 8 * mb})
	r, _, _ := run(t, text)
	uplink := r.Observe().Ports[r.Hosts.Path(0)[1]].Link
	name := r.Graph.End(int(uplink), r.Graph.Links[uplink].A)
	for _, converge := range []string{"0us", "20us", "200us", "1ms"} {
		down := text + fmt.Sprintf("events:\n  - {at: 300us, link: %q, up: false, converge: %s}\n", name, converge)
		_, s, tab := run(t, down)
		got, want := float64(tab.Flows[0].Done), float64(packets(t, down))
		if math.Abs(got-want) > 0.05*want || !s.Complete {
			t.Errorf("routes converge after %s: %v as flows, %v by packets", converge, unit.Time(got), unit.Time(want))
		}
	}
}

// stranded is a GPU that sends given operations from 100 us on, and events on its path.
const stranded = `
name: stranded
fabric: {kind: rail, segments: 2, hosts: 2, spines: 1, uplinks: 2, host_link: {rate: 100Gbps},
         fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload:
  ops:
    - {id: a, gpu: host-1/gpu-1, compute: 100us}
%s
events:
%s`

// asPackets compares the step times of both fidelities.
func asPackets(t *testing.T, what, text string, sets ...string) {
	t.Helper()
	_, s, _ := run(t, text, sets...)
	r, err := sim.New(planned(t, text, sets...))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	p, _, _ := r.Outcome("test")
	got, want := float64(s.StepTime), float64(p.StepTime)
	if math.Abs(got-want) > 0.05*want || !s.Complete {
		t.Errorf("%s: %v as flows, %v by packets", what, unit.Time(got), unit.Time(want))
	}
}

// TestStranded posts messages into a path that is already broken. The queue pair still sends them all, and waits
// for its ACK timeout unless it still sends once routes have converged.
func TestStranded(t *testing.T) {
	send := func(id string, bytes int, after string) string {
		return fmt.Sprintf("    - {id: %s, gpu: host-1/gpu-1, to: host-3/gpu-1, send: %dB, after: [%s]}\n", id, bytes, after)
	}
	const uplink = "seg-1-rail-1:Eth3"
	after := func(at, link, up, converge string) string {
		return fmt.Sprintf("  - {at: %s, link: %q, up: %s, converge: %s}\n", at, link, up, converge)
	}
	event := func(at, link, up string) string { return after(at, link, up, "300us") }
	for _, kb := range []int{4, 64, 1 << 10, 2 << 10, 8 << 10, 32 << 10} {
		for _, converge := range []string{"60us", "100us", "300us", "1ms", "100ms"} {
			for _, cc := range []string{"none", "dcqcn"} {
				asPackets(t, fmt.Sprintf("%d KiB, routes converge after %s, cc %s", kb, converge, cc),
					fmt.Sprintf(stranded, send("s", kb<<10, "a"), after("50us", uplink, "false", converge)),
					"cc.algorithm="+cc)
			}
		}
	}
	late := "    - {id: b, gpu: host-1/gpu-1, compute: 500us}\n"
	for _, c := range []struct{ what, ops string }{
		{"a second message that goes on past it", send("s", 64<<10, "a") + send("t", 8<<20, "a")},
		{"a second message that ends before it", send("s", 64<<10, "a") + send("t", 64<<10, "a")},
		{"a second message posted behind it", send("s", 64<<10, "a") + late + send("t", 4<<10, "b")},
		{"two that share the NIC", send("s", 2<<20, "a") +
			"    - {id: t, gpu: host-1/gpu-1, to: host-4/gpu-1, send: 2MiB, after: [a]}\n"},
	} {
		asPackets(t, c.what, fmt.Sprintf(stranded, c.ops, event("50us", uplink, "false")), "cc.algorithm=none")
	}
	const from, to = "seg-1-rail-1:Eth1", "seg-2-rail-1:Eth1"
	for _, c := range []struct {
		what, events string
		sets         []string
	}{
		{"four queue pairs", event("50us", uplink, "false"), []string{"transport.qps=4"}},
		{"selective", event("50us", uplink, "false"), []string{"transport.recovery=selective"}},
		{"selective, a window", event("50us", uplink, "false"),
			[]string{"transport.recovery=selective", "transport.window=512"}},
		{"selective, a window, under way", event("150us", uplink, "false"),
			[]string{"transport.recovery=selective", "transport.window=512"}},
		{"HPCC", event("50us", uplink, "false"), []string{"cc.algorithm=hpcc"}},
		{"HPCC, under way", event("150us", uplink, "false"), []string{"cc.algorithm=hpcc"}},
		{"Swift", event("50us", uplink, "false"), []string{"cc.algorithm=swift"}},
		{"DCTCP", event("50us", uplink, "false"), []string{"cc.algorithm=dctcp"}},
		{"slow PCIe", event("50us", uplink, "false"), []string{"server.pcie=40Gbps"}},
		{"the NIC's own cable", event("50us", from, "false") + event("200us", from, "true"), nil},
		{"the NIC's own cable, under way", event("150us", from, "false") + event("200us", from, "true"), nil},
		{"the receiver's cable", event("50us", to, "false") + event("250us", to, "true"), nil},
		{"the receiver's cable, under way", event("150us", to, "false") + event("250us", to, "true"), nil},
	} {
		for _, kb := range []int{64, 2 << 10, 8 << 10} {
			asPackets(t, fmt.Sprintf("%s, %d KiB", c.what, kb),
				fmt.Sprintf(stranded, send("s", kb<<10, "a"), c.events), c.sets...)
		}
	}
}

// share returns the lost time that a scenario's account assigns to causes, by packets and as flows.
func share(t *testing.T, text string, sets []string, of ...cause.ID) (packet, flow map[cause.ID]int64) {
	t.Helper()
	account := func(r interface {
		Go(exec.Observer) error
		Outcome(string) (*result.Summary, *result.Tables, []string)
	}, err error) map[cause.ID]int64 {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		got := map[cause.ID]int64{}
		for _, c := range of {
			got[c] = s.Chain.Of(c)
		}
		return got
	}
	p := planned(t, text, sets...)
	r, err := flows.Build(p, flows.Estimate(p))
	flow = account(r, err)
	q, err := sim.New(planned(t, text, sets...))
	return account(q, err), flow
}

// alike compares accounts of a cause by packets and as flows.
func alike(t *testing.T, what string, packet, flow map[cause.ID]int64, id cause.ID) {
	t.Helper()
	if a, b := packet[id], flow[id]; math.Abs(float64(a-b)) > 0.02*float64(a) {
		t.Errorf("%s: %s: %v by packets, %v as flows", what, id.Get().Key, unit.Time(a), unit.Time(b))
	}
}

// The time that congestion control withholds from flows is assigned to it and not to latency, which packets and
// flows have in common.
func TestWithheldIsNoLatency(t *testing.T) {
	packet, flow := share(t, scenarios.Texts()["three-flows.yaml"], nil, cause.Latency, cause.Recovering, cause.Incast,
		cause.Oversubscription)
	for _, id := range []cause.ID{cause.Latency, cause.Incast, cause.Oversubscription} {
		alike(t, "three-flows", packet, flow, id)
	}
	if flow[cause.Recovering] < packet[cause.Recovering]/2 {
		t.Errorf("CC recovering: %v by packets, %v as flows", unit.Time(packet[cause.Recovering]),
			unit.Time(flow[cause.Recovering]))
	}
}

// The time for which a queue pair waits for its ACK timeout is assigned to retransmission, as it is by packets.
func TestTimeoutIsNoLatency(t *testing.T) {
	const op = "    - {id: s, gpu: host-1/gpu-1, to: host-3/gpu-1, send: %dB, after: [a]}\n"
	const event = "  - {at: %s, link: \"seg-1-rail-1:Eth3\", up: false, converge: 300us}\n"
	for _, c := range []struct {
		bytes int
		at    string
	}{{64 << 10, "50us"}, {1 << 20, "150us"}} {
		what := fmt.Sprintf("%d bytes, a link that breaks at %s", c.bytes, c.at)
		text := fmt.Sprintf(stranded, fmt.Sprintf(op, c.bytes), fmt.Sprintf(event, c.at))
		packet, flow := share(t, text, nil, cause.Latency, cause.Retransmission)
		if packet[cause.Retransmission] < int64(60*unit.Millisecond) {
			t.Errorf("%s: retransmission %v by packets", what, unit.Time(packet[cause.Retransmission]))
		}
		alike(t, what, packet, flow, cause.Latency)
		alike(t, what, packet, flow, cause.Retransmission)
	}
}

// Ports that carry all that their senders' NICs permit build no queue, and no congestion control reacts. The
// all-to-alls of experts take as long as without any.
func TestBalanced(t *testing.T) {
	text := scenarios.Texts()["mixtral-ep8-64.yaml"]
	_, without, _ := run(t, text, "cc.algorithm=none", "workload.training.global_batch=8")
	_, with, _ := run(t, text, "workload.training.global_batch=8")
	if a, b := float64(without.StepTime), float64(with.StepTime); math.Abs(a-b) > 1e-3*a {
		t.Errorf("%v without congestion control, %v with DCQCN", unit.Time(a), unit.Time(b))
	}
}
