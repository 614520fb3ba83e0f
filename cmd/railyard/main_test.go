package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"railyard/internal/result"
	"railyard/internal/study"

	"github.com/alecthomas/kong"
)

// call runs the command line in this process and returns its output.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = guest(&out, &errs).main(args)
	checkOutput(t, args, out.String())
	return code, out.String(), errs.String()
}

// guest is the environment of a command among others of this process.
func guest(stdout, stderr io.Writer) *env {
	return &env{stdout: stdout, stderr: stderr, guest: true, parser: parserAgain}
}

// parsers are grammars that are used again, of two thousand command lines.
var parsers = sync.Pool{New: func() any { p, _ := newParser(); return p }}

// parserAgain returns a parser in its initial state, which may have been used for other command lines.
func parserAgain() (p *parser, release func()) {
	p = parsers.Get().(*parser)
	p.commands = commands{}
	_ = kong.Visit(p.kong.Model, func(node kong.Visitable, next kong.Next) error {
		switch n := node.(type) {
		case *kong.Node:
			n.Active = false
		case *kong.Value:
			n.Set, n.Active = false, false
		case *kong.Flag:
			n.Set, n.Active = false, false
		}
		return next(nil)
	})
	return p, func() { parsers.Put(p) }
}

func scenarios(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run leaves a complete directory. Another run of the same seed gives equal bytes except for the wall clock, and
// nothing is overwritten without --force.
func TestRunDirectory(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	for _, out := range []string{"a", "b"} {
		if code, _, errs := call(t, "run", s, "--out", out); code != 0 {
			t.Fatal(errs)
		}
	}
	files, _ := os.ReadDir("a")
	if len(files) != 17 {
		t.Errorf("%d files in the run directory, want 17", len(files))
	}
	for _, f := range files {
		a, _ := os.ReadFile(filepath.Join("a", f.Name()))
		b, _ := os.ReadFile(filepath.Join("b", f.Name()))
		if f.Name() == "summary.json" || f.Name() == "run.json" {
			a, b = withoutWall(t, a), withoutWall(t, b)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two runs of one seed", f.Name())
		}
	}
	code, _, errs := call(t, "run", s, "--out", "a")
	if code != 2 || !strings.Contains(errs, "--force") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if code, _, errs := call(t, "run", s, "--out", "a", "--force"); code != 0 {
		t.Error(errs)
	}
	if err := os.WriteFile("precious", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := call(t, "run", s, "--out", ".", "--force"); code != 2 {
		t.Error("--force replaced a folder that is not a run directory")
	}
	if left, _ := filepath.Glob(".railyard-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// withoutWall removes values that depend on the wall clock and the host.
func withoutWall(t *testing.T, b []byte) []byte {
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"wall_seconds", "sim_seconds", "peak_memory_bytes"} {
		delete(m, k)
	}
	out, _ := json.Marshal(m)
	return out
}

func TestTablesReadBack(t *testing.T) {
	s := filepath.Join(scenarios(t), "fattree128-incast32.yaml")
	t.Chdir(t.TempDir())
	if code, _, errs := call(t, "run", s, "--out", "r"); code != 0 {
		t.Fatal(errs)
	}
	flows, err := result.ReadTable[result.FlowRow]("r", "flows")
	if err != nil || len(flows) != 32 {
		t.Fatalf("%d flows, %v", len(flows), err)
	}
	ports, err := result.ReadTable[result.PortRow]("r", "ports")
	if err != nil {
		t.Fatal(err)
	}
	links, err := result.ReadTable[result.LinkRow]("r", "links")
	if err != nil {
		t.Fatal(err)
	}
	sum := map[int32]int64{}
	for _, l := range links {
		sum[l.Port] += l.Bytes
	}
	for _, p := range ports {
		if sum[p.Port] != p.WireBytes {
			t.Errorf("%s: the intervals add up to %d of %d bytes", p.Name, sum[p.Port], p.WireBytes)
		}
	}
	var trace struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	b, _ := os.ReadFile("r/trace.json")
	if err := json.Unmarshal(b, &trace); err != nil || len(trace.TraceEvents) < 10 {
		t.Errorf("trace.json: %d events, %v", len(trace.TraceEvents), err)
	}
}

// Bad input: exit code 2, one line with its position, no run directory.
func TestBadInput(t *testing.T) {
	dir := scenarios(t)
	t.Chdir(t.TempDir())
	big, err := os.Create("big.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(10 << 30); err != nil { // sparse
		t.Fatal(err)
	}
	big.Close()
	os.WriteFile("binary.yaml", []byte{0x7f, 'E', 'L', 'F', 0, 1, 2}, 0o644)
	pod := filepath.Join(dir, "pod64-llama2-7b.yaml")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such file":    {[]string{"run", "nothing.yaml"}, "no such file"},
		"a folder":        {[]string{"run", "."}, "not a regular file"},
		"a device":        {[]string{"run", "/dev/zero"}, "not a regular file"},
		"10 GB":           {[]string{"run", "big.yaml"}, "10737418240 bytes"},
		"binary":          {[]string{"run", "binary.yaml"}, "binary file"},
		"unknown command": {[]string{"rum"}, `unknown command "rum", did you mean`},
		"unknown flag":    {[]string{"run", pod, "--fast"}, "unknown flag"},
		"bad set":         {[]string{"run", pod, "--set", "lb=warp"}, "accepted: ecmp"},
		"many hosts":      {[]string{"run", pod, "--set", "fabric.hosts=1000000000"}, "100000"},
		"too many GPUs": {[]string{"check", pod, "--set", "workload.training.dp=999"},
			"workload.training"},
		"headroom": {[]string{"run", pod, "--set", "switch.queues.3.headroom=20MB"}, "headroom"},
		"out below a file": {[]string{"run", filepath.Join(dir, "three-flows.yaml"), "--out",
			"binary.yaml/x"}, "not a directory"},
		"bad seeds": {[]string{"compare", pod, "--seeds", "0"}, "--seeds"},
		"too many variants": {[]string{"compare", pod, "--set", "seed=" + strings.Repeat("1,", study.MaxVariants) + "1"},
			"variants"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := call(t, c.args...)
			if code != 2 || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") > 2 {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, out, errs, c.want)
			}
		})
	}
	if _, err := os.Stat("runs"); err == nil {
		t.Error("bad input left a runs folder")
	}
}

func TestOutputFits(t *testing.T) {
	dir := scenarios(t)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"run", filepath.Join(dir, "fattree128-incast32.yaml")},
		{"topo", filepath.Join(dir, "pod64-llama2-7b.yaml")},
		{"compare", filepath.Join(dir, "three-flows.yaml"), "--set", "lb=ecmp,flowlet,spray"},
		{"check", filepath.Join(dir, "pod64-alltoall.yaml")},
		{"version"}, {"--help"}, {"run", "--help"}, {"compare", "--help"},
	} {
		code, out, errs := call(t, args...)
		if code != 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
		for _, l := range strings.Split(out, "\n") {
			if n := len([]rune(l)); n > 100 {
				t.Errorf("%v prints a line of %d columns: %s", args, n, l)
			}
		}
	}
}

func TestJSON(t *testing.T) {
	dir := scenarios(t)
	t.Chdir(t.TempDir())
	_, out, _ := call(t, "run", filepath.Join(dir, "three-flows.yaml"), "--json")
	var m map[string]any
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"step_time_ps", "compute_ps", "exposed_comm_ps", "packets", "packet_hops",
		"data_packet_hops", "wall_seconds",
		"sim_seconds", "peak_memory_bytes", "ecn_marks", "cnps", "pfc_pauses", "pfc_pause_ps", "drops",
		"retransmissions", "out_of_order",
		"collectives", "flow_completion_ps"} {
		if _, ok := m[k]; !ok {
			t.Errorf("summary lacks %s", k)
		}
	}
	for _, args := range [][]string{
		{"topo", filepath.Join(dir, "three-flows.yaml"), "--json"},
		{"check", filepath.Join(dir, "three-flows.yaml"), "--json"}, {"version", "--json"},
	} {
		if _, out, _ := call(t, args...); !json.Valid([]byte(out)) {
			t.Errorf("%v prints no JSON", args)
		}
	}
}

// Commands that read only the fabric need no workload; those that run one report that there is none.
func TestFabricWithoutWorkload(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(scenarios(t), "clusters", "converged.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "\nworkload:")
	dir := t.TempDir()
	idle := filepath.Join(dir, "idle.yaml")
	if err := os.WriteFile(idle, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	_, want, _ := call(t, "topo", filepath.Join(scenarios(t), "clusters", "converged.yaml"))
	if code, out, errs := call(t, "topo", idle); code != 0 || out != want {
		t.Errorf("topo: %d, %s, %s", code, out, errs)
	}
	texts := filepath.Join(dir, "texts")
	if code, _, errs := call(t, "config", "render", idle, "--os", "sonic", "--out", texts,
		"--hwsku", "ACS-SN5600"); code != 0 {
		t.Errorf("render: %d, %s", code, errs)
	}
	if code, out, errs := call(t, "config", "lint", texts, "--fabric", idle); code > 1 {
		t.Errorf("lint: %d, %s, %s", code, out, errs)
	}
	if code, _, errs := call(t, "check", idle); code != 2 || !strings.Contains(errs, "holds 0 workloads") {
		t.Errorf("check: %d, %s", code, errs)
	}
}

// NICs whose ports are in separate planes have an address per port, and no cable connects the planes. A pair below
// common spines keeps its bundle and its peer link.
func TestRenderPlanes(t *testing.T) {
	pairs := filepath.Join(t.TempDir(), "pairs.yaml")
	const pod = "fabric: {kind: pod, hosts: 2, segments: 1, spines: 2, host_link: {rate: 400Gbps, " +
		"cable: 3m}}\nserver: {gpus: 2, nics: 2, nic_ports: 2}\n"
	if err := os.WriteFile(pairs, []byte(pod), 0o644); err != nil {
		t.Fatal(err)
	}
	for scenario, planes := range map[string]int{
		filepath.Join(scenarios(t), "clusters", "pollara.yaml"): 4, pairs: 0} {
		dir, file := filepath.Join(t.TempDir(), "texts"), filepath.Base(scenario)
		if code, _, errs := call(t, "config", "render", scenario, "--os", "nxos", "--out", dir, "--set",
			"lb=dlb"); code != 0 { // unlike spraying in turn
			t.Fatalf("%s: %d, %s", file, code, errs)
		}
		cables, err1 := os.ReadFile(filepath.Join(dir, "cabling.csv"))
		addresses, err2 := os.ReadFile(filepath.Join(dir, "addressing.csv"))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if bytes.Contains(cables, []byte("peer link")) != (planes == 0) ||
			strings.Count(string(addresses), "host-1,nic1 port ") != planes {
			t.Errorf("%s: not %d planes: %s", file, planes, addresses)
		}
		if code, out, errs := call(t, "config", "lint", dir, "--fabric", scenario); code != 0 {
			t.Errorf("%s: lint says %d, %s, %s", file, code, out, errs)
		}
	}
}

func TestDot(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skip("graphviz is not installed")
	}
	_, out, _ := call(t, "topo", filepath.Join(scenarios(t), "pod64-llama2-7b.yaml"), "--dot")
	cmd := exec.Command("dot", "-Tplain")
	cmd.Stdin = strings.NewReader(out)
	plain, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(plain), "node ") != 16 {
		t.Errorf("%v: %s", err, plain)
	}
	// Servers that share NVLink are in a frame with its name.
	_, out, _ = call(t, "topo", filepath.Join(scenarios(t), "clusters", "nvl72.yaml"), "--dot",
		"--set", "fabric.nodes.tray.per.rack=2", "--set", "fabric.nodes.tray.per.tray=3")
	cmd = exec.Command("dot", "-Tsvg")
	cmd.Stdin = strings.NewReader(out)
	svg, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(svg), `class="cluster"`) != 2 ||
		!strings.Contains(string(svg), "rack 2: 12 GPUs share NVLink") ||
		strings.Contains(string(svg), "Warning") {
		t.Errorf("%v: %s", err, svg)
	}
}
