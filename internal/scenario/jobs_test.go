package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/workload"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Eight servers of four GPUs in two racks of four: seg-1-rail-* has the first sixteen GPUs.
const shared = `fabric: {kind: rail, hosts: 4, segments: 2, spines: 2}
server: {gpus: 4, nics: 4}
`

// planOf resolves a scenario.
func planOf(t testing.TB, text string, sets ...string) (*scenario.Plan, error) {
	t.Helper()
	d, err := scenario.Parse("x.yaml", []byte(text), sets)
	if err != nil {
		return nil, err
	}
	return d.Resolve(texts(map[string]string{"tiny.json": tiny}))
}

// on lists the servers and GPUs of a job: "1:all 2:1,2".
func on(p *scenario.Plan, job *workload.Job) string {
	var parts []string
	for at := 0; at < len(job.Place); {
		host := p.Graph.HostOf(job.Place[at])
		var local []string
		for ; at < len(job.Place) && p.Graph.HostOf(job.Place[at]) == host; at++ {
			local = append(local, fmt.Sprint(p.Graph.LocalOf(job.Place[at])+1))
		}
		word := strings.Join(local, ",")
		if word == "1,2,3,4" {
			word = "all"
		}
		parts = append(parts, fmt.Sprintf("%d:%s", host+1, word))
	}
	return strings.Join(parts, " ")
}

// The GPUs that jobs get, for each placement; earlier jobs are first.
func TestPlacements(t *testing.T) {
	for _, c := range []struct{ jobs, want string }{
		{"a: {gpus: 8, traffic: X}, b: {gpus: 6, traffic: X}", "a 1:all 2:all, b 3:all 4:1,2"},
		{"a: {gpus: 6, traffic: X}, b: {gpus: 8, traffic: X}", "a 1:all 2:1,2, b 2:3,4 3:all 4:1,2"},
		{"a: {gpus: 10, placement: rail, traffic: X}",
			"a 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 1:2 2:2"},
		{"a: {gpus: 12, placement: spread, traffic: X}", "a 1:all 2:all 5:all"},
		{"a: {gpus: 12, on: ['host-[1-3]'], traffic: X}, b: {gpus: 8, placement: rack, traffic: X}",
			"a 1:all 2:all 3:all, b 4:all 5:all"},
		// Slurm fills the rack that fits best: b the one that a has begun, c the other
		{"a: {gpus: 8, on: ['host-[5-6]'], traffic: X}, b: {gpus: 8, placement: slurm, traffic: X}, " +
			"c: {gpus: 12, placement: slurm, traffic: X}",
			"a 5:all 6:all, b 7:all 8:all, c 1:all 2:all 3:all"},
		// if none fits, the one with most free GPUs, then the one that best fits the remainder
		{"a: {gpus: 4, on: [host-1], traffic: X}, b: {gpus: 20, placement: slurm, traffic: X}",
			"a 1:all, b 2:all 5:all 6:all 7:all 8:all"},
		{"b: {on: ['host-2/gpu-[2-4]', host-1/gpu-1], traffic: X}", "b 2:2,3,4 1:1"},
		// tensor parallel groups are on one server, whatever others left of it
		{"a: {gpus: 3, traffic: X}, b: {training: {model: llama-2-7b, tp: 2, dp: 3, global_batch: 3}}",
			"a 1:1,2,3, b 2:all 3:1,2"},
		// operations name their GPUs, and precede jobs that do not
		{"a: {gpus: 2, traffic: X}, b: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, " +
			"bytes: 1MB}]}}", "a 1:2,3, b "},
	} {
		jobs := strings.ReplaceAll(c.jobs, "X", "{alltoall: {bytes: 1MB}}")
		p, err := planOf(t, shared+"jobs: {"+jobs+"}\n")
		if err != nil {
			t.Errorf("%s: %v", c.jobs, err)
			continue
		}
		var got []string
		for i := range p.Jobs {
			got = append(got, p.Jobs[i].Name+" "+on(p, &p.Jobs[i]))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.jobs, s, c.want)
		}
	}
}

// For any placement each job gets its number of GPUs, shared with no other job, and groups share a server. If a job
// is rejected, the free GPUs would not have sufficed.
func TestPlacementsKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var jobs []string
		var sizes, together []int
		for i := range rapid.IntRange(1, 5).Draw(rt, "jobs") {
			tp := rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "tp")
			n := tp * rapid.IntRange(1, 10/tp).Draw(rt, "groups")
			if n == 1 {
				n, tp = 2, 1
			}
			ways := []string{"packed", "rack", "spread", "random", "slurm"}
			if tp == 1 {
				ways = append(ways, "rail")
			}
			jobs = append(jobs, fmt.Sprintf("  j%d: {placement: %s, training: {model: tiny.json, tp: %d, "+
				"dp: %d, sequence: 64, global_batch: %d}}\n", i, rapid.SampledFrom(ways).Draw(rt,
				"way"), tp, n/tp, n/tp))
			sizes, together = append(sizes, n), append(together, tp)
		}
		seed := fmt.Sprintf("seed: %d\n", rapid.IntRange(1, 99).Draw(rt, "seed"))
		p, err := planOf(t, seed+shared+"jobs:\n"+strings.Join(jobs, ""))
		if err != nil {
			if !strings.Contains(err.Error(), "are free of 32") || fits(sizes, together) {
				rt.Fatal(err)
			}
			return
		}
		owner := map[int]int{}
		for i := range p.Jobs {
			place := p.Jobs[i].Place
			if len(place) != sizes[i] {
				rt.Fatalf("job %d has %d GPUs of %d", i, len(place), sizes[i])
			}
			for rank, gpu := range place {
				if was, ok := owner[gpu]; ok {
					rt.Fatalf("jobs %d and %d are on GPU %d", was, i, gpu)
				}
				owner[gpu] = i
				first := place[rank/together[i]*together[i]]
				if p.Graph.HostOf(first) != p.Graph.HostOf(gpu) {
					rt.Fatalf("a group of %d is on two servers: %v", together[i], place)
				}
			}
		}
		if _, err := p.Mix(); err != nil {
			rt.Fatal(err)
		}
	})
}

// fits reports whether jobs fit in some order and placement, each on its own servers.
func fits(sizes, together []int) bool {
	servers := 0
	for i, n := range sizes {
		per := 4 / together[i] * together[i]
		servers += (n + per - 1) / per
	}
	return servers <= 8 && len(sizes) == 1
}

// tiny is a model whose step has few operations.
const tiny = `{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
	"num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 1024}`

// One job on all GPUs equals the same workload without jobs.
func TestOneJobIsAWorkload(t *testing.T) {
	for _, w := range []string{"traffic: {alltoall: {bytes: 1MB}}", "traffic: {permutation: {bytes: 1MB}}",
		"traffic: {collective: {kind: all-reduce, bytes: 64MB, algorithm: auto, protocol: auto}}",
		"traffic: {ring-allreduce: {bytes: 1MB, groups: rail}}",
		"traffic: {incast: {bytes: 1MB, fan_in: 7, target: host-3/gpu-2}}",
		"training: {model: llama-2-7b, tp: 4, pp: 2, dp: 4, global_batch: 16}"} {
		one, err1 := planOf(t, shared+"workload: {"+w+"}\n")
		job, err2 := planOf(t, shared+"jobs: [{gpus: 32, "+w+"}]\n")
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		a, b := one.Jobs[0].DAG, job.Jobs[0].DAG
		if !slices.Equal(a.Ops, b.Ops) || !slices.Equal(a.Succ, b.Succ) || !slices.Equal(a.First, b.First) {
			t.Errorf("%s: %d operations and %d", w, len(a.Ops), len(b.Ops))
		}
	}
}

// A separate class and congestion control form a service, which jobs with equal settings share.
func TestServicesOfJobs(t *testing.T) {
	p, err := planOf(t, "switch: {dscp: {'24': 3, '26': 3, '48': 7}}\n"+shared+`jobs:
  a: {gpus: 2, traffic: {alltoall: {bytes: 1MB}}}
  b: {gpus: 2, dscp: 26, cc: swift, traffic: {alltoall: {bytes: 1MB}}}
  c: {gpus: 2, cc: swift, dscp: 26, start: 3us, traffic: {alltoall: {bytes: 1MB}}}
  d: {gpus: 2, dscp: 26, traffic: {alltoall: {bytes: 1MB}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range p.Jobs {
		s := &p.Services[p.Jobs[i].Service]
		got = append(got, fmt.Sprintf("%s %s %d %s", p.Jobs[i].Name, s.Name, s.DSCP, s.CC.Name))
	}
	want := "a default 24 dcqcn, b swift@26 26 swift, c swift@26 26 swift, d jobs@26 26 dcqcn"
	if s := strings.Join(got, ", "); s != want || p.Jobs[2].Start != 3*unit.Microsecond ||
		p.Services[1].Values["max_scaling"] == nil && len(p.Services[1].Values) == 0 ||
		len(p.Services[2].Values) != len(p.Default().Values) {
		t.Errorf("%s\n%+v", s, p.Services)
	}
}

// A scenario's placement holds for jobs that name none.
func TestPlacementOfAll(t *testing.T) {
	text := shared + "jobs: {a: {gpus: 8, traffic: {alltoall: {bytes: 1MB}}}}\n"
	for way, want := range map[string]string{"packed": "1:all 2:all", "spread": "1:all 5:all"} {
		p, err := planOf(t, text, "placement="+way)
		if err != nil || on(p, &p.Jobs[0]) != want {
			t.Errorf("%s: %v, want %s", way, err, want)
		}
	}
}

// Bad jobs are refused at the key that is wrong.
func TestBadJobs(t *testing.T) {
	for name, c := range map[string]struct{ jobs, want string }{
		"one too many": {"a: {gpus: 20, traffic: X}, b: {gpus: 16, traffic: X}",
			"x.yaml:3:58: jobs.b: needs 16 GPUs; 12 are free of 32"},
		"no room for groups": {"a: {gpus: 16, placement: rail, traffic: X}, b: {training: {model: " +
			"tiny.json, " +
			"tp: 4, dp: 2, sequence: 64, global_batch: 2}}",
			"jobs.b: needs 8 GPUs in groups of 4 that share NVLink; 16 are free of 32, 0 of " +
				"them in such groups"},
		"how many": {"a: {traffic: X}", "jobs.a.gpus: is missing: how many GPUs the job gets (32 of 32 " +
			"are free)"},
		"no work": {"a: {gpus: 3}", "jobs.a: holds 0 workloads, expected exactly one of training, " +
			"traffic, ops"},
		"two on one": {"a: {on: [host-1], traffic: X}, b: {on: ['host-1/gpu-[4-4]', host-2], traffic: X}",
			`jobs.b: job "b" is on host-1/gpu-4, which job "a" has`},
		"twice": {"a: {on: [host-1, host-1/gpu-2], traffic: X}", "jobs.a.on[1]: host-1/gpu-2 is repeated"},
		"nowhere": {"a: {on: [host-9], traffic: X}",
			`jobs.a.on[0]: unknown GPU "host-9"; names are host-1/gpu-1 to host-8/gpu-4`},
		"no range": {"a: {on: ['host-[4-1]'], traffic: X}", `"host-[4-1]" is not a range such as host-[1-4]`},
		"endless": {"a: {on: ['host-[1-99999]/gpu-[1-99999]'], traffic: X}", "expands to more than " +
			"131072 names"},
		"which": {"a: {placement: near, gpus: 2, traffic: X}",
			`jobs.a.placement: unknown value "near"; accepted: packed, rack`},
		"both": {"a: {placement: rail, on: [host-1], traffic: X}",
			"jobs.a.placement: on already sets the job's GPUs"},
		"rails of groups": {"a: {placement: rail, training: {model: llama-2-7b, tp: 4, dp: 2}}",
			"jobs.a.placement: rail takes one GPU of a server after the other, and groups of 4 have to " +
				"share one"},
		"its layout": {"a: {gpus: 16, training: {model: llama-2-7b, tp: 4, dp: 2}}",
			"jobs.a.gpus: 16, and its training layout is for 8"},
		"a bad layout": {"a: {training: {model: llama-2-7b, tp: 3, dp: 2}}",
			"jobs.a.training.tp: 3 does not divide the 32 attention heads"},
		"said otherwise": {"a: {gpus: 2, traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, " +
			"bytes: 1MB}]}}",
			"jobs.a: its operations name their GPUs"},
		"folded": {"a: {training: {model: llama-2-7b, tp: 4, dp: 2, fold: true}}",
			"jobs.a.training.fold: needs the whole fabric, and jobs share this one"},
		"a target elsewhere": {"a: {gpus: 4, traffic: {incast: {bytes: 1MB, fan_in: 2, target: " +
			"host-2/gpu-1}}}",
			"jobs.a.traffic.incast.target: host-2/gpu-1 is not one of the job's GPUs"},
		"before time":  {"a: {gpus: 4, start: -1us, traffic: X}", "start"},
		"no such DSCP": {"a: {gpus: 4, dscp: 64, traffic: X}", "jobs.a.dscp: 64 is out of range 0–63"},
		"no control":   {"a: {gpus: 4, cc: cubic, traffic: X}", `jobs.a.cc: unknown value "cubic"`},
		"bits":         {"a: {gpus: 4, colour: red, traffic: X}", "jobs.a.colour: unknown key"},
	} {
		_, err := planOf(t, shared+"jobs: {"+strings.ReplaceAll(c.jobs, "X", "{alltoall: {bytes: "+
			"1MB}}")+"}\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"jobs: [{gpus: 2, traffic: {alltoall: {bytes: 1MB}}}]\nworkload: {traffic: {alltoall: {bytes: " +
			"1MB}}}\n": "x.yaml:3:1: " +
			"jobs: exclude workload; set one of the two",
		"jobs: [{name: a, gpus: 2, traffic: {alltoall: {bytes: 1MB}}}, {name: a, gpus: 2, traffic: " +
			"{alltoall: {bytes: 1MB}}}]\n": `jobs[0].name: two jobs are called "a"`,
		"transport: {kind: srd}\njobs: [{cc: swift, gpus: 2, traffic: {alltoall: {bytes: " +
			"1MB}}}]\n": "jobs[0].cc: " +
			"connections are SRD's, which all jobs share with its congestion control",
	} {
		if _, err := planOf(t, shared+text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Gradients have the bytes of the framework, unless the scenario sets them.
func TestGradientBytes(t *testing.T) {
	const text = shared + "workload: {training: {model: gpt3-125m, tp: 4, dp: 8, global_batch: 32}}\n"
	const by, key = "workload.training.software=megatron-lm", "workload.training.grad_bytes=2"
	for _, c := range []struct {
		sets []string
		want int64
	}{{nil, 2}, {[]string{by}, 4}, {[]string{by, key}, 2}, {[]string{"workload.training.software=nemo"}, 2}} {
		p, err := planOf(t, text, c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		step := p.Jobs[0].Training
		if worst, err := step.Worst(step.Model); err != nil || step.GradBytes != c.want ||
			worst.Gradients != worst.Weights/2*unit.Bytes(c.want) {
			t.Errorf("%v: %d bytes, %d in memory of %d weights, %v; want %d", c.sets, step.GradBytes, worst.Gradients,
				worst.Weights, err, c.want)
		}
	}
}
