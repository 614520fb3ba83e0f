package reuse_test

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/long"
	"railyard/internal/result"
	"railyard/internal/reuse"
	"railyard/internal/rng"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/internal/validate/draw"
	"railyard/scenarios"
)

// outcome is what a run leaves.
type outcome struct {
	*result.Summary
	*result.Tables
}

func reused(t testing.TB, p *scenario.Plan, audit float64) outcome {
	t.Helper()
	return run(t, p, audit, func(*reuse.Run) {})
}

func run(t testing.TB, p *scenario.Plan, audit float64, set func(*reuse.Run)) outcome {
	t.Helper()
	c := sim.Estimate(p)
	r, err := reuse.Build(p, c.Routes())
	if err != nil {
		t.Fatal(err)
	}
	set(r)
	r.Audit(audit)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	return outcome{s, tab}
}

func packets(t testing.TB, p *scenario.Plan) outcome {
	t.Helper()
	r, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	return outcome{s, tab}
}

const rail = `
name: rail
seed: 3
fabric: {kind: rail, hosts: 8, spines: 2, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 4, nics: 4}
`

// Rounds of transfers between the same GPUs, with computing between them: what trainings consist of.
const rounds = rail + `workload: {training: {model: small.json, sequence: 512, efficiency: 50, tp: 4, dp: 8, zero: 1,
  global_batch: 32, micro_batch: 1, bucket: 2MB}}
`

func small(text string, t testing.TB) *scenario.Plan {
	d, err := scenario.Parse("test", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(func(string) ([]byte, error) {
		return []byte(`{"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8,
"num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 2816, "vocab_size": 32000}`), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func flow(from, to int, start string) string {
	return fmt.Sprintf("      - {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 2MB, start: %s}\n", from, to, start)
}

// into is an incast of three.
func into(to int, start string) (text string) {
	for i := range 3 {
		text += flow(to+1+i, to, start)
	}
	return text
}

// TestOwnMarks checks that incasts at one switch, equal but for their names, are not marked at the same packets.
func TestOwnMarks(t *testing.T) {
	t.Parallel()
	p := small(rail+"workload:\n  traffic:\n    flows:\n"+into(1, "0ms")+into(5, "0ms"), t)
	flows := reused(t, p, 0).Tables.Flows
	if flows[0].Done == flows[3].Done && flows[1].Done == flows[4].Done {
		t.Errorf("both incasts end after %d and %d", flows[0].Done, flows[1].Done)
	}
}

// TestSameAsPackets compares every message with packets, over kinds of traffic, controls and ways to choose paths.
func TestSameAsPackets(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"incast":      rail + "workload: {traffic: {incast: {bytes: 1MB, fan_in: 7}}}\n",
		"permutation": rail + "workload: {traffic: {permutation: {bytes: 1MB}}}\n",
		"ring":        rail + "workload: {traffic: {collective: {kind: all-reduce, bytes: 8MiB, algorithm: ring}}}\n",
		"all-to-all":  rail + "workload: {traffic: {alltoall: {bytes: 8MiB}}}\n",
		"sprayed": rail + "lb: spray\ntransport: {recovery: selective}\n" +
			"workload: {traffic: {alltoall: {bytes: 8MiB}}}\n",
		"paused": rail + "cc: {algorithm: none}\nswitch: {queues: {3: {xoff: 40KB, xon: 20KB}}}\n" +
			"workload: {traffic: {incast: {bytes: 1MB, fan_in: 7}}}\n",
		"training": rounds,
		// DCQCN's alpha is lower the second time.
		"incast twice": rail + "workload:\n  traffic:\n    flows:\n" + into(1, "0ms") + into(1, "200ms"),
		"by chance":    rail + "workload: {traffic: {background: {load: 5, sizes: 64KB, for: 1ms}}}\n",
		// One of two flows ends where PCIe is slow.
		"slow PCIe": rail + "deviations: [{node: host-4, pcie: 5GB/s}]\nworkload:\n  traffic:\n    flows:\n" +
			flow(1, 2, "0ms") + flow(3, 4, "0ms"),
	} {
		t.Run(name, func(t *testing.T) {
			p := small(text, t)
			want, got := packets(t, p), reused(t, p, 0)
			compare(t, want, got, 1e-3)
			if name != "training" && got.Reused.PacketHops > want.PacketHops+want.PacketHops/10 {
				t.Errorf("%d packet-hops of %d were simulated", got.Reused.PacketHops, want.PacketHops)
			}
		})
	}
}

// compare wants each message to take as long, within a share of its time, and as many bytes to cross the ports.
func compare(t *testing.T, want, got outcome, most float64) {
	t.Helper()
	if !got.Complete || len(got.Tables.Flows) != len(want.Tables.Flows) {
		t.Fatalf("%d messages, %d by packets", len(got.Tables.Flows), len(want.Tables.Flows))
	}
	sorted := func(rows []result.FlowRow) []result.FlowRow { // at one moment they are posted in any order
		slices.SortFunc(rows, func(a, b result.FlowRow) int {
			return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.QP, b.QP),
				cmp.Compare(a.Posted, b.Posted), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Done, b.Done))
		})
		return rows
	}
	worst, sum := 0.0, 0.0
	have := sorted(got.Tables.Flows)
	for i, a := range sorted(want.Tables.Flows) {
		b := &have[i]
		if a.From != b.From || a.To != b.To || a.Bytes != b.Bytes {
			t.Fatalf("message %d: %+v, by packets %+v", i, b, a)
		}
		off := float64((b.Done-b.Posted)-(a.Done-a.Posted)) / float64(a.Done-a.Posted)
		worst, sum = max(worst, math.Abs(off)), sum+math.Abs(off)
	}
	if mean := sum / float64(len(have)); worst > 10*most || mean > most/2 {
		t.Errorf("a message is off by %.3g, all by %.3g on average", worst, mean)
	}
	if off := float64(got.StepTime-want.StepTime) / float64(want.StepTime); math.Abs(off) > most {
		t.Errorf("the step is off by %.3g", off)
	}
	if got.ECNMarks != want.ECNMarks || got.PFCPauses != want.PFCPauses || got.Drops != want.Drops {
		t.Errorf("%d marks, %d pauses, %d drops; by packets %d, %d, %d", got.ECNMarks, got.PFCPauses, got.Drops,
			want.ECNMarks, want.PFCPauses, want.Drops)
	}
	for i := range want.Tables.Ports {
		a, b := want.Tables.Ports[i].WireBytes, got.Tables.Ports[i].WireBytes
		if off := b - a; max(off, -off) > 4096+a/1000 {
			t.Errorf("port %d: %d bytes, by packets %d", i, b, a)
		}
	}
}

// TestWhatRepeats wants a training's step to be simulated once for all its rails and rounds.
func TestWhatRepeats(t *testing.T) {
	t.Parallel()
	p := small(rounds, t)
	got := reused(t, p, 1)
	if r := got.Reused; r.Kinds >= r.Episodes || r.PacketHops > got.PacketHops/2 || r.Audit.Episodes == 0 ||
		r.Audit.Worst > 1e-2 || r.Audit.Mean > 5e-4 {
		t.Errorf("%+v of %d packet-hops, %+v", got.Reused, got.PacketHops, got.Reused.Audit)
	}
	again := reused(t, p, 1)
	if got.Summary.WallSeconds, again.Summary.WallSeconds = 0, 0; !reflect.DeepEqual(got, again) {
		t.Error("the second run is another one")
	}
}

// TestRandomScenarios compares scenarios that nobody chose with packets: 99 of 100 steps within 0.5 %, all within 5 %.
// Marks are drawn at random, in a lab at other moments than in the whole network.
func TestRandomScenarios(t *testing.T) {
	t.Parallel()
	compared, far, most := 0, 0, 60
	if long.On() {
		most = 1000
	}
	for n := range most {
		c, err := draw.New(1, n)
		if err != nil {
			continue
		}
		p, err := c.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if reuse.Refuse(p) != nil {
			continue
		}
		want, got := packets(t, p), reused(t, p, 0)
		compared++
		off := float64(got.StepTime-want.StepTime) / float64(want.StepTime)
		if math.Abs(off) > 5e-3 {
			far++
			t.Logf("number %d (%s): the step is off by %.3g, %d packet-hops of %d", n, draw.Meant(n).Get().Name, off,
				got.Reused.PacketHops, want.PacketHops)
		}
		if math.Abs(off) > 5e-2 {
			t.Errorf("number %d: the step is off by %.3g", n, off)
		}
	}
	if 100*far > compared {
		t.Errorf("%d of %d steps are off by more than 0.5 %%", far, compared)
	}
	if compared < most/6 {
		t.Errorf("%d of %d scenarios were compared", compared, most)
	}
}

// drawn is traffic of random sizes, peers and times over a small fabric.
func drawn(n int) (text string, marks bool) {
	r := rng.New(uint64(n), "steady")
	pick := func(of ...string) string { return of[r.Intn(len(of))] }
	text = fmt.Sprintf("name: drawn\nseed: %d\nfabric: {kind: %s, host_link: {rate: %s, cable: 3m}, "+
		"fabric_link: {rate: %s, cable: %s}}\nserver: {gpus: 2, nics: 2}\n", n,
		pick("rail, hosts: 6, spines: 2", "single-rail, hosts: 6"), pick("100Gbps", "400Gbps"),
		pick("100Gbps", "400Gbps", "800Gbps"), pick("3m", "30m", "500m"))
	text += fmt.Sprintf("transport: {mtu: %s, ack_every: %s, qps: %s, recovery: %s}\n", pick("1024", "4096"),
		pick("1", "16", "48", "64"), pick("1", "2"), pick("go-back-n", "selective"))
	if r.Intn(4) == 0 {
		text = strings.Replace(text, "transport: {", "transport: {write: only, ", 1)
	}
	if marks = r.Intn(3) == 0; !marks {
		text += "cc: {algorithm: none}\nswitch: {buffer: 1GiB, queues: {3: {xoff: 60MB, xon: 30MB}}}\n"
	}
	if r.Intn(4) == 0 {
		text += "deviations: [{node: host-1, pcie: 9GB/s}]\n"
	}
	text += "workload:\n  traffic:\n    flows:\n"
	for range 2 + r.Intn(10) {
		from := r.Intn(6)
		text += fmt.Sprintf("      - {from: host-%d/gpu-%d, to: host-%d/gpu-%d, bytes: %dKB, start: %dus}\n", from+1,
			r.Intn(2)+1, (from+1+r.Intn(5))%6+1, r.Intn(2)+1, 1+r.Intn(6000), r.Intn(3)*r.Intn(400))
	}
	return text, marks
}

// TestSteady wants runs whose messages' middles are left out to be the same to the last packet and picosecond as runs
// with all of them, and as long as those by packets.
func TestSteady(t *testing.T) {
	t.Parallel()
	most, left, hops := 60, int64(0), int64(0)
	if long.On() {
		most = 2000
	}
	for n := range most {
		text, marks := drawn(n)
		p := small(text, t)
		whole, got := run(t, p, 0, (*reuse.Run).Whole), reused(t, p, 0)
		left, hops = left+whole.Reused.PacketHops-got.Reused.PacketHops, hops+whole.Reused.PacketHops
		if !reflect.DeepEqual(whole.Tables.Flows, got.Tables.Flows) || whole.PacketHops != got.PacketHops ||
			whole.Packets != got.Packets || whole.ECNMarks != got.ECNMarks {
			t.Errorf("case %d: %d packets, whole %d", n, got.Packets, whole.Packets)
		}
		for i := range whole.Tables.Ports {
			if a, b := &whole.Tables.Ports[i], &got.Tables.Ports[i]; !reflect.DeepEqual(a, b) {
				t.Errorf("case %d: port %d: %+v, whole %+v", n, i, b, a)
			}
		}
		if want := packets(t, p); !marks && want.StepTime != got.StepTime {
			t.Logf("case %d: %v, by packets %v", n, got.StepTime, want.StepTime)
		}
	}
	t.Logf("%d of %d packet-hops left out", left, hops)
	if 5*left < hops {
		t.Errorf("%d of %d packet-hops left out", left, hops)
	}
}

// TestRefuse names what cannot be reused.
func TestRefuse(t *testing.T) {
	t.Parallel()
	const flow = "workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for text, want := range map[string]string{
		"transport: mrc\n" + flow:                                "MRC",
		"cc: {algorithm: swift}\n" + flow:                        "Swift",
		"failures: [{link: \"rail-1:Eth1\", at: 50us}]\n" + flow: "failures",
		"output: {steps: 10}\n" + flow:                           "output.steps",
	} {
		d, err := scenario.Parse("test", []byte(rail+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(scenarios.File)
		if err != nil {
			t.Fatal(err)
		}
		if err := reuse.Refuse(p); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "accepted: packet") {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// TestInterrupted wants what was simulated to be counted when a run ends early.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	p := small(rail+"workload: {traffic: {alltoall: {bytes: 8MiB}}}\n", t)
	c := sim.Estimate(p)
	r, err := reuse.Build(p, c.Routes())
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	if err := r.Go(func(exec.Progress) bool { calls++; return false }); err != nil || !r.Interrupted() || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
	if s, _, _ := r.Outcome("test"); s.Complete || s.PacketHops == 0 || s.Reused.PacketHops < s.PacketHops {
		t.Errorf("%d packet-hops, %+v", s.PacketHops, s.Reused)
	}
}
