package railyard

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed lists the permitted imports inside the module. Every package may import unit and internal/field. It
// matches the pictures of DESIGN and ARCHITECTURE.md.
var allowed = map[string][]string{
	"unit":           {},
	"internal/field": {},
	"roce":           {},
	"param":          {},
	"internal/cause": {},
	"cc":             {"param"},
	"entropy":        {"param"},
	"cc/cctest":      {"cc"},
	"rc":             {"roce", "cc"},
	"transport":      {"rc", "roce", "cc", "param"},

	"transport/window":         {"rc", "transport"},
	"falcon":                   {"transport", "transport/window", "rc", "cc", "param", "internal/rng"},
	"srd":                      {"transport", "transport/window", "rc", "roce", "cc", "param", "internal/rng"},
	"tcp":                      {"transport", "transport/window", "rc", "roce", "cc", "param"},
	"mrc":                      {"transport", "rc", "cc", "param", "roce", "internal/rng", "internal/cache"},
	"transport/protocols":      {"transport", "mrc", "srd", "falcon", "tcp"},
	"transport/transporttest":  {"transport", "cc", "param", "rc", "internal/rng"},
	"rcudp":                    {"rc", "roce", "cc", "entropy", "transport", "param"},
	"verbs":                    {"rc", "rcudp", "roce", "cc", "entropy", "transport", "transport/protocols"},
	"internal/input":           {},
	"internal/output":          {"internal/input"},
	"internal/scenariofile":    {"internal/input", "internal/scenario", "internal/swconf/cli"},
	"internal/capture":         {"internal/input", "roce"},
	"internal/lobby":           {"verbs"},
	"internal/perftest":        {"cc", "entropy", "internal/capture", "internal/input", "internal/lobby", "verbs", "rcudp"},
	"internal/allreduce":       {"internal/lobby", "verbs", "rcudp"},
	"internal/speed":           {"internal/ranks", "internal/result", "scenarios"},
	"internal/ranks":           {"internal/input", "internal/runner", "internal/slurm"},
	"internal/allreduce/rates": {"cc", "internal/output"},
	"internal/allreduce/launch": {"internal/allreduce", "internal/allreduce/rates", "internal/input", "internal/perftest",
		"internal/ranks", "verbs"},
	"internal/lab/load": {"cc", "internal/allreduce", "internal/allreduce/rates", "internal/lab", "internal/perftest",
		"internal/ranks", "internal/route", "internal/scenario", "roce"},
	"internal/perftest/bench": {"internal/perftest", "internal/ranks", "roce", "verbs"},
	"internal/lab": {"internal/topo", "internal/queue", "internal/swconf", "internal/swconf/design",
		"internal/swconf/frr", "roce", "internal/panel"},
	"internal/rng":    {},
	"internal/cache":  {},
	"internal/engine": {},
	"internal/queue":  {"internal/rng", "roce"},
	"internal/route":  {"internal/rng", "entropy", "param"},
	"internal/fabric": {"internal/cache", "internal/engine", "internal/queue", "internal/route",
		"internal/rng", "roce", "transport"},
	"internal/host": {"internal/cache", "internal/engine", "internal/fabric", "internal/route",
		"rc", "cc", "entropy", "roce", "transport"},
	"internal/machine": {"internal/inside"},
	"internal/site": {"internal/inside", "internal/machine", "internal/topo", "internal/panel",
		"internal/sheet"},
	"internal/topo":     {"internal/panel"},
	"internal/deadlock": {"internal/topo"},
	"internal/panel":    {},
	"internal/cabling":  {"internal/slurm", "internal/topo"},
	"internal/counters": {},
	"internal/counters/planted": {"internal/counters", "internal/diagnose", "internal/scenario",
		"internal/sim", "internal/topo"},
	"internal/slurm":     {},
	"internal/jobscript": {"internal/model", "internal/partition", "internal/slurm", "internal/workload"},
	"internal/hostconf": {"cc", "internal/jobscript", "internal/slurm", "internal/swconf",
		"internal/swconf/cli"},
	"internal/coll":      {},
	"internal/sheet":     {},
	"internal/model":     {"internal/sheet"},
	"internal/partition": {"internal/model"},
	"internal/workload":  {"internal/coll", "internal/model", "internal/partition", "internal/rng"},
	"internal/swconf": {"internal/deadlock", "internal/topo", "internal/queue", "internal/swconf/cli",
		"internal/panel"},
	"internal/swconf/cli":      {},
	"internal/swconf/tell":     {"internal/swconf"},
	"internal/swconf/platform": {"internal/sheet"},
	"internal/swconf/nxos": {"internal/swconf", "internal/swconf/cli", "internal/swconf/design",
		"internal/queue"},
	"internal/swconf/sonic": {"internal/swconf", "internal/swconf/cli", "internal/swconf/design",
		"internal/swconf/frr", "internal/swconf/platform", "internal/queue", "internal/topo",
		"internal/panel", "internal/sheet", "internal/field"},
	"internal/swconf/frr": {"internal/swconf", "internal/swconf/cli", "internal/swconf/design"},
	"internal/swconf/eos": {"internal/swconf", "internal/swconf/cli", "internal/swconf/design",
		"internal/queue", "internal/swconf/platform"},
	"internal/swconf/tree": {"internal/swconf", "internal/field"},
	"internal/swconf/nvue": {"internal/swconf", "internal/swconf/cli", "internal/swconf/design",
		"internal/swconf/tree", "internal/swconf/platform", "internal/field", "internal/queue"},
	"internal/swconf/dell": {"internal/swconf", "internal/swconf/cli", "internal/swconf/platform",
		"internal/queue"},
	"internal/swconf/junos": {"internal/swconf", "internal/swconf/cli", "internal/swconf/platform",
		"internal/swconf/design", "internal/swconf/tree", "internal/queue"},
	"internal/swconf/design": {"internal/swconf", "internal/topo", "internal/queue", "internal/panel"},
	"internal/swconf/onto": {"internal/swconf", "internal/swconf/cli", "internal/swconf/dialect",
		"internal/swconf/junos", "internal/swconf/nvue"},
	"internal/swconf/dialect": {"internal/swconf", "internal/swconf/cli", "internal/swconf/nxos",
		"internal/swconf/sonic", "internal/swconf/frr", "internal/swconf/eos", "internal/swconf/nvue",
		"internal/swconf/dell", "internal/swconf/junos",
		"internal/swconf/design",
		"internal/queue"},
	"internal/scenario": {"internal/exec", "internal/inside", "internal/machine", "internal/site", "internal/topo",
		"internal/deadlock",
		"internal/queue", "internal/swconf", "internal/swconf/dialect", "internal/hostconf",
		"internal/route", "internal/workload",
		"internal/coll", "internal/model", "internal/partition", "internal/rng", "internal/trace",
		"cc", "extend", "internal/loaded", "param", "rc",
		"roce", "transport", "transport/protocols"},
	"internal/loaded":   {},
	"internal/assemble": {"internal/input"},
	"extend": {"cc", "internal/cause", "internal/route", "internal/trace", "internal/workload", "transport",
		"transport/protocols"},
	"extend/extendtest": {"cc", "cc/cctest", "extend", "internal/cause", "internal/route", "transport/protocols",
		"transport/transporttest"},
	"simulate":           {"internal/exec", "internal/result", "internal/runner", "internal/scenario", "internal/scenariofile"},
	"internal/tally":     {},
	"internal/stream":    {},
	"internal/measured":  {"internal/coll", "internal/stream", "internal/tally"},
	"internal/calibrate": {"internal/coll", "internal/measured", "internal/result", "internal/scenario", "internal/tally"},
	"internal/calibrate/fitting": {"cc", "internal/calibrate", "internal/capture", "internal/coll", "internal/input",
		"internal/measured", "internal/output", "internal/result", "internal/scenario", "internal/scenariofile",
		"internal/tally", "internal/topo"},
	"internal/trace": {"internal/workload", "internal/coll", "internal/measured", "internal/stream",
		"internal/tally"},
	"internal/dcbx": {"internal/capture", "internal/swconf", "internal/topo", "roce"},
	"internal/planner": {"internal/coll", "internal/model", "internal/partition", "internal/site", "internal/topo",
		"internal/workload"},
	"internal/planner/named": {"internal/input", "internal/model", "internal/planner", "internal/workload"},
	"internal/goodput":       {"internal/rng"},
	"internal/recognise":     {"internal/cabling", "internal/site", "internal/topo", "internal/panel"},
	"internal/result":        {"internal/input", "internal/output", "internal/cause"},
	"internal/inside":        {"internal/sheet"},
	"internal/exec":          {"internal/fluid", "internal/inside", "internal/workload"},
	"internal/fluid":         {},
	"internal/facts":         {"cc", "internal/cause", "internal/coll", "internal/result", "internal/scenario", "internal/topo", "rc", "roce"},
	"internal/explain": {"internal/parallel", "internal/cause", "internal/facts", "internal/fluid", "internal/exec", "internal/inside", "internal/scenario", "internal/result", "internal/topo",
		"internal/workload", "internal/coll", "internal/queue", "rc", "roce"},
	"internal/sim": {"internal/counters", "internal/parallel", "internal/workload", "internal/exec", "internal/explain", "internal/panel",
		"internal/scenario",
		"internal/result",
		"internal/engine", "internal/fabric", "internal/host", "internal/queue", "internal/route",
		"internal/rng",
		"internal/topo", "rc", "cc", "param", "roce", "transport"},
	"internal/flows": {"internal/engine", "internal/exec", "internal/explain", "internal/fluid", "internal/result",
		"internal/scenario", "internal/sim", "internal/topo", "rc", "roce", "internal/workload", "transport"},
	"internal/reuse": {"internal/exec", "internal/explain", "internal/fluid", "internal/host", "internal/result", "internal/rng",
		"internal/scenario", "internal/sim", "internal/topo"},
	"internal/fidelity": {"cc", "internal/coll", "internal/exec", "internal/flows", "internal/result", "internal/reuse",
		"internal/scenario", "internal/sim", "internal/workload", "scenarios"},
	"internal/whatif": {"internal/cause", "internal/facts", "internal/exec", "internal/fidelity", "internal/parallel",
		"internal/queue", "internal/partition", "internal/result", "internal/scenario", "internal/topo", "internal/workload", "rc", "roce"},
	"internal/validate": {"internal/cause", "internal/facts", "internal/exec", "internal/fidelity",
		"internal/engine", "internal/fabric", "internal/coll", "internal/workload",
		"internal/partition", "internal/planner", "internal/goodput", "internal/sim", "internal/scenario",
		"internal/result", "internal/reuse", "internal/calibrate", "internal/measured", "internal/hostconf",
		"internal/counters/planted",
		"internal/model", "internal/queue", "internal/rng", "internal/route", "rc", "cc", "roce",
		"tcp", "internal/topo", "scenarios", "internal/validate/draw", "internal/whatif"},
	"internal/validate/draw": {"internal/cause", "internal/rng", "internal/scenario", "internal/sim",
		"internal/topo"},
	"internal/tune": {"internal/rng"},
	"internal/runner": {"internal/exec", "internal/fidelity", "internal/scenario", "internal/result",
		"internal/capture", "internal/input"},
	"internal/study": {"cc", "internal/exec", "internal/fidelity", "internal/input", "internal/partition", "internal/result", "internal/runner",
		"internal/scenario", "internal/scenariofile"},
	"internal/identify": {"internal/cabling", "internal/calibrate/fitting", "internal/capture", "internal/counters",
		"internal/diagnose", "internal/diagnose/readings", "internal/hostconf", "internal/input", "internal/jobscript",
		"internal/machine", "internal/measured",
		"internal/report", "internal/report/screen", "internal/result", "internal/scenariofile", "internal/study/sweep",
		"internal/swconf", "internal/swconf/dialect", "internal/trace"},
	"internal/query":  {"internal/input", "internal/report/screen", "internal/result"},
	"internal/expect": {"internal/cause", "internal/result"},
	"internal/completion": {"internal/model", "internal/reference", "internal/report/usage", "internal/scenario",
		"internal/scenariofile", "internal/site"},
	"internal/draft":       {"internal/model", "internal/partition", "internal/site", "internal/workload"},
	"internal/study/space": {},
	"internal/study/sweep": {"internal/cause", "internal/exec", "internal/fidelity", "internal/input", "internal/output", "internal/result",
		"internal/runner", "internal/scenario", "internal/scenariofile", "internal/study", "internal/study/space", "internal/workload"},
	"internal/study/batch": {"internal/input", "internal/output", "internal/runner", "internal/study",
		"internal/study/sweep"},
	"internal/study/workers":   {"internal/study", "internal/study/batch", "internal/study/jetstream", "internal/study/sweep"},
	"internal/study/jetstream": {"internal/input", "internal/runner", "internal/study", "internal/study/sweep"},
	"internal/study/failures": {"internal/fidelity", "internal/result", "internal/input", "internal/planner",
		"internal/route", "internal/runner", "internal/scenario", "internal/scenariofile", "internal/study", "rc"},
	"internal/study/load": {"internal/result", "internal/scenario", "internal/scenariofile", "internal/study"},
	"internal/study/interference": {"internal/input", "internal/result", "internal/scenario", "internal/study",
		"internal/workload"},
	"internal/study/layouts": {"internal/fidelity", "internal/flows", "internal/model", "internal/partition", "internal/result", "internal/planner", "internal/scenario", "internal/scenariofile", "internal/study",
		"internal/workload",
		"internal/topo"},
	"internal/study/tuning": {"cc", "param", "internal/devices", "internal/hostconf", "internal/input", "internal/render",
		"internal/runner", "internal/scenario", "internal/scenariofile", "internal/study",
		"internal/swconf", "internal/swconf/design", "internal/swconf/dialect", "internal/topo", "internal/tune"},
	"internal/study/days": {"internal/goodput", "internal/input", "internal/planner", "internal/result",
		"internal/scenario", "internal/scenariofile", "internal/study/layouts", "internal/workload"},
	"internal/study/collectives": {"internal/coll", "internal/result", "internal/scenario", "internal/scenariofile", "internal/study"},
	"internal/pasted": {"internal/configuration", "internal/counters", "internal/devices", "internal/diagnose",
		"internal/diagnose/readings", "internal/field", "internal/input", "internal/model", "internal/partition",
		"internal/planner", "internal/scenario", "internal/study", "internal/study/failures", "internal/study/layouts",
		"internal/swconf", "internal/swconf/dialect", "internal/workload"},
	"internal/configuration": {"internal/cabling", "internal/hostconf", "internal/input", "internal/queue", "internal/scenario",
		"internal/swconf", "internal/swconf/cli", "internal/swconf/dialect", "internal/topo"},
	"internal/render": {"cc", "internal/configuration", "internal/devices", "internal/hostconf", "internal/input",
		"internal/output", "internal/queue", "internal/route", "internal/scenario", "internal/scenariofile", "internal/swconf",
		"internal/swconf/cli", "internal/swconf/design", "internal/swconf/dialect", "internal/swconf/onto",
		"internal/swconf/sonic", "internal/topo"},
	"internal/devices": {"internal/input", "internal/swconf", "internal/swconf/cli", "internal/swconf/sonic",
		"internal/topo"},
	"internal/swconf/findings": {"docs/rules", "internal/input", "internal/runner", "internal/swconf"},
	"internal/submission": {"internal/coll", "internal/fidelity", "internal/input", "internal/jobscript", "internal/model",
		"internal/output", "internal/scenario", "internal/scenariofile", "internal/slurm", "internal/topo"},
	"internal/report/plot": {"cc", "internal/allreduce/rates", "internal/calibrate/fitting", "internal/cause",
		"internal/goodput", "internal/input", "internal/report", "internal/lab/load", "internal/output", "internal/perftest/bench", "internal/planner",
		"internal/report/svg", "internal/report/table", "internal/report/web", "internal/result", "internal/study/failures",
		"internal/study/interference", "internal/study/load", "internal/study/space", "internal/study/sweep",
		"internal/tune"},
	"internal/report/sequence": {"internal/report/screen", "internal/report/svg", "internal/result"},
	"internal/report/svg":      {},
	"internal/report/table": {"internal/allreduce", "internal/calibrate", "internal/calibrate/fitting",
		"internal/capture", "internal/dcbx", "internal/goodput", "internal/lab", "internal/lab/load",
		"internal/model", "internal/partition", "internal/perftest", "internal/study/collectives",
		"internal/perftest/bench", "internal/planner", "internal/report", "internal/report/screen",
		"internal/scenario", "internal/sheet", "internal/slurm", "internal/study/days", "internal/study/failures",
		"internal/speed", "internal/study/interference", "internal/submission",
		"internal/study/layouts", "internal/study/load", "internal/study/space", "internal/study/sweep",
		"internal/study/tuning", "internal/swconf",
		"internal/cabling", "internal/swconf/onto", "internal/topo", "internal/tune", "internal/validate", "roce",
		"verbs", "internal/workload"},
	"internal/importing": {"internal/cabling", "internal/fidelity", "internal/input", "internal/jobscript",
		"internal/machine",
		"internal/model", "internal/output", "internal/recognise", "internal/report", "internal/scenario",
		"internal/scenariofile", "internal/slurm", "internal/trace"},
	"internal/story":     {},
	"internal/long":      {},
	"internal/published": {},
	"internal/parallel":  {},

	"internal/ci/measure":  {},
	"internal/ci/controls": {"cc", "internal/flows", "internal/scenario"},
	"internal/ci/accuracy": {"internal/fidelity"},
	"internal/ci/figures":  {},
	"internal/ci/mutants":  {},
	"internal/ci/same":     {},
	"internal/ci/arrow":    {}, // a separate module
	"scenarios":            {},
	"docs/rules":           {},
	"docs":                 {},
	"internal/manual":      {"internal/output"},
	"internal/reference": {"docs", "docs/rules", "internal/cause", "internal/diagnose", "internal/fidelity",
		"internal/manual", "internal/result", "internal/scenario", "internal/sheet", "internal/swconf"},
	"internal/report/web": {"internal/cause", "internal/whatif", "internal/study", "internal/study/space",
		"internal/study/sweep", "internal/report/table", "internal/pasted", "internal/input", "internal/result",
		"internal/runner", "internal/scenario",
		"internal/exec", "internal/fidelity", "internal/capture", "internal/report", "internal/report/sequence",
		"roce"},
	"internal/diagnose":          {"internal/cabling", "internal/counters", "internal/queue", "internal/swconf"},
	"internal/diagnose/readings": {"internal/counters", "internal/diagnose", "internal/input", "internal/output"},
	"internal/gnmi":              {"internal/counters", "internal/input"},
	"internal/prometheus":        {"internal/counters", "internal/input"},
	"internal/gnmi/gnmitest":     {"internal/counters"},
	"internal/report": {"internal/cause", "internal/diagnose", "internal/result", "internal/route", "internal/swconf",
		"internal/report/screen", "internal/tune"},
	"internal/report/screen": {},
	"internal/report/usage":  {"internal/manual", "internal/report/screen"},
}

// edge packages may access the outside world; all others are cores.
var edge = []string{"rcudp", "verbs", "internal/input", "internal/capture", "internal/lobby",
	"internal/perftest", "internal/perftest/bench", "internal/ranks", "internal/allreduce",
	"internal/allreduce/rates", "internal/allreduce/launch", "internal/lab", "internal/lab/load", "internal/result", "internal/runner",
	"cc/cctest", "transport/transporttest", "internal/gnmi", "internal/gnmi/gnmitest",
	"internal/story", "internal/long", "internal/published", "internal/parallel",
	"internal/ci/measure", "internal/ci/figures", "internal/ci/controls", "internal/ci/accuracy",
	"internal/ci/mutants", "internal/ci/same", "internal/ci/arrow", "internal/speed",
	"internal/report", "internal/report/web", "internal/report/sequence", "internal/report/usage", "scenarios",
	"internal/output", "internal/scenariofile", "internal/study", "internal/study/days", "internal/study/batch", "internal/study/jetstream",
	"internal/study/workers",
	"internal/study/space",
	"internal/study/sweep",
	"internal/calibrate/fitting", "internal/study/failures", "internal/completion",
	"internal/configuration", "internal/diagnose/readings", "internal/pasted",
	"internal/render", "internal/planner/named",
	"internal/devices",
	"internal/identify", "internal/importing", "internal/query", "internal/prometheus", "internal/assemble", "extend/extendtest", "simulate", "internal/manual"}

// banned lists imports that no core may have: the outside world, the clock, locks.
var banned = []string{"net", "os", "time", "sync", "math/rand", "math/rand/v2", "net/http", "syscall",
	"os/exec", "os/signal"}

// TestImports keeps the import direction and the purity of the cores.
func TestImports(t *testing.T) {
	for pkg, imports := range imports(t) {
		if strings.HasPrefix(pkg, "cmd/") { // commands may import all packages, and no package imports them
			continue
		}
		ok, known := allowed[pkg]
		if !known {
			t.Errorf("package %s has no line in the table of allowed imports", pkg)
			continue
		}
		for _, imp := range imports {
			if in, mine := strings.CutPrefix(imp, "railyard/"); mine {
				if in != "unit" && in != "internal/field" && !slices.Contains(ok, in) {
					t.Errorf("%s imports %s, which it may not", pkg, in)
				}
			} else if !slices.Contains(edge, pkg) && slices.Contains(banned, imp) {
				t.Errorf("core package %s imports %s: pass it in instead", pkg, imp)
			}
		}
	}
}

// imports returns the imports of each package's non-test files.
func imports(t *testing.T) map[string][]string {
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// the last three are modules
		skip := []string{".git", "runs", "testdata", "examples", "release", "liberation"}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		for _, i := range f.Imports {
			out[pkg] = append(out[pkg], strings.Trim(i.Path.Value, `"`))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTidy checks the house rules that need no linter: no package named util, utils, common or helpers, and no file
// of too many lines.
func TestTidy(t *testing.T) {
	files, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	for _, f := range strings.Fields(string(files)) {
		for _, part := range strings.Split(filepath.Dir(f), "/") {
			if slices.Contains([]string{"util", "utils", "common", "helpers"}, part) {
				t.Errorf("%s: no package of that name", f)
			}
		}
		if strings.HasSuffix(f, ".go") {
			checkLength(t, f)
		}
	}
}
