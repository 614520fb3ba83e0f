package submission

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/scenariofile"
)

// tinyJob trains a small model on two servers of two GPUs, as its flags say.
const tinyJob = `#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --gpus-per-node=2
export NCCL_IB_QPS_PER_CONNECTION=2 NCCL_IB_TC=96
srun python pretrain_gpt.py --num-layers 2 --hidden-size 512 --num-attention-heads 8 --vocab-size 32000 \
  --seq-length 512 --tensor-model-parallel-size 2 --micro-batch-size 1 --global-batch-size 4
`

const tinySite = "name: site\nfabric: {kind: rail, hosts: 2, segments: 2, spines: 2}\n" +
	"server: {gpus: 2, nics: 2}\nseed: 7\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n"

// folder makes a folder with files the current one.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// follow submits job to site.yaml, with the changes of set, and returns what its scenario and its notes say.
func follow(t *testing.T, site, job string, set func(*Request)) (s *Submission, notes string) {
	t.Helper()
	folder(t, map[string]string{"site.yaml": site, "job": job})
	r := &Request{Script: "job", Cluster: "site.yaml", DryRun: true}
	if set != nil {
		set(r)
	}
	s, err := Follow(r)
	if err != nil || s.Nothing != nil {
		t.Fatal(err, s)
	}
	return s, strings.Join(s.Report().Notes, "\n")
}

// A job with a type of GPUs gets nodes whose type names it, also by a longer name. A scenario that names no GPU, and a
// type that names no model, exclude none.
func TestTypeOfGPUs(t *testing.T) {
	const mixed = "fabric: {types: {old: {gpus: 2, nics: 2, gpu: a100}, new: {gpus: 2, nics: 2, gpu: h100}, " +
		"sw: {ports: 32x400Gbps}}, nodes: {old: {type: old, count: 2}, new: {type: new, count: 2}, sw: {type: sw, " +
		"count: 1}}, cables: [{from: old, to: sw}, {from: new, to: sw}]}\n"
	for _, c := range []struct{ site, gres, first string }{{mixed, "gpu:2", "old-1"}, {mixed, "gpu:h100:2", "new-1"},
		{mixed, "gpu:nvidia_h100_80gb_hbm3:2", "new-1"}, {mixed, "gpu:a100:2", "old-1"}, {mixed, "gpu:big:2", "old-1"},
		{mixed, "gpu:b200:2", ""}, {tinySite, "gpu:b200:2", "host-1"}} {
		folder(t, map[string]string{"site.yaml": c.site, "job": "#!/bin/sh\n#SBATCH -N 2\n#SBATCH --gres=" + c.gres +
			"\nsrun python train.py\n"})
		s, err := (&Request{Script: "job", Cluster: "site.yaml", DryRun: true}).submit()
		switch {
		case c.first == "" && (err == nil || !strings.Contains(err.Error(), "without GPUs of that type")):
			t.Errorf("%s: %v", c.gres, err)
		case c.first != "" && (err != nil || s.alloc.Names()[0] != c.first):
			t.Errorf("%s: %v", c.gres, err)
		}
	}
}

// Who gets which node, GPU and NIC: ranks go node by node, and NIC n of a server is on rail n.
func TestReport(t *testing.T) {
	s, _ := follow(t, tinySite, tinyJob, nil)
	r := s.Report()
	if r.World != 4 || r.Of != 4 || !slices.Equal(r.Nodes, []string{"host-1", "host-2"}) || r.At != "job:4" {
		t.Errorf("%+v", r)
	}
	for i, want := range []Rank{{Rank: 0, Host: "host-1", Local: 0, GPU: 0, NIC: "nic-1", Rail: 1},
		{Rank: 1, Host: "host-1", Local: 1, GPU: 1, NIC: "nic-2", Rail: 2},
		{Rank: 2, Host: "host-2", Local: 0, GPU: 0, NIC: "nic-1", Rail: 1},
		{Rank: 3, Host: "host-2", Local: 1, GPU: 1, NIC: "nic-2", Rail: 2}} {
		got := r.Ranks[i]
		if got.Port == "" || !slices.Contains(got.Environ, fmt.Sprint("SLURM_PROCID=", i)) {
			t.Errorf("%+v", got)
		}
		if got.Port, got.Environ = "", nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if a, b := s.Report().Ranks[1].Port, s.Report().Ranks[3].Port; a == b || a[:len(a)-1] != b[:len(b)-1] {
		t.Errorf("ranks of a rail are at %s and %s", a, b)
	}
	if p := s.Plan; p.QPs != 2 || p.Seed != 7 || p.Services[p.Jobs[0].Service].DSCP != 96>>2 {
		t.Errorf("%d queue pairs, seed %d, %+v", p.QPs, p.Seed, p.Services)
	}
}

// A scenario's leaves are Slurm's switches: two nodes below one switch are those of the leaf that has two left.
func TestTree(t *testing.T) {
	s, _ := follow(t, tinySite, tinyJob, func(r *Request) { r.Option = []string{"--exclude=host-1", "--switches=1"} })
	if n := s.Report().Nodes; !slices.Equal(n, []string{"host-3", "host-4"}) {
		t.Error(n)
	}
}

// GPUs of a node that follow one another are a range, all of them the node.
func TestSeats(t *testing.T) {
	for options, want := range map[string]string{
		"--ntasks-per-node=1 --gpus-per-node=1": `on: ["host-1/gpu-1", "host-2/gpu-1"]`,
		"--ntasks-per-node=3 --gpus-per-node=3": `on: ["host-1/gpu-[1-3]", "host-2/gpu-[1-3]"]`,
		"--ntasks-per-node=4 --gpus-per-node=4": `on: ["host-1", "host-2"]`,
		"--ntasks-per-node=2 --gpus-per-task=2": `on: ["host-1/gpu-1", "host-1/gpu-3", "host-2/gpu-1", "host-2/gpu-3"]`,
	} {
		job := "#!/bin/bash\n#SBATCH -N2 " + options + "\nsrun all_reduce_perf -b 8M -e 8M\n"
		if s, _ := follow(t, fourSite, job, nil); !strings.Contains(s.text, want) {
			t.Errorf("%s: no %s in %s", options, want, s.text)
		}
	}
}

// Where only Slurm describes a cluster, each GPU has a NIC, each leaf a switch per rail, and those as many cables up as
// down: three of five nodes on two leaves of 3 and 2, of two GPUs each.
func TestAssumedFabric(t *testing.T) {
	folder(t, map[string]string{"job": "#!/bin/bash\n#SBATCH -N3 --exclude=n_1,n_5 --ntasks-per-node=2 " +
		"--gpus-per-node=2\nsrun all_reduce_perf -b 8M -e 8M\n",
		"slurm.conf":    "ClusterName=x\nNodeName=n_[1-5] CPUs=64 Gres=gpu:A100:2\n",
		"topology.conf": "SwitchName=s_1 Nodes=n_[1-3]\nSwitchName=s_2 Nodes=n_[4-5]\nSwitchName=top Switches=s_[1-2]\n"})
	s, err := Follow(&Request{Script: "job", SlurmConf: "slurm.conf", Topology: "topology.conf", Rate: "200Gbps",
		DryRun: true})
	if err != nil || s.Nothing != nil {
		t.Fatal(err, s)
	}
	for _, w := range []string{"hosts: [n-2, n-3, n-4]", "host_link: {rate: 200Gbps}", "gpu: a100, gpus: 2, nics: 2"} {
		if !strings.Contains(s.text, w) {
			t.Errorf("no %s in %s", w, s.text)
		}
	}
	for what, want := range map[string]int{"role: rail": 2 * 2, // leaves x rails
		"role: spine": 3, "{from: n-": 3 * 2, "to: spine-": 4 * 3, "count: 1}": 4 * 3} { // of the largest leaf's 3 nodes
		if n := strings.Count(s.text, what); n != want {
			t.Errorf("%d times %s, want %d, in %s", n, what, want, s.text)
		}
	}
	if r := s.Report().Ranks[5]; r.Host != "n_4" || r.GPU != 1 || r.NIC != "nic-2" ||
		!strings.HasPrefix(r.Port, "s-2-rail-2") {
		t.Errorf("%+v", r)
	}
	// A leaf of 20 nodes has 16 spines, with 2 cables to each.
	folder(t, map[string]string{"job": "#!/bin/bash\n#SBATCH -N21\nsrun all_reduce_perf -b 8M -e 8M\n",
		"nodes":         "NodeName=n[1-40] CPUs=64 Gres=gpu:A100:1\n",
		"topology.conf": "SwitchName=a Nodes=n[1-20]\nSwitchName=b Nodes=n[21-40]\nSwitchName=c Switches=a,b\n"})
	s, err = Follow(&Request{Script: "job", SlurmConf: "nodes", Topology: "topology.conf", Rate: "200Gbps",
		Option: []string{"--gpus-per-node=1"}, DryRun: true})
	if err != nil || s.Nothing != nil {
		t.Fatal(err, s)
	}
	if n := strings.Count(s.text, "count: 2}"); n != 2*16 || strings.Contains(s.text, "spine-17") {
		t.Errorf("%d pairs of cables: %s", n, s.text)
	}
}

// The scenario that is written, with its model beside it, is the one that was resolved.
func TestWrite(t *testing.T) {
	s, _ := follow(t, tinySite, tinyJob, nil)
	if err := os.Mkdir("out", 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("out", "job.yaml")
	if err := s.Write(path, false); err != nil {
		t.Fatal(err)
	}
	plan, err := scenariofile.Plan(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := plan.Jobs[0].Training.Model
	if m.Layers != 2 || m.Hidden != 512 || m.Heads != 8 || plan.Text() != s.Plan.Text() {
		t.Errorf("%+v", m)
	}
	if err := s.Write(path, false); err == nil || !strings.Contains(err.Error(), "job-model.json exists") {
		t.Errorf("again: %v", err)
	}
	if err := s.Write(path, true); err != nil {
		t.Errorf("again, with force: %v", err)
	}
}

// A slurm.conf includes files of its folder, and no others.
func TestIncludes(t *testing.T) {
	folder(t, map[string]string{"nodes.conf": "NodeName=n[1-2] CPUs=64 Gres=gpu:8\n", "job": tinyJob})
	for name, include := range map[string]string{"in.conf": "nodes.conf", "out.conf": "/etc/passwd"} {
		if err := os.WriteFile(name, []byte("ClusterName=x\nInclude "+include+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Follow(&Request{Script: "job", SlurmConf: name, Rate: "200Gbps", DryRun: true})
		if out := name == "out.conf"; (err != nil) != out || out && strings.Contains(err.Error(), "root:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A script reads files of its folder and of the working directory, and quotes no others: it may be another person's.
func TestScriptsOutside(t *testing.T) {
	folder(t, map[string]string{"nodes.conf": "NodeName=n[1-2] CPUs=64 Gres=gpu:8\n", "run.sh": "srun solver --here\n"})
	if err := os.Symlink("/etc/passwd", "link.sh"); err != nil {
		t.Fatal(err)
	}
	for line, program := range map[string]string{"srun bash /etc/passwd": "/etc/passwd", "srun bash link.sh": "link.sh",
		". /etc/passwd\nsrun solver": "solver", "bash ../../../../../../etc/passwd\nsrun solver": "solver",
		"srun bash run.sh": "solver"} {
		if err := os.WriteFile("job", []byte("#!/bin/sh\n#SBATCH --nodes=2\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Follow(&Request{Script: "job", SlurmConf: "nodes.conf", Rate: "200Gbps", DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(s.found.Notes, s.Nothing)
		for _, l := range s.found.Launches {
			said += " " + l.Program
		}
		if strings.Contains(said, "root:") || !strings.Contains(said, program) {
			t.Errorf("%s: %s", line, said)
		}
	}
}

// An error is of the input, and begins with its place.
func TestRefuses(t *testing.T) {
	with := func(old, now string) string { return strings.Replace(tinyJob, old, now, 1) }
	files := map[string]string{"site.yaml": tinySite, "job": tinyJob, "many": with("--nodes=2", "--nodes=9"),
		"divide": with("parallel-size 2", "parallel-size 3"), "heads": with("heads 8", "heads 1"),
		"binary": "\x7fELF\x00", "quote": "#!/bin/sh\necho '", "bare": "srun x\n",
		"contradiction": with("--gpus", "--ntasks=8 --gpus"), "nothing": "#!/bin/sh\nls\n",
		"dos":        strings.ReplaceAll(tinyJob, "\n", "\r\n"),
		"loop.conf":  "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
		"nodes.conf": "NodeName=n[1-4] CPUs=64 Gres=gpu:8\n",
		"unknown":    "#!/bin/sh\nsrun ./solver --cells 100\n", "notes.txt": "hello\n",
		"flag": with("--num-layers", "--num-layer")}
	folder(t, files)
	if f, err := os.Create("large"); err != nil || f.Truncate(100<<20) != nil || f.Close() != nil {
		t.Fatal(err)
	}
	on := func(r Request) Request { r.Cluster = "site.yaml"; return r }
	for _, c := range []struct {
		of   Request
		want string
	}{
		{on(Request{Script: "many"}), "many:2:9: --nodes: the job needs 9 nodes; 4 nodes"},
		{on(Request{Script: "divide"}), "divide:5:20: --tensor-model-parallel-size: tp 3 x pp 1 x cp 1 is 3"},
		{on(Request{Script: "heads"}), "heads:5:20: --tensor-model-parallel-size: 2 does not divide the 1 att"},
		{on(Request{Script: "binary"}), "binary:1:1: is not text"},
		{on(Request{Script: "large"}), "large"},
		{on(Request{Script: "quote"}), "quote:2:6: is not a shell script"},
		{on(Request{Script: "contradiction"}), "contradiction:2:39: --ntasks: 8 tasks do not fit on 2 nodes"},
		{on(Request{Script: "bare"}), "bare:1:1: sbatch takes scripts whose first line"},
		{on(Request{Script: "dos"}), "dos:1:1: ends its lines as DOS does (CR LF)"},
		{Request{Script: "job", SlurmConf: "nodes.conf", Topology: "loop.conf"},
			"loop.conf:2:1: Switches: switch b has switch a below it, which has it below itself"},
		{on(Request{Script: "job", Option: []string{"--gpus-per-node=1e9"}}),
			"--option --gpus-per-node=1e9: --gpus-per-node: found \"1e9\", expected a number of GPUs"},
		{on(Request{Script: "job", Option: []string{"--nodes=1000000000"}}),
			"--option --nodes=1000000000: --nodes: found \"1000000000\", expected a number of nodes, up to 1048576"},
		{on(Request{Script: "unknown"}), "unknown:2:6: ./solver: its model and layout are not in"},
		{on(Request{Script: "nothing"}), "nothing: starts no supported program"},
		{on(Request{Script: "flag"}), "flag:4:29: --num-layer: is not a flag that is known"},
		{Request{Script: "job", Cluster: "missing.yaml"}, "missing.yaml: no such file or directory"},
		{Request{Script: "job", Sinfo: "notes.txt"}, "notes.txt: contains no cluster"},
		{on(Request{Script: "job", Topology: "notes.txt"}), "--cluster: a scenario describes the whole cluster"},
		{on(Request{Script: "job", Env: []string{"X"}}), "--env: found \"X\", expected NAME=VALUE"},
		{on(Request{Script: "job", Model: "gpt5"}), "--model: unknown model \"gpt5\""},
		{on(Request{Script: "job", Rank: 4}), "--rank: 4 is out of range 0–3"},
		{on(Request{Script: "job", Option: []string{"--gpus=3"}}), "--option --gpus=3: --gpus: 3 GPUs, and 2 per node"},
		{Request{Script: "job"}, "--cluster: is missing"},
	} {
		c.of.DryRun = true
		s, err := Follow(&c.of)
		if err == nil {
			err = s.Nothing
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || field.All(err) == nil && !input.IsFault(err) {
			t.Errorf("%+v: %v, want %s", c.of, err, c.want)
		}
	}
}

// A job with more packets than are affordable is simulated by fidelity: auto, in the scenario that is written too,
// unless the site or --set has another.
func TestLarge(t *testing.T) {
	const job = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=2 --gpus-per-node=2\n" +
		"srun all_reduce_perf -b %s -e %[1]s\n"
	for _, c := range []struct {
		size, set, fidelity string
		written             bool
	}{{"1M", "", "auto", false}, {"4T", "", "auto", true}, {"1T", "fidelity=packet", "packet", false}} {
		s, _ := follow(t, tinySite, fmt.Sprintf(job, c.size), func(r *Request) {
			r.DryRun = false
			if c.set != "" {
				r.Set = []string{c.set}
			}
		})
		if got := s.Plan.Fidelity; got != c.fidelity || strings.Contains(s.text, "\nfidelity: auto\n") != c.written {
			t.Errorf("%s, %q: fidelity %s, scenario\n%s", c.size, c.set, got, s.text)
		}
	}
}
