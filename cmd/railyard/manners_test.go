package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/long"
	"railyard/internal/runner"
)

// dynamicBuffers is a SONiC switch with its usual dynamic thresholds.
const dynamicBuffers = `{"PORT": {"Ethernet0": {"lanes": "0"}}, "DEVICE_METADATA": {"localhost": {}},
"BUFFER_POOL": {"ingress_lossless_pool": {"mode": "dynamic", "size": "12766208", "type": "ingress"}},
"BUFFER_PROFILE": {"pg": {"pool": "ingress_lossless_pool", "dynamic_th": "-3", "size": "56368",
  "xoff": "55120", "xon": "18432", "xon_offset": "2496"}},
"BUFFER_PG": {"Ethernet0|3-4": {"profile": "pg"}}, "SCHEDULER": {"s": {"type": "DWRR", "weight": "15"}},
"WRED_PROFILE": {"w": {"ecn": "ecn_all", "green_min_threshold": "1048576",
  "green_max_threshold": "2097152", "green_drop_probability": "5"}},
"QUEUE": {"Ethernet0|3-4": {"wred_profile": "w", "scheduler": "s"}},
  "DSCP_TO_TC_MAP": {"A": {"3": "3", "4": "4"}},
"TC_TO_QUEUE_MAP": {"A": {"3": "3", "4": "4"}}, "TC_TO_PRIORITY_GROUP_MAP": {"A": {"3": "3", "4": "4"}},
"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4", "dscp_to_tc_map": "A", "tc_to_queue_map": "A",
  "tc_to_pg_map": "A"}}}`

// commandsShown are commands that print tables, sentences and lists, with a run and
// rendered configurations at hand.
func commandsShown(t *testing.T) (list [][]string) {
	dir := scenarios(t)
	smallFile(t)
	long := strings.Repeat("a-folder-with-a-long-name/", 4)
	os.MkdirAll(long, 0o755)
	seed, _ := os.ReadFile(filepath.Join(dir, "configs", "seed-dcqcn.cfg"))
	os.WriteFile(long+"leaf.cfg", seed, 0o644)
	os.WriteFile("dynamic.json", []byte(dynamicBuffers), 0o644)
	for _, args := range [][]string{
		{"run", "small.yaml", "--out", "r"},
		{"config", "render", filepath.Join(dir, "lab-2x2.yaml"), "--os", "nxos", "--out", "cfgs"},
	} {
		if code, _, errs := call(t, args...); code != 0 {
			t.Fatal(errs)
		}
	}
	at := func(f string) string { return filepath.Join(dir, f) }
	return [][]string{
		{"report", "r"}, {"topo", "small.yaml"}, {"topo", at("mixtral-ep8-64.yaml")}, {"check", "small.yaml"},
		{"check", at("pod64-llama2-7b.yaml")},
		{"check", at("three-flows-nxos.yaml")}, {"compare", "r"},
		{"compare", "small.yaml", "--set", "seed=1,2,3,4,5,6,7,8,9,10"},
		{"compare", "small.yaml", "--set", "name=" + strings.Repeat("x", 40) + "," + strings.Repeat("y", 40),
			"--set", "seed=1,2"},
		{"run", "small.yaml", "--out", "r2", "--force"}, {"run", at("pod64-alltoall.yaml"), "--out",
			"r3", "--force", "--set", "workload.traffic.alltoall.bytes=1MiB"},
		{"run", "small.yaml", "--out", "r4", "--force", "--set", "name=" + strings.Repeat("long name ", 20)},
		{"plan", "memory", "gpt3-175b", "--tp", "8", "--pp", "8", "--dp", "16", "--zero", "1"},
		{"plan", "memory", "llama-3.1-405b", "--tp", "8", "--pp", "16", "--dp", "128"},
		{"plan", "memory", "--states", "1T"},
		{"submit", at("llama2-7b.sbatch"), "--cluster", at("pod64-llama2-7b.yaml"), "--dry-run"},
		{"plan", "size", "llama-3.1-405b", "--tokens", "15.6T", "--days", "54"},
		{"plan", "size", "--table", "all"},
		{"plan", "fabric", "--gpus", "1024"}, {"plan", "traffic", at("gpt13b-128.yaml"), "--set",
			"workload.training.global_batch=64"},
		{"plan", "traffic", "small.yaml"},
		{"plan", "search", "gpt3-175b", "--fabric", at("pod64-llama2-7b.yaml"), "--global-batch", "64",
			"--simulate", "0"},
		{"plan", "search", "llama-2-7b", "--fabric", at("pod64-llama2-7b.yaml"), "--global-batch", "64",
			"--simulate", "0"},
		{"config", "lint", long + "leaf.cfg"}, {"config", "lint", "cfgs"},
		{"config", "show", long + "leaf.cfg"}, {"config", "show", "dynamic.json"},
		{"plan", "fabric", "--gpus", "1048576"},
		{"config", "dcbx", "cfgs", "--fabric", at("lab-2x2.yaml")}, {"validate", "sizing"}, {"version"},
		{"config", "tune", at("three-flows.yaml"), "--trials", "4", "--out", "tune", "--force"},
		{"config", "render", at("pod64-llama2-7b.yaml"), "--os", "nxos", "--out", "pod", "--force"},
	}
}

// Every command's output fits 100 columns. As JSON it has keys in snake case, and empty lists for missing ones.
func TestOutputOfAll(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z0-9_]+$`)
	for _, args := range commandsShown(t) {
		_, out, errs := call(t, args...)
		if out == "" {
			t.Errorf("%v prints nothing: %s", args, errs)
		}
		for _, l := range strings.Split(out, "\n") {
			// stays whole
			path := slices.ContainsFunc(strings.Fields(l), func(w string) bool { return len(w) > 90 })
			if n := len([]rune(l)); n > 100 && !path {
				t.Errorf("%v prints a line of %d columns: %s", args, n, l)
			}
		}
		_, out, errs = call(t, append(args, "--json")...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Errorf("%v: %v, %s", args, err, errs)
		}
		var walk func(path string, v any)
		walk = func(path string, v any) {
			switch v := v.(type) {
			case nil:
				t.Errorf("%v: %s is null", args, path)
			case []any:
				for _, x := range v {
					walk(path+"[]", x)
				}
			case map[string]any:
				data := path == ".resolved" || path == "" && args[0] == "compare" // keys that are values
				for k, x := range v {
					if !data && !snake.MatchString(k) {
						t.Errorf("%v: key %s.%s", args, path, k)
					}
					walk(path+"."+k, x)
				}
			}
		}
		walk("", v)
	}
	_, list, _ := call(t, "help", "all")
	names := regexp.MustCompile(`(?m)^([a-z]+(?: [a-z]+)?) `).FindAllStringSubmatch(list, -1)
	if len(names) < 30 {
		t.Errorf("%d commands in %s", len(names), list)
	}
	_, summary, _ := call(t, "--help")
	for _, name := range append(names, []string{"", ""}) {
		words := strings.Fields(name[1])
		_, out, _ := call(t, append(words, "--help")...)
		for i, l := range strings.Split(out, "\n") {
			if n := len([]rune(l)); n > 80 {
				t.Errorf("%v prints a line of %d columns: %s", name, n, l)
			}
			if n := len([]rune(l)); i == 0 && n > 80-len("  plan interference  ") && name[1] != "" {
				t.Errorf("%v has a summary of %d columns: %s", name, n, l)
			}
		}
		// The summary of all lists a command, or its group.
		last := words[max(len(words)-1, 0):]
		if len(words) > 0 && (words[0] == "plan" || len(words) == 1) &&
			!regexp.MustCompile(`(?m)^  [a-z, ]*\b`+last[0]+`\b`).MatchString(summary) &&
			last[0] != "schema" && last[0] != "version" {
			t.Errorf("no %s in %s", name[1], summary)
		}
	}
	for topic := range helpTopics {
		if code, out, _ := call(t, "help", topic); code != exitOK || len(out) < 100 {
			t.Errorf("help %s: exit %d, %s", topic, code, out)
		}
	}
}

// Common arguments of other programs work here, too.
func TestUsualWords(t *testing.T) {
	smallFile(t)
	for want, args := range map[string][]string{"railyard " + runner.Release: {"--version"},
		"Usage: railyard run SCENARIO [FLAGS]":         {"help", "run"},
		"Usage: railyard config lint [FILE …] [FLAGS]": {"help", "config", "lint"},
		"Usage: railyard COMMAND":                      {"help"}} {
		if code, out, errs := call(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: exit %d: %s%s", args, code, out, errs)
		}
	}
	if code, _, errs := call(t, "help", "rum"); code != 2 || !strings.Contains(errs, "rum") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A scenario is read from standard input like from a file, and its errors have a position there.
func TestStandardInput(t *testing.T) {
	smallFile(t)
	for _, c := range []struct {
		text, want string
		code       int
	}{
		{small, "Results: out ", 0},
		{"name: x\nfabrik: {}\n", "standard input:2:1: fabrik: unknown key", 2},
		{"", "standard input: is empty", 2},
	} {
		os.RemoveAll("out")
		cmd := railyard("run", "-", "--out", "out")
		cmd.Env = append(os.Environ(), "RAILYARD_CHILD=stdin")
		cmd.Stdin = strings.NewReader(c.text)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("exit %d: %s", code, out)
		}
	}
}

// A report that cannot be printed is a failure of any command. A reader that closes its end is not.
func TestNothingPrinted(t *testing.T) {
	smallFile(t)
	for _, args := range [][]string{{"--help"}, {"version"}, {"check", "small.yaml"},
		{"run", "small.yaml", "--out", "r", "--force"},
		{"run", "small.yaml", "--out", "r", "--force", "--json"}, {"schema"},
		{"topo", "small.yaml", "--dot"}} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		var errs bytes.Buffer
		if code := Main(args, full, &errs); code != 1 || strings.Count(errs.String(), "\n") != 1 ||
			!strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
		full.Close()
		r, w, _ := os.Pipe()
		r.Close()
		if code := Main(args, w, &errs); code != 0 {
			t.Errorf("%v into a closed pipe: exit %d", args, code)
		}
		w.Close()
	}
	if s, err := whole("r"); err != nil || !s.Complete {
		t.Error("the run is lost with its report:", err)
	}
}

// Damaged input is an input error, whichever file of a run it is.
func TestDamagedRun(t *testing.T) {
	smallFile(t)
	if code, _, errs := call(t, "run", "small.yaml", "--out", "good"); code != 0 {
		t.Fatal(errs)
	}
	files, _ := os.ReadDir("good")
	for _, f := range files {
		for how, damage := range map[string]func([]byte) []byte{
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"empty":   func(b []byte) []byte { return nil },
			"garbage": func(b []byte) []byte { return bytes.Repeat([]byte{0xa5}, len(b)) },
		} {
			os.RemoveAll("bad")
			os.CopyFS("bad", os.DirFS("good"))
			b, _ := os.ReadFile(filepath.Join("good", f.Name()))
			os.WriteFile(filepath.Join("bad", f.Name()), damage(b), 0o644)
			commands := [][]string{{"report", "bad"}, {"compare", "bad"}}
			if how == "cut" || long.On() {
				commands = append(commands, []string{"report", "bad", "--png", "plots", "--force"},
					[]string{"report", "bad", "--html", "x.html", "--force"})
			}
			for _, args := range commands {
				code, _, errs := call(t, args...)
				if code != 0 && code != 2 || code == 2 &&
					(strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "bad")) {
					t.Errorf("%s %s, %v: exit %d: %s", f.Name(), how, args, code, errs)
				}
			}
		}
	}
}

// An override that cannot be is the override's fault, not a line's of the file.
func TestSetIsBlamed(t *testing.T) {
	smallFile(t)
	for set, want := range map[string]string{
		"transport.cnp_dscp=99":        "--set transport.cnp_dscp=99: 99 is out of range",
		"fabric.hosts=99999999":        "--set fabric.hosts=99999999: 99999999 is out of range",
		"switch.queues.3.xoff=99999GB": "--set switch.queues.3.xoff=99999GB: 99999GB is out of range",
	} {
		if code, _, errs := call(t, "check", "small.yaml", "--set", set); code != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", set, code, errs)
		}
	}
	os.WriteFile("bad.yaml", []byte(strings.Replace(small, "hosts: 4", "hosts: 99999999", 1)), 0o644)
	if code, _, errs := call(t, "check", "bad.yaml", "--set", "fabric.spines=1"); code != 2 ||
		!strings.Contains(errs, "bad.yaml:2:") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A text whose lines end in carriage returns alone is read like any other.
func TestCarriageReturns(t *testing.T) {
	seed, err := os.ReadFile(filepath.Join(scenarios(t), "configs", "seed-dcqcn.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var first string
	for _, end := range []string{"\n", "\r\n", "\r"} {
		os.WriteFile("x.cfg", bytes.ReplaceAll(seed, []byte("\n"), []byte(end)), 0o644)
		code, out, errs := call(t, "config", "lint", "x.cfg")
		if first == "" {
			first = fmt.Sprint(code, out, errs)
		}
		if got := fmt.Sprint(code, out, errs); got != first || !strings.Contains(got, "31 of 33 lines recognized") {
			t.Errorf("%q: %s\nwith line feeds: %s", end, got, first)
		}
		os.WriteFile("x.yaml", []byte(strings.ReplaceAll(small, "\n", end)), 0o644)
		if code, _, errs := call(t, "check", "x.yaml"); code != 0 {
			t.Errorf("%q: %s", end, errs)
		}
	}
}

// Without a terminal a long simulation reports its progress once a minute, over all simulations of a command.
func TestLineAMinute(t *testing.T) {
	var errs bytes.Buffer
	now := time.Unix(1_800_000_000, 0)
	e := &env{stderr: &errs, told: now.Add(-30 * time.Second), now: func() time.Time { return now }}
	m := newMeter(e)
	now = now.Add(29 * time.Second)
	if m.show(0.25, "a"); errs.Len() > 0 {
		t.Error("told before a minute was over")
	}
	now = now.Add(time.Second)
	e.doing = "lb=spray"
	m.show(0.25, "a")
	newMeter(e).show(0.5, "b")
	if got := errs.String(); got != "lb=spray  a  25 %  ETA 1m30s\n" {
		t.Errorf("%q", got)
	}
}

// Errors fit the screen on a terminal, and are single lines for programs.
func TestComplaints(t *testing.T) {
	fault := "scenario.yaml:3:7: fabric.kind: " + strings.Repeat("a long story ", 30) + "end"
	var people, programs bytes.Buffer
	complain(&people, fault, true)
	complain(&programs, fault, false)
	for _, line := range strings.Split(people.String(), "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if got := strings.Join(strings.Fields(people.String()), " "); got != "error: "+fault {
		t.Errorf("words are lost: %s", got)
	}
	if programs.String() != "error: "+fault+"\n" {
		t.Errorf("%q", programs.String())
	}
}
