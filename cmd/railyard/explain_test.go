package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// rankLine is the line of a rank in the output of nccl-tests.
const rankLine = "#  Rank  0 Group  0 Pid   1 on      a device  0 [0x01] NVIDIA H100\n"

// TestExplain explains a file of each kind of the program or the tests, and parses the commands recommended next.
func TestExplain(t *testing.T) {
	where := scenarios(t)
	texts := pipedTexts(t) // which leaves a run in run, and counters in shown
	texts["nccl"] = strings.Replace(texts["nccl"], strings.Repeat(rankLine, 8), strings.Repeat(strings.Replace(rankLine,
		" a device", " b device", 1), 8), 1)
	for name, ports := range map[string]int{"configdb": 1, "largeconfigdb": 2000} {
		texts[name] = `{"DSCP_TO_TC_MAP": {"AZURE": {"3": "3", "4": "4"}}, "PORT": {` + "\n"
		for i := range ports {
			texts[name] += fmt.Sprintf("%q: {\"lanes\": \"%d\", \"mtu\": \"9100\"},\n", fmt.Sprint("Ethernet", i), i)
		}
		texts[name] = strings.TrimSuffix(texts[name], ",\n") + "}}\n"
	}
	texts["lldp"] = "leaf1# show lldp neighbors\nDevice ID            Local Intf      Hold-time  Capability  Port ID\n" +
		"spine1               Eth1/60         120        BR          Ethernet1/1\nTotal entries displayed: 1\n"
	for name, text := range texts {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, kind, shows string }{
		{"run", "run", "Time above line rate"},
		{"nx", "directory", ""},
		{"shown/after", "directory", "device counters"},
		{"capture", "capture", " packets"},
		{"run/flows.parquet", "table", " row"},
		{"run/trace.json", "run-file", "of the run in run"},
		{"run/summary.json", "run-file", "of the run in run"},
		{"nccl", "nccl-tests", "best bus bandwidth 19.7 GB/s at 1 MiB"},
		{"perftest", "perftest", "best rate 91.4 Gbit/s at 64 KiB"},
		{"script", "job-script", "a batch script of Slurm"},
		{"model", "job-script", ""},
		{"inside", "machine", "8 GPUs and 8 NICs"},
		{"slurmconf", "slurm", "nodes and partitions"},
		{"sinfo", "slurm", "nodes and partitions"},
		{"study", "study", ""},
		{"small", "scenario", "small: 8 hosts, 8 GPUs"},
		{"nxos", "configuration", "lines recognized"},
		{"configdb", "configuration", "lines recognized"},
		{"largeconfigdb", "configuration", "lines recognized"},
		{"counters", "counters", "1 device: seg-1-rail-1"},
		{"cables", "cabling", "3 nodes, 16 cables"},
		{"lldp", "cabling", "2 nodes, 1 cable"}, // was counters, which diagnose refused
		{"topology", "cabling", ""},
		{"goal", "trace", "GOAL"},
		{"kineto", "trace", "PyTorch profiler"},
		{filepath.Join(where, "configs"), "directory", "1 file: switch configuration"},
	} {
		code, out, errs := call(t, "explain", c.path, "--json")
		var got struct {
			File struct {
				Kind  string
				Shows []string
				Next  []struct{ Command string }
			}
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
			t.Errorf("%s: exit %d, %v, %s%s", c.path, code, err, out, errs)
			continue
		}
		shows := strings.Join(got.File.Shows, "\n")
		if got.File.Kind != c.kind || !strings.Contains(shows, c.shows) || len(got.File.Next) == 0 {
			t.Errorf("%s: %+v", c.path, got.File)
		}
		for _, n := range got.File.Next {
			words, err := syntax.NewParser().Parse(strings.NewReader("railyard "+n.Command), "")
			if err != nil {
				t.Fatal(err)
			}
			var args []string
			for _, w := range words.Stmts[0].Cmd.(*syntax.CallExpr).Args[1:] {
				args = append(args, literal(w))
			}
			parses(t, args)
		}
	}
	tagged := "0: " + strings.ReplaceAll(strings.TrimSpace(texts["nccl"]), "\n", "\n0: ") + "\n0: NCCL_ALGO=Ring\n"
	os.WriteFile("tagged", []byte(tagged+"0: # Out of bounds values : 9 FAILED\n"+
		"0: a: Test NCCL failure common.cu:1 'internal error'\n"), 0o600)
	code, out, errs := call(t, "explain", "tagged", "--fabric", "net")
	if code != exitOK || !strings.Contains(out, "nccl-tests output\n  1 failure: Test NCCL failure common.cu:1 'internal error'\n"+
		"  wrong results: out of bounds values: 9 (FAILED)\n") || !strings.Contains(out, " --algorithm ring  #") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	row := "2097152 524288 float sum -1 %s 20.00 37.50 %s 104.86 20.00 37.50 0\n"
	os.WriteFile("wrong", []byte(texts["nccl"]+"\n"+fmt.Sprintf(row, "-110", "0")+fmt.Sprintf(row, "nan", "0")+
		fmt.Sprintf(row, "104.86", "9123")), 0o600)
	code, out, errs = call(t, "explain", "wrong")
	if code != exitOK || !strings.Contains(out, "nccl-tests output\n  not used: rows of nccl-tests with wrong results: 1 (first wrong:") ||
		!strings.Contains(out, "\n  not used: rows of nccl-tests with a time or size that cannot be: 2 (first") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	code, out, errs = call(t, "explain", "nccl", "--fabric", "net")
	if code != exitOK || !strings.Contains(out, "difference") || !strings.Contains(out, "\nVerdict: ") ||
		!strings.Contains(out, "\nGap: ") || !strings.Contains(out, "\n    measure:  ") ||
		!strings.Contains(out, "note: algorithm of all-reduces auto") || !strings.Contains(out, " railyard calibrate --fabric net") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for path, want := range map[string]string{"nowhere": "no such file", "plain": "unsupported format", "empty": "is empty"} {
		os.WriteFile("plain", []byte("a letter to nobody\n"), 0o600)
		os.WriteFile("empty", nil, 0o600)
		if code, out, errs := call(t, "explain", path); code != exitInput || out != "" || !strings.Contains(errs, want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", path, code, out, errs)
		}
	}
}

// TestExplainCommand checks that the printed run of a measured size takes the time that explain simulates. The
// scenario's collective has other channels, another protocol and another size.
func TestExplainCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("net.yaml", []byte("name: net\nfabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps}}\n"+
		"server: {gpu: h100, gpus: 4, nics: 4}\ncc: {algorithm: none}\nworkload:\n"+
		"  traffic: {collective: {kind: all-reduce, algorithm: tree, bytes: 1MiB, groups: rail, chunk: 64KiB}}\n"), 0o600)
	text := "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 16777216\n# Using devices\n"
	for i := range 8 {
		text += fmt.Sprintf("#  Rank  %d Group  0 Pid   1 on      %c device  %d [0x01] NVIDIA H100\n", i, 'a'+i/4, i%4)
	}
	text += "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
	os.WriteFile("nccl.txt", []byte(text+" 1048576 262144 float sum -1 57.9 18.11 31.69 0 57.9 18.11 31.69 0\n"+
		" 16777216 4194304 float sum -1 200 83.9 146.8 0 200 83.9 146.8 0\nNCCL_ALGO=Ring\n"), 0o600)
	code, out, errs := call(t, "explain", "nccl.txt", "--fabric", "net.yaml", "--set",
		"workload.traffic.collective.channels=1", "--set", "workload.traffic.collective.algorithm=ring", "--json")
	var got struct {
		File   struct{ Next []struct{ Command string } }
		Points []struct {
			Before float64 `json:"before_us"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, errs)
	}
	for _, n := range got.File.Next {
		if !strings.Contains(n.Command, "channels=0") {
			continue
		}
		code, out, errs = call(t, append(strings.Fields(n.Command), "--json")...)
		var s struct {
			Step float64 `json:"step_time_ps"`
		}
		last := got.Points[len(got.Points)-1].Before
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != exitOK || math.Abs(s.Step/1e6-last) > 1e-3 {
			t.Errorf("%s: exit %d, %v us, want %v, %s", n.Command, code, s.Step/1e6, last, errs)
		}
		return
	}
	t.Errorf("no command: %+v", got.File.Next)
}
