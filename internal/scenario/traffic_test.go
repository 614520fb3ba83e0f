package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/internal/scenario"
)

// An invalid size is not looked up as a file; the error of a missing size names what is expected.
func TestBackgroundSizes(t *testing.T) {
	for size, want := range map[string]string{
		"64KB": "",
		"0KB":  `traffic.background.sizes: messages have a byte or more, found "0KB"`,
		"none": "traffic.background.sizes: ",
		"":     "traffic.background.sizes: is missing: one size, as 64KB",
	} {
		_, err := planOf(t, shared+"workload: {traffic: {background: {load: 10, for: 20us, sizes: '"+size+
			"'}}}\n")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", size, err, want)
		}
	}
}

// Messages to the next group go to its GPUs and no others, from the last group to the first.
func TestNextGroup(t *testing.T) {
	p, err := planOf(t, "name: x\nfabric: {kind: dragonfly, k: 2}\nserver: {gpus: 1, nics: 1}\nlb: minimal\n"+
		"workload: {traffic: {background: {load: 20, sizes: 4096B, to: next-group, for: 50us}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	const perGroup, groups = 8, 9
	last, seen := 0, map[[2]int32]bool{}
	for i := range p.Jobs[0].DAG.Ops {
		o := &p.Jobs[0].DAG.Ops[i]
		if o.Peer < 0 {
			continue
		}
		if (o.Rank/perGroup+1)%groups != o.Peer/perGroup {
			t.Fatalf("from %d to %d", o.Rank, o.Peer)
		}
		if o.Rank/perGroup == groups-1 {
			last++
		}
		seen[[2]int32{o.Rank, o.Peer}] = true
	}
	if last == 0 || len(seen) < 100 {
		t.Errorf("%d from the last group, %d pairs", last, len(seen))
	}
}

// TestRingsOfGradients checks how many rings reduce gradients by default: one for each GPU of a data parallel group
// in a server, so that it sends through all of its NICs.
func TestRingsOfGradients(t *testing.T) {
	for of, want := range map[string]int{
		"dp: 16":              8,
		"tp: 4, dp: 4":        2,
		"tp: 4, dp: 2, pp: 2": 1,
		"dp: 16, zero: 3":     8,
		"dp: 16, channels: 1": 1,
		"dp: 8, cp: 2":        8,
		"dp: 8":               1, // within a server
		"dp: 4, pp: 4":        1,
		"tp: 2, dp: 4, pp: 2": 1,
		"tp: 2, dp: 8":        4,
		"pp: 4, tp: 2, dp: 2, order: tp-cp-pp-dp": 1,
	} {
		doc, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, segments: 1, hosts: 2, spines: 2}\n"+
			"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {training: {model: gpt3-125m, global_batch: 16, "+of+"}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := doc.Checked(nil)
		if err != nil {
			t.Fatal(of, err)
		}
		if got := p.Jobs[0].Training.Rings(); got != want {
			t.Errorf("%s: %d rings, want %d", of, got, want)
		}
	}
}

// TestTooBig checks that the error of a step with too many operations names overrides with fewer, and none that
// exceeds the GPUs' memory.
func TestTooBig(t *testing.T) {
	parse := func(name string, sets ...string) *scenario.Document {
		doc, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, hosts: 32, spines: 8}\n"+
			"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {training: {model: "+name+", tp: 8, pp: 4, dp: 8, "+
			"global_batch: 2048, sequence: 8192}}\n"), sets)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	for name, want := range map[string][]string{
		"llama-3.1-70b": {"workload.training.global_batch=256"},
		"llama-3.1-8b":  {"workload.training.global_batch=512", "workload.training.micro_batch=4"},
	} {
		_, err := parse(name).Resolve(nil)
		if all := strings.Join(want, " or --set "); err == nil || !strings.HasSuffix(err.Error(), "; accepted: --set "+all) {
			t.Errorf("%s: %v", name, err)
		}
		for _, set := range want {
			step := parse(name, set).File.Workload.Training
			if step.Model, err = model.Builtin(name); err != nil || step.Divide() != nil || step.TooBig() != nil {
				t.Errorf("%s, %s: %v", name, set, step.TooBig())
			}
		}
	}
}

// TestTooManyRings checks that the error of a step whose rings have too many operations names one ring.
func TestTooManyRings(t *testing.T) {
	doc, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, segments: 1, hosts: 32, spines: 8}\n"+
		"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {training: {model: llama-2-7b, dp: 256, zero: 1}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = doc.Resolve(nil); err == nil || !strings.HasSuffix(err.Error(), "; accepted: --set workload.training.channels=1") {
		t.Error(err)
	}
}

// TestTooManyReplicas checks a step that has too many operations for any batch, microbatch and ring. Its error
// names fewer replicas, with which the step fits.
func TestTooManyReplicas(t *testing.T) {
	parse := func(sets ...string) (*scenario.Plan, error) {
		doc, err := scenario.Parse("x.yaml", []byte("fabric: {kind: rail, segments: 1, hosts: 32, spines: 8}\n"+
			"server: {gpu: h100, gpus: 8, nics: 8}\nworkload: {training: {model: llama-3.1-70b, dp: 64, cp: 4, zero: 3, "+
			"sequence: 8192, global_batch: 1024, channels: 8}}\n"), sets)
		if err != nil {
			t.Fatal(err)
		}
		return doc.Checked(nil)
	}
	p, err := parse()
	const want = "; accepted: --set workload.training.dp=4 --set workload.training.global_batch=64"
	if err != nil || !strings.HasSuffix(p.Unfit, want) {
		t.Fatalf("%v, %s, want %s", err, p.Unfit, want)
	}
	if p, err = parse("workload.training.dp=4", "workload.training.global_batch=64"); err != nil || p.Unfit != "" {
		t.Errorf("%v, %s", err, p.Unfit)
	}
}
