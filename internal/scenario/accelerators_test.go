package scenario

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// zoo is two H100 servers, one of four A100 and one of a custom chip, at one switch.
const zoo = `
fabric:
  types:
    new: {gpu: h100, gpus: 8, nics: 8, nic_rate: 400Gbps}
    old: {gpu: a100, gpus: 4, nics: 4, nic_rate: 200Gbps}
    own: {gpu: mine, gpus: 4, nics: 2, nic_rate: 400Gbps}
    sw: {}
  nodes:
    old: {type: old}
    new: {type: new, count: 2}
    own: {type: own}
    sw: {type: sw}
  cables:
    - {from: old, to: sw}
    - {from: new, to: sw}
    - {from: own, to: sw}
gpus:
  mine: {bf16_tflops: 500, memory: 64GB, hbm: 2TB/s, nvlink: 300GB/s, nvlink_pair: 100GB/s}
workload: {training: {model: llama-2-7b, sequence: 2048, tp: 4, dp: 4}}
`

// Servers have the GPUs of their types, with their computation, memory and connections.
func TestKindsOfServers(t *testing.T) {
	p, err := resolved(t, zoo)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for h, k := range p.Kinds {
		first, last := p.Graph.GPUsOf(h)
		got = append(got, fmt.Sprintf("%s: %d %s, %v, %v", p.Graph.Nodes[p.Graph.Hosts[h]].Name, last-first,
			k.GPU.Name, k.NVLink, k.Reach()))
	}
	want := "old-1: 4 a100, 1.92Tbps, 1.92Tbps; new-1: 8 h100, 2.966Tbps, 2.966Tbps; " +
		"new-2: 8 h100, 2.966Tbps, 2.966Tbps; own-1: 4 mine, 2.4Tbps, 800Gbps"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
	step := p.Jobs[0].Training
	if len(step.Each) != 16 || step.Each[0].Name != "a100" || step.Each[15].Name != "h100" {
		t.Errorf("%d ranks have GPUs", len(step.Each))
	}
	if step.Peak() != 4*312e12+12*989e12 {
		t.Errorf("together they do %g", step.Peak())
	}
	if slow := p.Slowest(); slow.GPU.Name != "a100" {
		t.Errorf("the slowest is %s", slow.GPU.Name)
	}
}

// A non-default rate of NVLink is that of all links of a GPU; in a mesh each link has its share.
func TestNVLinkOfAMesh(t *testing.T) {
	text := "fabric: {kind: rail, hosts: 2, spines: 1, uplinks: 8}\nserver: {gpu: mi300x}\n" +
		"workload: {traffic: {permutation: {bytes: 1MiB}}}\n"
	for set, want := range map[string]unit.Rate{"server.gpus=8": 384 * unit.Gbps, // 48 GB/s are usable of 64
		"server.gpu=gaudi3": 600 * unit.Gbps, "server.nvlink=448GB/s": 512 * unit.Gbps} {
		p, err := resolved(t, text, set)
		if err != nil || p.Kinds[0].Pair != want || p.Inside[0].Slowest() != want {
			t.Errorf("%s: %+v, %v", set, p.Kinds[0], err)
		}
	}
	p, err := resolved(t, text, "server.gpus=1", "server.nics=1")
	if err != nil || p.Inside != nil {
		t.Errorf("a server of one GPU has something inside: %v", err)
	}
}

// A tensor parallel group is within a server. The remaining GPUs of a server stay idle, which is reported.
func TestSeats(t *testing.T) {
	p, err := resolved(t, zoo, "workload.training.tp=8", "workload.training.dp=2")
	if err != nil {
		t.Fatal(err)
	}
	if place := fmt.Sprint(p.Jobs[0].Place); place != "[4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19]" {
		t.Errorf("ranks are on GPUs %s", place)
	}
	notes := strings.Join(p.Notes, "\n")
	if !strings.Contains(notes, "4 GPUs stay idle in servers that hold no further tensor parallel group "+
		"of 8 (2 servers of 8 GPUs, 2 servers of 4 GPUs)") {
		t.Errorf("notes: %s", notes)
	}
	if p, err = resolved(t, zoo, "workload.training.dp=6"); err != nil || p.Jobs[0].Place != nil {
		t.Errorf("all GPUs in order: %v, %v", p.Jobs[0].Place, err)
	}
	for _, c := range []struct{ tp, dp, want string }{
		{"8", "3", "--set workload.training.tp=8: a group of 8 GPUs is within one server; the step " +
			"needs 3 groups, there is room for 2 (2 servers of 8 GPUs, 2 servers of 4 GPUs)"},
		{"16", "1", "a group of 16 GPUs is within one server; the step needs 1 groups, there is room for 0"},
	} {
		_, err := resolved(t, zoo, "workload.training.tp="+c.tp, "workload.training.dp="+c.dp)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("tp %s: %v", c.tp, err)
		}
	}
	if _, err := resolved(t, zoo, "workload.training.fold=true"); err == nil ||
		!strings.Contains(err.Error(), "workload.training.fold=true: needs servers with as many GPUs each") {
		t.Error(err)
	}
}

// GPUs that do not exist, or cannot, are refused at their place.
func TestBadAccelerators(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"gpu: a100", "gpu: a10", `fabric.types.old.gpu: unknown GPU "a10"`},
		{"gpu: mine,", "gpu: main,", `fabric.types.own.gpu: unknown GPU "main" (did you mean "mine"?)`},
		{"gpu: mine, gpus: 4", "gpu: mine, gpus: 0",
			"fabric.types.own.gpu: is of GPUs, of which own has none"},
		{"sw: {}", "sw: {gpu: h100}", "fabric.types.sw: a switch"},
		{"  mine:", "  h100:", "gpus.h100: h100 is a GPU of Railyard's catalog"},
		{"hbm: 2TB/s, ", "", "gpus.mine.hbm: is missing; accepted: between"},
		{"hbm: 2TB/s", "hbm: 2T", `gpus.mine.hbm: "2T" could be bits or bytes`},
		{"pair: 100GB/s", "pair: 400GB/s",
			"gpus.mine.nvlink_pair: 3.2Tbps between two GPUs is more than the 2.4Tbps"},
		{"bf16_tflops: 500", "bf16_tflops: 0", "is out of range 0.001–"},
		{"bf16_tflops: 500", "bf16_tflops: x", "gpus.mine.bf16_tflops: \"x\" is not a number"},
		{"workload:", "server: {gpu: h10}\nworkload:",
			`server.gpu: unknown GPU "h10" (did you mean "h100"?)`},
		{"gpus: 4, nics: 4", "gpus: 4, nics: 4, nvlink: 450G",
			"fabric.types.old.nvlink: \"450G\" could be bits"},
	} {
		_, err := resolved(t, strings.Replace(zoo, c.from, c.to, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.to, err, c.want)
		}
	}
}
