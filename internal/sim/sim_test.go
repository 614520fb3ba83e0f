package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/scenarios"
	"railyard/unit"

	"pgregory.net/rapid"
)

// files are those named by test scenarios, in addition to the shipped ones.
var files = map[string]string{
	"small.json": `{"model_type":"llama","hidden_size":512,"num_hidden_layers":16,"num_attention_heads":16,"intermediate_size":2048,"vocab_size":1000}`,
	"sizes.txt":  "100 0\n1000 60\n2000 70\n50000 85\n300000 95\n1000000 98\n3000000 100\n",
}

// load builds the run of a scenario text.
func load(t testing.TB, text string, sets ...string) *Run {
	t.Helper()
	d, err := scenario.Parse("test.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return scenarios.File(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runAll runs a scenario to its end and checks the invariants during the run.
func runAll(t testing.TB, text string, sets ...string) (*Run, *result.Summary, *result.Tables) {
	t.Helper()
	r := load(t, text, sets...)
	if err := r.Go(func(exec.Progress) bool {
		if err := r.Net.Audit(); err != nil {
			t.Fatal(err)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	invariants(t, r)
	s, tab, _ := r.Outcome("test")
	addsUp(t, r, s, tab)
	return r, s, tab
}

// addsUp checks the time lost of a run. Its parts are not negative and add up: for each collective to its time, for
// the critical path to the step.
func addsUp(t testing.TB, r *Run, s *result.Summary, tab *result.Tables) {
	t.Helper()
	rootsAddUp(t, r, s, tab)
	peaksAgree(t, r, s, tab)
	pathIsTheStep(t, s, tab)
	for _, c := range s.Collectives {
		if c.BusBest > c.Bound*1.0001 {
			t.Fatalf("%s: bus bandwidth %.3g above line rate %.3g", c.Name, c.BusBest, c.Bound)
		}
	}
	if sum := s.Compute + s.ExposedComm + s.Bubble + s.Waiting + s.Slow; sum != s.StepTime {
		t.Fatalf("the parts add up to %d, the step took %d", sum, s.StepTime)
	}
	for _, c := range tab.Collectives {
		partsAdd(t, &c.Lost, c.End-c.Start, c.Name)
	}
	if c := s.Chain; c != nil && r.Exec.Done() {
		partsAdd(t, c, s.StepTime, "the step")
	}
}

// partsAdd checks that an account's parts add up to a time and that none is negative.
func partsAdd(t testing.TB, a *cause.Account, took int64, of string) {
	t.Helper()
	for id := range a.Own {
		if a.Own[id] < 0 || a.Reaction[id] < 0 {
			t.Fatalf("%s: %s is negative: %+v", of, cause.ID(id).Get().Name, a)
		}
	}
	if sum := a.Total(); sum != took {
		t.Fatalf("%s: parts of %d make %d: %+v", of, took, sum, a)
	}
}

// invariants checks every ended run: accounting balances, every posted byte was placed once, and nothing is faster
// than its link.
func invariants(t testing.TB, r *Run) {
	t.Helper()
	if err := r.Net.Audit(); err != nil {
		t.Fatal(err)
	}
	want := map[int32]unit.Bytes{}
	for _, m := range r.Hosts.Messages {
		want[m.Conn] += m.Bytes
	}
	for c, b := range want {
		if got := r.Hosts.Placed(c); r.Exec.Done() && got != b {
			t.Fatalf("connection %d placed %d of %d bytes", c, got, b)
		}
	}
}

const twoHosts = `
name: two
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 4096B}]}}
`

// One packet of 4096 bytes (4174 on the wire with its RETH and FCS, 4194 with preamble and gap): a cut-through
// switch forwards it once 54 bytes have arrived.
func TestCutThrough(t *testing.T) {
	_, s, _ := runAll(t, twoHosts)
	if want := int64(2*4194*20 + 2e6); s.StepTime != want {
		t.Errorf("store and forward took %d ps, want %d", s.StepTime, want)
	}
	_, s, _ = runAll(t, twoHosts, "fabric.cut_through=true")
	// The first link's packet arrives 4174-54 bytes before its tail.
	if want := int64(2*4194*20 + 2e6 - (4174-54)*20); s.StepTime != want {
		t.Errorf("cut-through took %d ps, want %d", s.StepTime, want)
	}
}

// Equal scenarios and seeds give equal tables and figures for any GOMAXPROCS; another seed does not.
func TestDeterministic(t *testing.T) {
	text := `
name: det
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 1us}}
lb: flowlet
lb_options: {flowlet_gap: 1us}
transport: {recovery: selective}
workload: {traffic: {alltoall: {bytes: 4MB}}}
`
	dump := func(sets ...string) []byte {
		_, s, tab := runAll(t, text, sets...)
		a, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(tab)
		if err != nil {
			t.Fatal(err)
		}
		return append(a, b...)
	}
	one := dump()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if two := dump(); !bytes.Equal(one, two) {
		t.Error("two runs of one seed differ")
	}
	if other := dump("seed=2"); bytes.Equal(one, other) {
		t.Error("two seeds give the same run")
	}
}

// With PFC and the computed headroom nothing is lost, for any fabric, load, thresholds and load balancing.
func TestLosslessInRandomFabrics(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		d, err := scenario.Parse("random", []byte(text), sets)
		if err != nil {
			rt.Fatal(err)
		}
		p, err := d.Resolve(func(name string) ([]byte, error) {
			if name != "small.json" {
				return scenarios.File(name)
			}
			return []byte(`{"model_type":"llama","hidden_size":512,"num_hidden_layers":16,"num_attention_heads":16,"intermediate_size":2048,"vocab_size":1000}`), nil
		})
		if err != nil {
			rt.Fatal(err)
		}
		r, err := New(p)
		if err != nil {
			rt.Skip(err) // the headroom does not fit the drawn buffer
		}
		if err := r.Go(nil); err != nil {
			rt.Fatal(err)
		}
		if r.Net.Drops != 0 {
			rt.Fatalf("%d packets lost under PFC", r.Net.Drops)
		}
		if !r.Exec.Done() {
			rt.Fatal("the run did not finish")
		}
		invariants(t, r)
	})
}

func randomScenario(rt *rapid.T) (string, []string) {
	kind := rapid.SampledFrom([]string{
		"{kind: fat-tree, k: 4, host_link: %s}",
		"{kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: %s, fabric_link: {rate: 200Gbps, " +
			"cable: 50m}}",
		"{kind: pod, segments: 2, hosts: 2, spines: 2, host_link: %s, fabric_link: {rate: 100Gbps, " +
			"cable: 300m}}",
		"{kind: rail-only, hosts: 6, host_link: %s, cut_through: true}",
	}).Draw(rt, "fabric")
	rate := rapid.SampledFrom([]string{"25Gbps", "100Gbps", "200Gbps"}).Draw(rt, "rate")
	cable := rapid.IntRange(1, 300).Draw(rt, "cable")
	fabric := fmt.Sprintf(kind, fmt.Sprintf("{rate: %s, cable: %dm}", rate, cable))
	gpus, ports := 2, 1
	switch {
	case strings.Contains(kind, "pod"):
		ports = 2
	case strings.Contains(kind, "fat-tree"):
		gpus = 1
	}
	traffic := rapid.SampledFrom([]string{"permutation: {bytes: 400KB}", "alltoall: {bytes: 1MB}",
		"incast: {bytes: 300KB, fan_in: 7}",
		"ring-allreduce: {bytes: 1MB}", "broadcast: {bytes: 500KB}"}).Draw(rt, "traffic")
	text := fmt.Sprintf("name: random\nseed: %d\nfabric: %s\n"+
		"server: {gpus: %d, nics: %[3]d, nic_ports: %d}\nworkload: {traffic: {%s}}\n",
		rapid.IntRange(1, 1_000_000).Draw(rt, "seed"), fabric, gpus, ports, traffic)
	xoff := rapid.IntRange(20, 400).Draw(rt, "xoff")
	threshold := fmt.Sprintf("switch.queues.3.xoff=%dKB", xoff)
	if rapid.IntRange(0, 2).Draw(rt, "dynamic") == 0 {
		threshold = "switch.queues.3.xoff=0B"
	}
	sets := []string{
		threshold, fmt.Sprintf("switch.queues.3.xon=%dKB", rapid.IntRange(0, xoff-1).Draw(rt, "xon")),
		"switch.queues.3.alpha=" + rapid.SampledFrom([]string{"0.001", "0.01", "0.125", "1", "8"}).Draw(rt,
			"alpha"),
		fmt.Sprintf("switch.queues.3.xon_offset=%dKB", max(0, rapid.IntRange(-50, 50).Draw(rt, "offset"))),
		"switch.queues.3.wred_min=10KB", fmt.Sprintf("switch.queues.3.wred_max=%dKB",
			rapid.IntRange(11, 1000).Draw(rt, "wredmax")),
		"lb=" + rapid.SampledFrom(policies()).Draw(rt, "lb"),
		"transport.recovery=" + rapid.SampledFrom([]string{"go-back-n", "selective"}).Draw(rt, "recovery"),
		"transport.write=" + rapid.SampledFrom([]string{"first-middle-last", "only"}).Draw(rt, "write"),
		"transport.timeout=8",
		fmt.Sprintf("transport.mtu=%d", rapid.SampledFrom([]int{256, 1024, 4096}).Draw(rt, "mtu")),
		fmt.Sprintf("transport.qps=%d", rapid.IntRange(1, 4).Draw(rt, "qps")),
		"cc.algorithm=" + rapid.SampledFrom([]string{"dcqcn", "swift", "none"}).Draw(rt, "cc"),
		fmt.Sprintf("switch.pfc_quanta=%d", rapid.SampledFrom([]int{500, 5000, 65535}).Draw(rt, "quanta")),
		"fabric.pipeline=" + rapid.SampledFrom([]string{"0ns", "350ns", "1us"}).Draw(rt, "pipeline"),
	}
	return text, sets
}

// A network that loses packets still delivers every byte: with bit errors, tail drop in a lossy class, or a broken
// link that routes avoid.
func TestRecoveryFromLoss(t *testing.T) {
	base := `
name: loss
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
	fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 10, ack_every: 8}
workload: {traffic: {alltoall: {bytes: 8MB}}}
`
	for name, sets := range map[string][]string{
		"bit errors": {"fabric.fabric_link.bit_error_rate=0.0000001"},
		"lossy": {"switch.queues.3.lossless=false", "switch.queues.3.limit=60KB",
			"switch.queues.3.wred_max=0B", "switch.queues.3.wred_min=0B", "cc.algorithm=none"},
		"wred drop": {"switch.queues.3.lossless=false", "switch.queues.3.limit=600KB",
			"switch.queues.3.ecn=false", "switch.queues.3.wred_max=100KB", "switch.queues.3.wred_min=10KB",
			"cc.algorithm=none"},
	} {
		for _, rec := range []string{"go-back-n", "selective"} {
			t.Run(name+"/"+rec, func(t *testing.T) {
				_, s, _ := runAll(t, base, append(sets, "transport.recovery="+rec,
					"transport.nak_after=0")...)
				if s.Drops+portDrops(s) == 0 && name != "wred drop" || s.Retransmissions == 0 || !s.Complete {
					t.Errorf("drops %d, retransmissions %d, complete %v", s.Drops, s.Retransmissions,
						s.Complete)
				}
			})
		}
	}
	t.Run("link down", func(t *testing.T) {
		r, s, _ := runAll(t, base+"failures: [{link: 'rail-1:Eth5', at: 100us, converge: 50us}]\n")
		if s.DropsDown == 0 || s.Retransmissions == 0 || !s.Complete {
			t.Errorf("lost on the broken link %d, retransmissions %d, complete %v", s.DropsDown,
				s.Retransmissions, s.Complete)
		}
		l, _, _ := r.Graph.FindPort("rail-1:Eth5")
		if !r.Net.Ports[r.portA[l]].Down {
			t.Error("the link is up at the end")
		}
	})
}

func portDrops(s *result.Summary) int64 { return s.DropsCorrupt + s.DropsDown }

// A dual-port NIC survives the loss of one port (source figure 13-5). The flows move to the other port, and
// everything arrives at half the rate.
func TestMLAGPortDown(t *testing.T) {
	text := `
name: mlag
fabric: {kind: dual-rail, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2}
cc: {algorithm: none}
transport: {qps: 2, timeout: 6}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 20MB}]}}
`
	for _, bond := range []string{"affinity", "hash", "spray"} {
		_, whole, _ := runAll(t, text, "server.bond="+bond, "transport.recovery=selective")
		_, broken, _ := runAll(t, text+"failures: [{link: 'rail-1:Eth1', at: 0s}]\n", "server.bond="+bond,
			"transport.recovery=selective")
		if bond != "hash" && float64(whole.StepTime) > 1.1*20e6*8/400e9*1e12 {
			t.Errorf("%s: two ports took %v", bond, unit.Time(whole.StepTime))
		}
		if f := float64(broken.StepTime) / (20e6 * 8 / 200e9 * 1e12); f < 1 || f > 1.1 {
			t.Errorf("%s: one port took %v", bond, unit.Time(broken.StepTime))
		}
		_, late, _ := runAll(t, text+"failures: [{link: 'rail-1:Eth1', at: 100us, converge: 50us}]\n",
			"server.bond="+bond, "transport.recovery=selective")
		if !late.Complete {
			t.Errorf("%s: a port that fails on the way stops the transfer", bond)
		}
	}
}

// A PCIe link is slower than the NIC's port (source figure 11-6). The NIC's buffer fills, the NIC pauses its
// switch, nothing is lost, and PCIe determines the rate.
func TestSlowPCIePausesTheFabric(t *testing.T) {
	_, s, _ := runAll(t, `
name: pcie
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, pcie: 100Gbps}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 20MB}]}}
`)
	if f := float64(s.StepTime) / (20e6 * 8 / 100e9 * 1e12); f < 1 || f > 1.01 {
		t.Errorf("20 MB over PCIe at 100 Gbit/s took %v", unit.Time(s.StepTime))
	}
	// There the sender's own PCIe paced it; here two senders overload the receiver.
	r := load(t, `
name: pcie2
fabric: {kind: rail-only, hosts: 3, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, pcie: 150Gbps}
cc: {algorithm: none}
workload: {traffic: {incast: {bytes: 20MB, fan_in: 2}}}
`)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	invariants(t, r)
	s, tab, _ := r.Outcome("")
	byNIC := int64(0)
	for _, p := range tab.Ports {
		if p.Name == "host-1:nic1 → rail-1" {
			byNIC = p.PauseFramesSent
		}
	}
	if byNIC == 0 || s.Drops != 0 {
		t.Errorf("the NIC sent %d pauses, %d packets were lost", byNIC, s.Drops)
	}
	if f := float64(s.StepTime) / (40e6 * 8 / 150e9 * 1e12); f < 1 || f > 1.02 {
		t.Errorf("an incast of 40 MB over PCIe at 150 Gbit/s took %v", unit.Time(s.StepTime))
	}
}

// If every switch hashes alike, traffic polarises: all that a leaf sends on one uplink leaves the next tier on one
// uplink, too (docs/references.md, balls-in-bins).
func TestPolarisation(t *testing.T) {
	text := `
name: polar
fabric: {kind: fat-tree, k: 8, host_link: {rate: 100Gbps, delay: 1us}}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 200KB}}}
`
	cores := func(sets ...string) int {
		_, _, tab := runAll(t, text, sets...)
		used := map[string]bool{}
		for _, p := range tab.Ports {
			if p.Role == "aggregation" && strings.HasPrefix(p.Peer, "core") && p.WireBytes > 100_000 {
				used[p.Name] = true
			}
		}
		return len(used)
	}
	apart, same := cores(), cores("switch.hash_seed=same")
	// With one seed each aggregation switch uses one of its four uplinks.
	if same > 32 || apart < 60 {
		t.Errorf("%d core uplinks in use with seeds per switch, %d with one seed; want at most 32 of "+
			"128 with one", apart, same)
	}
}

// Cross-rail traffic on a fabric without spines first takes NVLink to the GPU on the receiver's rail (PXN, source
// figure 13-6).
func TestCrossRailOverNVLink(t *testing.T) {
	r, s, _ := runAll(t, `
name: pxn
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 200Gbps, cable: 3m}}
workload: {traffic: {flows: [{from: host-1/gpu-2, to: host-2/gpu-3, bytes: 10MB}]}}
`)
	if s.NVLinkBytes != 10e6 || s.NetworkBytes != 10e6 {
		t.Errorf("NVLink carried %d, the network %d bytes", s.NVLinkBytes, s.NetworkBytes)
	}
	for i := range r.Net.Ports {
		if n := r.PortName(int32(i)); r.Net.Ports[i].TxBytes > 1_000_000 && !strings.Contains(n, "rail-3") {
			t.Errorf("%s carried data", n)
		}
	}
}

// Bit errors occur at the given rate, and the seed determines where.
func TestBitErrorRate(t *testing.T) {
	text := strings.Replace(twoHosts, "4096B", "200MB", 1)
	seen := map[int64]bool{}
	for seed := range 3 {
		_, s, _ := runAll(t, text, "fabric.host_link.bit_error_rate=0.0000001",
			"transport.recovery=selective", "transport.nak_after=0", "transport.timeout=4",
			fmt.Sprintf("seed=%d", seed))
		// 200 MB in frames of 4158 bytes over two links, and retransmissions.
		want := 2 * 200e6 / 4096 * 4158 * 8 * 1e-7
		if got := float64(s.DropsCorrupt); got < want*0.7 || got > want*1.3 {
			t.Errorf("seed %d: %v frames lost, expected about %.0f", seed, got, want)
		}
		seen[s.StepTime] = true
	}
	if len(seen) != 3 {
		t.Errorf("three seeds gave %d different runs", len(seen))
	}
}

// Ctrl-C: an interrupted run reports that and keeps its results.
func TestInterrupted(t *testing.T) {
	r := load(t, `
name: long
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
workload: {traffic: {permutation: {bytes: 4MB}}}
`)
	if err := r.Go(func(exec.Progress) bool { return false }); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	if s.Complete || !r.Interrupted() || s.PacketHops == 0 || len(tab.Flows) != 128 ||
		tab.Flows[0].Done != -1 {
		t.Errorf("complete %v, interrupted %v, %d hops, %d flows", s.Complete, r.Interrupted(),
			s.PacketHops, len(tab.Flows))
	}
}

// Pipeline bubbles of 1F1B match (p-1)/m of the ideal (docs/references.md, bubble).
func TestPipelineBubble(t *testing.T) {
	for _, c := range []struct{ p, m int }{{4, 8}, {8, 8}, {4, 32}} {
		text := fmt.Sprintf(`
name: pipe
fabric: {kind: rail, hosts: %d, spines: 1, uplinks: 1, host_link: {rate: 100000Gbps, cable: 1cm}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
workload: {training: {model: gpt3-175b, pp: %d, micro_batch: 1, global_batch: %d, sequence: 2048}}
`, c.p, c.p, c.m)
		_, s, _ := runAll(t, text)
		ideal := s.StepTime - s.Bubble - s.ExposedPP
		got := float64(s.Bubble+s.ExposedPP) / float64(ideal)
		want := float64(c.p-1) / float64(c.m)
		// The last stage also has the output projection, 3 % of its work.
		if got < want*0.9 || got > want*1.1+0.03 {
			t.Errorf("p=%d m=%d: bubble %.3f of the ideal time, formula %.3f", c.p, c.m, got, want)
		}
	}
}

func TestNoAllocationPerPacket(t *testing.T) {
	n, run := permutation(t, permutationSetup(t, 4), 2*unit.MB)
	run() // grow the slabs
	c := n.Conn(0, 0, 9, 0)
	var before, after runtime.MemStats
	n.Hosts.Send(c, 8*unit.MB, 0)
	hops := n.Net.PacketHops
	runtime.ReadMemStats(&before)
	stop := false
	n.RunUntil(&stop, 1<<62, nil)
	runtime.ReadMemStats(&after)
	// Timers and the delivery may allocate a handful of times, packets never.
	if got := after.Mallocs - before.Mallocs; n.Net.PacketHops-hops < 5000 || got > 20 {
		t.Errorf("%d allocations for %d packet-hops", got, n.Net.PacketHops-hops)
	}
}
