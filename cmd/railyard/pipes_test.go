package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/long"

	"github.com/alecthomas/kong"
)

// piped are the command lines of TestPipes; @NAME stands for an input of that name. Each parameter that names an
// input file has a command line here, except those in unpiped. ! marks an input that is too small for calibrate.
var piped = []string{
	"check @net", "check @net --set workload.training.model=@model", "topo @net", "topo @net --prices @prices",
	"topo @net --against @cables", "run @small --out out", "compare @small --set lb=ecmp,spray",
	"sweep run @small --grid lb=ecmp,spray --out out", "sweep run @study",
	"export @small --as goal --out out.goal", "import @goal", "import @kineto", "import @cables",
	"import --server @inside", "submit @script --cluster @net --dry-run",
	"submit @script --cluster @net --dry-run --model @model",
	"submit @script --slurm-conf @slurmconf --dry-run",
	"submit @script --slurm-conf @slurmconf --topology @topology --dry-run",
	"submit @script --sinfo @sinfo --dry-run", "submit @script --scontrol @scontrol --dry-run",
	"! calibrate --fabric @net --nccl-tests @nccl", "! calibrate --fabric @net --perftest @perftest",
	"pcap @capture", "plan size @model --tokens 1T --gpus 64", "plan memory @model",
	"plan search @model --fabric @net --global-batch 64 --simulate 0",
	"plan search @model --fabric @net --global-batch 64 --simulate 1",
	"plan score @model --fabric @net --global-batch 64", "plan score --measured @measured",
	"plan fit --measured @measured",
	"plan fabric --gpus 64 --prices @prices", "plan collective @net --no-simulate --sizes 1MiB",
	"plan goodput @net --step 1s --days 3 --rates @rates", "plan interference @jobs", "plan failures @small",
	"plan load @load", "plan traffic @net", "config lint @nxos", "config lint @nxos --baseline @baseline",
	"config lint @nxos --fabric @lab", "config lint @nxos --cabling @cables", "config show @nxos",
	"config lint @hostside", "config lint @nxos @hostside",
	"config render @lab --os nxos --out out", "config render @lab --onto @nxos --switch seg-1-rail-1",
	"config dcbx @nxos @spine --fabric @lab", "config tune @small --trials 2 --out out", "diagnose @counters",
	"diagnose @counters --before @before --config @nxos", "diagnose @counters --fabric @lab",
	"diagnose @counters --cabling @cables", "explain @cables", "! explain @nccl --fabric @net",
}

// unpiped are parameters that name no input file, or a device, a run or a folder.
var unpiped = []string{
	"--token-file", "--tls-cert", "--tls-key", "--tls-ca", "--volume", "init", "query", "report", "why", "serve", "sweep show", "sweep merge",
	"worker", "validate", "lab", "rdma", "models", "docs", "completion", "plan circuits", "version", "schema",
	"submit args", "config lint --host", "diagnose --gnmi-ca", "diagnose --gnmi-cert", "diagnose --gnmi-key",
	"run --profile", "config lint --profile", "config render --profile", "config tune --profile",
	"compare --config", "calibrate --inspector", "calibrate --capture",
}

// TestPipes gives every command that reads a file the same content by a pipe, as a shell's <(…) does. The output is
// equal.
func TestPipes(t *testing.T) {
	texts := pipedTexts(t)
	for _, line := range piped {
		if !long.On() && strings.Contains(line, "--simulate 1") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			dir := t.TempDir()
			var said [2]string
			var codes [2]int
			line, poor := strings.CutPrefix(line, "! ")
			for i, kind := range []string{"files", "pipes"} {
				if err := os.MkdirAll(filepath.Join(dir, kind, "work"), 0o700); err != nil {
					t.Fatal(err)
				}
				t.Chdir(filepath.Join(dir, kind, "work"))
				var args []string
				for _, w := range strings.Fields(line) {
					before, name, named := strings.Cut(w, "@")
					if named {
						w = before + given(t, filepath.Join(dir, kind, name), texts[name], kind == "pipes")
					}
					args = append(args, w)
				}
				code, out, errs := call(t, args...)
				codes[i] = code
				said[i], _, _ = strings.Cut(strings.ReplaceAll(out+errs, filepath.Join(dir, kind), ""), " packet-hops in")
			}
			if (codes[0] == 2) != poor || codes[0] != codes[1] || said[0] != said[1] {
				t.Errorf("exit %d by files, %d by pipes\n%.600s\n----\n%.600s", codes[0], codes[1], said[0], said[1])
			}
		})
	}
}

// A scenario that names a pipe cannot run, and import reports that.
func TestPipeImported(t *testing.T) {
	dir := t.TempDir()
	goal := pipedTexts(t)["goal"]
	for _, pipe := range []bool{false, true} {
		path := given(t, filepath.Join(dir, fmt.Sprint(pipe)), goal, pipe)
		code, out, errs := call(t, "import", path, "--out", filepath.Join(dir, fmt.Sprint(pipe, ".yaml")))
		if said := strings.Contains(strings.Join(strings.Fields(out), " "), "is a pipe, and the scenario names it"); code != 0 ||
			said != pipe {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
	}
}

// given writes an input as a file, or into a pipe.
func given(t *testing.T, path, text string, pipe bool) string {
	t.Helper()
	if text == "" {
		t.Fatalf("%s: no text", path)
	}
	if !pipe {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", r.Fd()), path); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = w.WriteString(text)
		_ = w.Close()
	}()
	return path
}

// TestPipesOfAll finds a command line of TestPipes for each parameter that may name a file.
func TestPipesOfAll(t *testing.T) {
	p, release := newParser()
	defer release()
	for _, leaf := range p.kong.Model.Leaves(true) {
		name := strings.TrimPrefix(leaf.Path(), "railyard ")
		var lines []string
		for _, l := range piped {
			if l = strings.TrimPrefix(l, "! "); strings.HasPrefix(l, name+" ") {
				lines = append(lines, l)
			}
		}
		listed := func(key string) bool {
			for _, u := range unpiped {
				if u == key || u == name || u == strings.Fields(name)[0] || strings.HasSuffix(key, " "+u) {
					return true
				}
			}
			return false
		}
		for _, arg := range leaf.Positional {
			if !listed(name+" "+arg.Name) && !anyLine(lines, name+" @") {
				t.Errorf("%s %s: no line gives it by a pipe", name, arg.Summary())
			}
		}
		for _, f := range leaf.Flags {
			if reads(f) && !listed(name+" --"+f.Name) && !anyLine(lines, "--"+f.Name+" @") {
				t.Errorf("%s --%s=%s: no line gives it by a pipe", name, f.Name, f.PlaceHolder)
			}
		}
	}
}

func anyLine(lines []string, part string) bool {
	for _, l := range lines {
		if strings.Contains(l, part) {
			return true
		}
	}
	return false
}

// reads reports whether a flag names a file to read, by its placeholder and by its name.
func reads(f *kong.Flag) bool {
	for _, w := range []string{"out", "plot", "html", "png", "svg", "parquet", "markdown", "junit", "pcap", "cpuprofile",
		"rate-log", "rate-plot", "counters-dir", "scenario"} {
		if f.Name == w {
			return false
		}
	}
	for _, w := range []string{"FILE", "SCENARIO", "PATH"} {
		if strings.Contains(f.PlaceHolder, w) {
			return true
		}
	}
	return f.Name == "model"
}

// pipedTexts creates the inputs of TestPipes, most of them with the program itself.
func pipedTexts(t *testing.T) map[string]string {
	t.Helper()
	shipped := scenarios(t)
	dir := t.TempDir()
	t.Chdir(dir)
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const two = "fabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps}}\nserver: {gpus: 8, nics: 8}\n"
	texts := map[string]string{
		"net": "name: net\n" + two + "workload: {training: {model: llama-2-7b, tp: 8, dp: 2, sequence: 128, " +
			"micro_batch: 1, global_batch: 2}}\n",
		"load": "name: load\n" + two + "workload: {traffic: {background: {load: 30, sizes: 64KB, for: 50us}}}\n",
		"model": `{"model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 4, ` +
			`"num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 4096}`,
		"script": "#!/bin/sh\n#SBATCH -N 1 --ntasks-per-node=8 --gpus-per-node=8\n" +
			"srun ./build/all_reduce_perf -b 8 -e 4M -f 2 -g 1\n",
		"slurmconf": "ClusterName=x\nGresTypes=gpu\nNodeName=dgx[01-08] CPUs=112 Gres=gpu:h100:8\n" +
			"PartitionName=gpu Nodes=ALL Default=YES\n",
		"topology": "SwitchName=leaf Nodes=dgx[01-08]\n",
		"sinfo":    "PARTITION NODELIST GRES CPUS STATE\ngpu* dgx[01-08] gpu:h100:8 112 idle\n",
		"scontrol": "NodeName=dgx01 Arch=x86_64 CoresPerSocket=56\n   CPUAlloc=0 CPUEfctv=112 CPUTot=112\n" +
			"   Gres=gpu:h100:8\n   RealMemory=1000000 Sockets=2 Boards=1\n   State=IDLE ThreadsPerCore=1\n   Partitions=gpu\n",
		"study":  "scenario: " + filepath.Join(dir, "small") + "\nvary: [{key: lb, values: [ecmp, spray]}]\n",
		"jobs":   read(filepath.Join(shipped, "two-jobs.yaml")),
		"small":  small,
		"lab":    read(filepath.Join(shipped, "lab-2x2.yaml")),
		"inside": read(filepath.Join(shipped, "clusters", "crossed-h100.txt")),
		"measured": "id,model,gpu,gpus,tp,pp,cp,ep,vpp,micro,global_batch,sequence,zero,recompute,step_seconds,source\n" +
			"a,llama-3.1-8b,h100,8,1,1,1,1,1,1,128,8192,1,selective,12,mine\n",
		"nccl": "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20\n" +
			"# Using devices\n" + strings.Repeat("#  Rank  0 Group  0 Pid   1 on      a device  0 [0x01] NVIDIA H100\n", 16) +
			"     1048576        262144     float     sum      -1    100.0   10.49  19.66      0    100.0   10.49  19.66  " +
			"    0\n",
		"perftest": " RDMA_Write BW Test\n #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   " +
			"MsgRate[Mpps]\n" +
			" 65536      1000             11000.00            10900.00              0.174400\n",
		"kineto": `{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, ` +
			`"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, ` +
			`"dur": 900, "args": {"stream": 7}}]}`,
	}
	made := func(args ...string) string {
		t.Helper()
		code, out, errs := call(t, args...)
		if code > 1 {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		return out
	}
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	texts["prices"] = made("plan", "fabric", "--prices-example")
	texts["rates"] = made("plan", "goodput", "--rates-example")
	texts["cables"] = made("topo", "net", "--cables")
	made("export", "small", "--as", "goal", "--out", "goal")
	texts["goal"] = read("goal")
	made("config", "render", "lab", "--os", "nxos", "--out", "nx")
	texts["nxos"] = read("nx/seg-1-rail-1/nxos.cfg")
	texts["hostside"] = "#!/bin/bash\nmlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0\nmlnx_qos -i eth0 --trust dscp\n"
	texts["baseline"] = made("config", "lint", "nx/seg-1-rail-1/nxos.cfg", "--json")
	texts["spine"] = read("nx/spine-1/nxos.cfg")
	made("run", "lab", "--out", "run", "--counters", "nxos", "--counters-dir", "shown", "--capture", "seg-1-rail-1:Eth1")
	texts["counters"], texts["before"] = read("shown/after/seg-1-rail-1.txt"), read("shown/before/seg-1-rail-1.txt")
	texts["capture"] = read("run/capture.pcapng")
	return texts
}
