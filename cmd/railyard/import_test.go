package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/importing"
	"railyard/internal/long"
	"railyard/internal/scenariofile"
)

// An export of every shipped scenario imports as an equal graph in few lines, and matches the design. The formats
// are the list of cables with rates and lengths, Graphviz with rates, and containerlab with neither.
func TestImportRoundTrip(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(scenarios(t), "*.yaml"))
	if err != nil || len(all) < 10 {
		t.Fatal(err, len(all))
	}
	lacks := map[string]string{"incast-seed": "runs at 1.6Tbps", "lab-planes": "packet trimming",
		"dragonfly-load": "lb minimal", "reorder-memory": "lb spray"} // unsupported by NX-OS
	t.Chdir(t.TempDir())
	rendered, others := 0, len(all)
	for _, s := range all {
		name := strings.TrimSuffix(filepath.Base(s), ".yaml")
		if name == "fattree1024-permutation" && !long.On() {
			others-- // like fattree128's, and takes as long as all others
			continue
		}
		code, _, errs := call(t, "config", "render", s, "--os", "nxos", "--out", name)
		if code != 0 {
			if why := lacks[name]; why == "" || !strings.Contains(errs, why) {
				t.Errorf("%s is not rendered: %s", name, errs)
			}
			continue
		}
		rendered++
		plan, err := scenariofile.Fabric(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			file           string
			rates, lengths bool
		}{{"cabling.csv", true, true}, {"fabric.dot", true, false}, {"fabric.clab.yml", false, false}} {
			file := filepath.Join(name, f.file)
			code, out, errs := call(t, "import", file, "--out", f.file+".yaml", "--force", "--json")
			if code != 0 {
				t.Errorf("%s: %s", file, errs)
				continue
			}
			var got importing.Imported
			if err := json.Unmarshal([]byte(out), &got); err != nil || got.Rules+got.Single > 12 {
				t.Errorf("%s: %d rules, %v\n%s", file, got.Rules+got.Single, err, got.Scenario)
			}
			back, err := scenariofile.Plan(f.file+".yaml", nil, nil)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if diff := cabling.Same(cabling.Of(plan.Graph), cabling.Of(back.Graph), f.rates,
				f.lengths); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			if code, out, errs := call(t, "topo", s, "--against", file); code != 0 {
				t.Errorf("%s is not as designed: %s%s", file, out, errs)
			}
		}
	}
	if rendered != others-len(lacks) {
		t.Errorf("%d of %d scenarios are rendered, %d cannot be", rendered, others, len(lacks))
	}
}

// tables are the neighbour tables of the leaves of a small fabric: two cables are swapped, and one is in another
// port.
var tables = map[string][][3]string{
	"seg-1-rail-1": {{"Eth1/1", "host-1", "nic1"}, {"Eth1/2", "host-2", "nic1"},
		{"Eth1/3", "spine-1", "Ethernet1/3"},
		{"Eth1/4", "spine-2", "Ethernet1/1"}},
	"seg-1-rail-2": {{"Eth1/1", "host-1", "nic2"}, {"Eth1/2", "host-2", "nic2"},
		{"Eth1/3", "spine-1", "Ethernet1/2"},
		{"Eth1/4", "spine-2", "Ethernet1/7"}},
	"seg-2-rail-1": {{"Eth1/1", "host-3", "nic1"}, {"Eth1/2", "host-4", "nic1"},
		{"Eth1/3", "spine-1", "Ethernet1/1"}},
	"seg-2-rail-2": {{"Eth1/1", "host-3", "nic2"}, {"Eth1/2", "host-4", "nic2"},
		{"Eth1/3", "spine-1", "Ethernet1/4"},
		{"Eth1/4", "spine-2", "Ethernet1/4"}},
}

// A typical use of the commands: the neighbour tables of a fabric become a scenario and are compared with the
// design, from which they differ.
func TestImportStory(t *testing.T) {
	golden, err := filepath.Abs("testdata/import.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("lldp", 0o755); err != nil {
		t.Fatal(err)
	}
	for device, rows := range tables {
		text := device + "# show lldp neighbors\nDevice ID            Local Intf      Hold-time  " +
			"Capability  Port ID\n"
		for _, r := range rows {
			kind := "BR"
			if strings.HasPrefix(r[1], "host") {
				kind = "S"
			}
			text += fmt.Sprintf("%-20s %-15s 120        %-11s %s\n", r[1], r[0], kind, r[2])
		}
		if err := os.WriteFile(filepath.Join("lldp", device+".txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	design := `fabric:
  kind: rail
  hosts: 2
  segments: 2
  spines: 2
  uplinks: 1
  host_link: {rate: 400Gbps}
server: {gpus: 2, nics: 2}
workload: {traffic: {permutation: {bytes: 1MB}}}
`
	if err := os.WriteFile("design.yaml", []byte(design), 0o644); err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString("# Four leaves told what they hear. Two cables to the spines are swapped, one is " +
		"missing.\n")
	for _, line := range []string{"import lldp --rate 400Gbps", "import lldp --out site.yaml",
		"topo site.yaml",
		"topo design.yaml --against lldp", "topo design.yaml --against lldp --json"} {
		code, out, errs := call(t, strings.Fields(line)...)
		fmt.Fprintf(&page, "\n$ railyard %s\n%s%s", line, out, errs)
		if code != 0 {
			fmt.Fprintf(&page, "(exit code %d)\n", code)
		}
	}
	if *rewrite {
		if err := os.WriteFile(golden, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != page.String() {
		t.Errorf("testdata/import.txt is another (-rewrite writes it anew): %v\n%s", err, page.String())
	}
}

// A folder with one file per rank is read as if its files were named. Other files in it are reported, and a folder
// without traces contains cablings.
func TestImportFolderOfTraces(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("ranks", 0o755); err != nil {
		t.Fatal(err)
	}
	dump := `{"version": "2.4",
		"pg_config": {"0": {"name": "0", "desc": "default", "ranks": "[0, 1]"}},
		"entries": [{"collective_seq_id": 1, "process_group": ["0", "default"],
			"profiling_name": "nccl:all_reduce", "state": "completed",
			"input_sizes": [[1024]], "input_dtypes": ["Float"],
			"output_sizes": [[1024]], "output_dtypes": ["Float"]}]}`
	for name, text := range map[string]string{"dump_0": dump, "dump_1": dump, "README": "two ranks\n"} {
		if err := os.WriteFile(filepath.Join("ranks", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "import", "ranks", "--out", "a.yaml")
	if code != 0 || !strings.Contains(out, "flight-recorder: 2 ranks") ||
		!strings.Contains(out, "ranks: 1 file ignored") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if code, out, errs = call(t, "run", "a.yaml", "--out", "r"); code != 0 {
		t.Errorf("%d %s%s", code, out, errs)
	}
	other := []byte("num_ranks 1\nrank 0 {\nl1: calc 5\n}\n")
	if err := os.WriteFile(filepath.Join("ranks", "a.goal"), other, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs = call(t, "import", "ranks")
	if code != 2 || !strings.Contains(errs, "several formats: flight-recorder (2 files), goal (1 file)") {
		t.Errorf("%d %s", code, errs)
	}
	code, out, errs = call(t, "import", "ranks", "--format", "flight-recorder")
	if code != 0 || !strings.Contains(out, "ranks: 2 files ignored") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if err := os.Remove(filepath.Join("ranks", "a.goal")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ranks", "dump_0"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join("ranks", "dump_1")); err != nil {
		t.Fatal(err)
	}
	code, _, errs = call(t, "import", "ranks")
	if code != 2 || !strings.Contains(errs, "no file in a supported format") {
		t.Errorf("%d %s", code, errs)
	}
}

// A folder of ranks' files is imported, with a cabling next to them, and ranks without a file are named.
func TestImportFolderOfRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"run/rank0.json": rankProfile(0, 4), "run/rank2.json": rankProfile(2, 4),
		"run/notes.txt":            "nothing\n",
		"run/fabric/topology.conf": "SwitchName=leaf Nodes=n[1-4]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, "import", "run", "--out", "job.yaml", "--json")
	var got importing.Imported
	if code != 0 || json.Unmarshal([]byte(out), &got) != nil {
		t.Fatalf("exit %d: %s%s", code, errs, out)
	}
	if got.Trace == nil || got.Trace.Ranks != 4 || len(got.Trace.Files) != 2 || got.Switches != 1 ||
		!strings.Contains(out, "ranks without a file (1, 3), simulated like another rank") {
		t.Errorf("%s", out)
	}
	if code, _, errs := call(t, "run", "job.yaml", "--out", "out"); code != 0 {
		t.Errorf("what is imported does not run: %s", errs)
	}
	if err := os.WriteFile("run/rank2.json", []byte(rankProfile(2, 8)), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs = call(t, "import", "run", "--out", "again.yaml")
	if code == 0 || !strings.Contains(errs, "rank2.json: is of a job of 8 ranks (world_size), and "+
		"run/rank0.json of one of 4") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// rankProfile is a rank's profile of PyTorch with one all-reduce of all ranks.
func rankProfile(rank, world int) string {
	var all []string
	for r := range world {
		all = append(all, fmt.Sprint(r))
	}
	return fmt.Sprintf(`{"schemaVersion": 1,
"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d},
"traceEvents": [
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 100.0, "dur": 50.0, "args":
 {"correlation": 1, "stream": 7, "Collective name": "allreduce", "In msg nelems": 262144,
	"Out msg nelems": 262144,
  "dtype": "Float", "Group size": %d, "Process Group Name": "0",
	"Process Group Ranks": "[%s]"}}]}`, rank, world,
		world, strings.Join(all, ", "))
}
