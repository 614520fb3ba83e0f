package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/workload"
	"railyard/unit"
)

const withStorage = `fabric: {kind: rail, hosts: 2, spines: 2}
server: {gpus: 4, nics: 4}
storage: {servers: 2, STORAGE}
workload: {WORK}
`

// Impossible settings are rejected at their key.
func TestBadStorage(t *testing.T) {
	reads, trains := "traffic: {storage: {read: 1MB}}", "training: {model: tiny.json, dp: 8, TRAIN}"
	for _, c := range []struct{ storage, work, key, want string }{
		{"servers: -1", reads, "storage.servers", "is out of range 1–4096"},
		{"request: -4KiB", reads, "storage.request", "-4KiB"},
		{"read: 1GB", reads, "storage.read", "1GB"},
		{"latency: 1e9s", reads, "storage.latency", ""},
		{"command: 64KB, request: 4KiB", reads, "storage.command", "more than the 4KiB of a request"},
		{"stripe: 3", reads, "storage.stripe", "there are 2"},
		{"nodes: archive", reads, "storage.nodes", "a rail fabric has servers"},
		{"network: other", reads, "storage.network", "shared"},
		{"network: separate, switches: 2, nics: 3", reads, "storage.switches", "do not divide the 3"},
		{"dscp: 64", reads, "storage.dscp", "63"},
		{"depth: 0", reads, "storage.depth", "is out of range"},
		{"capacity: 1MB", "traffic: {storage: {write: 1GB}}", "storage.capacity",
			"8 GB is more than the 0.002"},
		{"nics: 2", "traffic: {storage: {}}", "workload.traffic.storage", "neither reads nor writes"},
		{"request: 512B", "traffic: {storage: {read: 90GB}}", "workload.traffic.storage", "operations"},
		{"capacity: 1MB", strings.Replace(trains, "TRAIN", "checkpoint: {}", 1), "storage.capacity",
			"a checkpoint"},
		{"nics: 2", strings.Replace(trains, "TRAIN", "steps: 2, checkpoint: {every: 3}", 1),
			"workload.training.checkpoint.every", "none would be written"},
		{"nics: 2", strings.Replace(trains, "TRAIN", "data: {prefetch: -1}", 1),
			"workload.training.data.prefetch", "-1 is out of range 0–1000"},
	} {
		text := strings.NewReplacer("STORAGE", c.storage, "WORK", c.work).Replace(withStorage)
		text = strings.Replace(text, "servers: 2, servers: -1", "servers: -1", 1)
		_, err := planOf(t, text)
		if err == nil || !strings.Contains(err.Error(), c.key) || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "x.yaml:") {
			t.Errorf("%s: %v, want %s: %s", c.storage+" "+c.work, err, c.key, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"fabric: {kind: rail, hosts: 2, spines: 2}\nworkload: {traffic: {storage: {read: 1MB}}}\n",
			"workload.traffic.storage: the scenario has no storage"},
		{"fabric: {kind: rail, hosts: 1, spines: 2}\n" +
			"workload: {training: {model: tiny.json, dp: 8, data: {}}}\n",
			"workload.training.data: the scenario has no storage"},
		{"fabric: {kind: rail, hosts: 1, spines: 2}\nstorage: {}\n" +
			"workload: {traffic: {storage: {read: 1MB}}}\n",
			"storage.servers: is missing"},
		{"fabric: {kind: rail-only, hosts: 1}\nstorage: {servers: 1}\n" +
			"workload: {traffic: {storage: {read: 1MB}}}\n",
			"storage.nics: 2 of a server do not reach all 8"},
	} {
		if _, err := planOf(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

const describedStorage = `fabric:
  types:
    gpu: {gpus: 4, nics: 6, storage_nics: 2, nic_rate: 400Gbps}
    store: {gpus: 0, nics: 2, nic_rate: 200Gbps}
    leaf: {role: leaf}
  nodes:
    gpu: {type: gpu, count: 2}
    store: {type: store, count: 3}
    leaf: {type: leaf, count: 2}
    front: {type: leaf, count: 2}
  cables:
    - {from: gpu, to: leaf, nics: 1-4, match: {n: nic%2}}
    - {from: gpu, to: front, nics: 5-6, match: {n: nic%2}}
    - {from: store, to: front, match: {n: nic}}
storage: {network: separate, NODES}
workload: {traffic: {storage: {read: 1MB}}}
`

// A described fabric itself names the storage servers, and their NICs.
func TestDescribedStorage(t *testing.T) {
	text := func(nodes string) string { return strings.Replace(describedStorage, "NODES", nodes, 1) }
	p, err := planOf(t, text("read: 5GB/s"))
	if err != nil {
		t.Fatal(err)
	}
	g := p.Graph
	if g.Stores() != 3 || g.TotalGPUs() != 8 {
		t.Fatalf("%d stores, %d GPUs", g.Stores(), g.TotalGPUs())
	}
	for gpu := range g.TotalGPUs() {
		nic, _ := g.Pair(gpu, g.Memory(0), 0)
		if own := g.NICOf[gpu]; g.NICs[nic].Index < 4 || g.NICs[own].Index > 3 {
			t.Errorf("%s sends by %s, to storage by %s", g.GPUName(gpu), g.NICName(own), g.NICName(nic))
		}
	}
	for nodes, want := range map[string]string{
		"nodes: gpu":     "storage.nodes: gpu has GPUs",
		"nodes: shelf":   `storage.nodes[0]: unknown group of servers "shelf"`,
		"servers: 3":     "storage.servers: has no effect on a fabric of types",
		"server_nics: 1": "storage.server_nics: has no effect",
	} {
		if _, err := planOf(t, text(nodes)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", nodes, err, want)
		}
	}
}

// Jobs share only the storage; each has its own operations there.
func TestJobsWithStorage(t *testing.T) {
	p, err := planOf(t, `fabric: {kind: rail, hosts: 4, spines: 2}
server: {gpus: 4, nics: 4}
storage: {servers: 2, dscp: 34}
switch: {dscp: {"34": 0}}
jobs:
  train: {training: {model: tiny.json, dp: 8, steps: 2, data: {}, checkpoint: {mode: async}}}
  read: {gpus: 4, traffic: {storage: {read: 2MB}}}
  write: {gpus: 4, traffic: {storage: {write: 1MB}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	mix, err := p.Mix()
	if err != nil {
		t.Fatal(err)
	}
	moved := map[string]unit.Bytes{}
	for i := range mix.DAG.Ops {
		o := &mix.DAG.Ops[i]
		if o.Compute() || p.Graph.Together(int(o.Rank), int(o.Peer)) {
			continue
		}
		job := mix.Jobs[mix.Of(int32(i))].Name
		stored := p.Graph.Stored(int(o.Rank), int(o.Peer))
		if stored != o.Class.Stored() || stored != (p.Services[mix.Service(int32(i))].Name == "storage") {
			t.Fatalf("%s: %+v", job, o)
		}
		if stored && o.Bytes > 64 {
			moved[job] += o.Bytes
		}
	}
	// requests and writes have a command of 64 bytes each
	if moved["read"] != 4*2*unit.MB || moved["write"] != 4*(unit.MB+64) || moved["train"] == 0 {
		t.Error(moved)
	}
	if _, ok := any(mix).(*workload.Mix); !ok || mix.DAG.Ranks != 16+4 {
		t.Errorf("%d ranks", mix.DAG.Ranks)
	}
}

// The rate at which storage receives a checkpoint: its media, its own NICs, or those by which GPUs write.
func TestTakes(t *testing.T) {
	for _, c := range []struct {
		storage string
		want    unit.Rate
	}{{"write: 10GB/s", 160 * unit.Gbps}, {"nic_rate: 100Gbps", 400 * unit.Gbps},
		{"write: 100GB/s", 1600 * unit.Gbps}, {"network: separate, nic_rate: 200Gbps", 400 * unit.Gbps},
		{"network: separate, nic_rate: 200Gbps, server_nics: 4", 800 * unit.Gbps}} {
		text := strings.NewReplacer("STORAGE", c.storage, "WORK", "traffic: {storage: {read: 1MB}}").Replace(
			withStorage)
		p, err := planOf(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Takes(); got != c.want {
			t.Errorf("%s: %v, want %v", c.storage, got, c.want)
		}
	}
}
