package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/route"
	"railyard/internal/swconf"
	"railyard/internal/swconf/dialect"
)

const (
	labScenario  = "../../scenarios/lab-2x2.yaml"
	flowScenario = "../../scenarios/three-flows.yaml"
	seedConfig   = "../../scenarios/configs/seed-dcqcn.cfg"
)

func TestConfigLint(t *testing.T) {
	code, out, _ := call(t, "config", "lint", seedConfig, "--json")
	var list []swconf.Finding
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != exitFailed {
		t.Fatalf("exit %d, %v", code, err)
	}
	rules := map[string]int{}
	for _, f := range list {
		rules[f.Rule]++
		if f.File != seedConfig || f.Line == 0 || f.Why == "" || f.Fix == "" || f.Severity == "" {
			t.Errorf("%+v", f)
		}
	}
	if rules["unknown-line"] != 2 || rules["lldp-off"] != 1 || rules["bandwidth-left"] != 1 ||
		len(rules) != 3 {
		t.Errorf("rules %v", rules)
	}
	code, out, _ = call(t, "config", "lint", seedConfig, "--sarif")
	var sarif struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &sarif); err != nil || code != exitFailed ||
		sarif.Version != "2.1.0" || len(sarif.Runs[0].Results) != len(list) ||
		len(sarif.Runs[0].Tool.Driver.Rules) != len(swconf.Rules()) ||
		sarif.Runs[0].Results[0].Locations[0].PhysicalLocation.Region.StartLine != list[0].Line {
		t.Errorf("SARIF: exit %d, %v, %+v", code, err, sarif.Version)
	}
	good := filepath.Join(t.TempDir(), "good.cfg")
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(good, append([]byte("feature lldp\n"), bytes.ReplaceAll(text, []byte("  ...\n"), nil)...),
		0o644)
	if code, out, _ := call(t, "config", "lint", good); code != exitOK ||
		!strings.Contains(out, "0 errors, 1 warning, 0 notes") {
		t.Errorf("exit %d: %s", code, out)
	}
	moved := filepath.Join(t.TempDir(), "26.cfg")
	text, _ = os.ReadFile(good)
	os.WriteFile(moved, bytes.Replace(text, []byte("match dscp 24"), []byte("match dscp 26"), 1), 0o644)
	if code, out, _ := call(t, "config", "lint", moved); code != exitOK {
		t.Errorf("RoCE on DSCP 26: exit %d: %s", code, out)
	}
	if code, out, _ := call(t, "config", "lint", moved, "--data-dscp", "24"); code != exitFailed ||
		!strings.Contains(out, "dscp-unmapped") {
		t.Errorf("RoCE on DSCP 26, told 24: exit %d: %s", code, out)
	}
	if _, out, _ := call(t, "config", "lint", good, "--json"); !strings.HasPrefix(out, "[") {
		t.Errorf("no array: %s", out)
	}
}

func TestConfigShow(t *testing.T) {
	code, out, _ := call(t, "config", "show", seedConfig)
	for _, want := range []string{"  DSCP    group  queue",
		"  24          3  c-out-8q-q3         50 %         150KB–3MB 7%  priority 3",
		"  48          7  c-out-8q-q7         strict", "DSCP 24 has PFC and ECN\n(queue 3)"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit %d, %q is missing in\n%s", code, want, out)
		}
	}
	for _, l := range strings.Split(out, "\n") {
		if len(l) > 100 {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
}

// lint reads render's output without a finding. The output is never overwritten without --force, and is equal every
// time.
func TestConfigRender(t *testing.T) {
	for _, os_ := range []string{"nxos", "sonic", "frr", "eos", "nvue"} {
		dir := filepath.Join(t.TempDir(), "out")
		render := append([]string{"config", "render", labScenario, "--os", os_, "--out", dir},
			onDevice(os_)...)
		if code, _, err := call(t, render...); code != exitOK {
			t.Fatalf("%s: exit %d: %s", os_, code, err)
		}
		if code, out, err := call(t, "config", "lint", dir, "--fabric", labScenario,
			"--json"); code != exitOK || strings.TrimSpace(out) != "[]" {
			t.Errorf("%s: exit %d: %s%s", os_, code, out, err)
		}
		before := tree(t, dir)
		if code, _, err := call(t, render...); code != exitInput || !strings.Contains(err,
			"--force replaces it") {
			t.Errorf("%s: exit %d: %s", os_, code, err)
		}
		if code, _, err := call(t, append(render, "--force")...); code != exitOK || tree(t, dir) != before {
			t.Errorf("%s: exit %d, the second rendering differs: %s", os_, code, err)
		}
	}
}

// Every load balancing is rendered in every language or rejected with an alternative; none is omitted.
func TestRenderedBalancing(t *testing.T) {
	rendered := map[string]string{"flowlet": "nxos eos junos", "spray-least": "nxos eos nvue junos",
		"dlb": "nxos eos nvue junos"}
	const never = "spray spray-random ecmp-resilient glb valiant minimal ugal ugal-g dimension-order minimal-adaptive structured"
	for _, lb := range route.Names() {
		for _, lang := range dialect.Written() {
			dir := filepath.Join(t.TempDir(), "out")
			code, _, errs := call(t, append([]string{"config", "render", labScenario, "--os", lang,
				"--out", dir,
				"--set", "lb=" + lb}, onDevice(lang)...)...)
			want := exitOK
			if in, some := rendered[lb]; some && !strings.Contains(in, lang) ||
				slices.Contains(strings.Fields(never), lb) {
				want = exitInput
			}
			if code != want || code != exitOK && !strings.Contains(errs, "lb") {
				t.Errorf("%s in %s: exit %d, want %d: %s", lb, lang, code, want, errs)
			}
		}
	}
}

// Findings about the scenario's own figures are reported when they are rendered.
func TestRenderNotesOfTheScenario(t *testing.T) {
	code, _, errs := call(t, "config", "render", labScenario, "--os", "eos", "--out", filepath.Join(t.TempDir(), "out"),
		"--set", "switch.queues.3.wred_max=8MB", "--set", "switch.queues.3.xoff=2MB")
	if code != exitOK || !strings.Contains(errs, "wred_max 8MB lies above xoff 2MB") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// tree is every file below a directory with its text.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, e := os.ReadFile(path)
			b.WriteString(path + "\n" + string(text))
			return e
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tshark decodes the LLDP frames as DCBX.
func TestTsharkDCBX(t *testing.T) {
	dir := t.TempDir()
	if code, _, err := call(t, "config", "render", labScenario, "--os", "nxos", "--out",
		dir+"/c"); code != exitOK {
		t.Fatal(err)
	}
	code, out, err := call(t, "config", "dcbx", dir+"/c", "--fabric", labScenario, "--pcap", dir+"/d.pcapng")
	if code != exitOK || !strings.Contains(out, "8 cables, 0 of them with problems") ||
		!strings.Contains(out, "willing, takes the neighbour's") {
		t.Fatalf("exit %d: %s%s", code, out, err)
	}
	if code, _, err := call(t, "config", "dcbx", dir+"/c", "--fabric", labScenario, "--pcap",
		dir+"/d.pcapng"); code != exitInput || !strings.Contains(err, "exists") {
		t.Errorf("the capture is written over: exit %d %s", code, err)
	}
	tshark, lookErr := exec.LookPath("tshark")
	if lookErr != nil {
		t.Skip("tshark is not installed")
	}
	b, e := exec.Command(tshark, "-r", dir+"/d.pcapng", "-T", "fields", "-e", "lldp.tlv.system.name", "-e",
		"lldp.dcbx.ieee.pfc.numtcs", "-e", "lldp.dcbx.feature.pfc.prio3", "-e", "_ws.malformed").Output()
	if e != nil {
		t.Fatal(e, string(b))
	}
	// Eight cables: two frames each, and the four servers report what they accepted.
	s := string(b)
	for line, n := range map[string]int{
		"\n":                     8*2 + 4,
		"host-1\t8\t0\t\n":       1,
		"host-1\t8\t1\t\n":       1,
		"seg-1-rail-1\t8\t1\t\n": 4,
		"spine-2\t8\t1\t\n":      2,
	} {
		if strings.Count(s, line) != n {
			t.Errorf("tshark has %q %d times, want %d:\n%s", line, strings.Count(s, line), n, s)
		}
	}
}

// A search that is interrupted goes on; how many simulations run at a time does
// not matter.
func TestConfigTune(t *testing.T) {
	dir := t.TempDir()
	run := func(out string, args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t,
			append([]string{"config", "tune", flowScenario, "--out", filepath.Join(dir, out), "--json"},
				args...)...)
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout
	}
	one := run("one", "--trials", "30", "--jobs", "1")
	run("two", "--trials", "13", "--jobs", "2")
	if two := run("two", "--trials", "30", "--jobs", "2"); two != one {
		t.Error("a search in two parts, two at a time, differs from one in one part, one at a time")
	}
	for _, name := range []string{"front.csv", "best.sh", "pareto.png"} {
		a, err := os.ReadFile(filepath.Join(dir, "one", name))
		b, _ := os.ReadFile(filepath.Join(dir, "two", name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	var got struct {
		Baseline, Best struct {
			Outcome struct {
				Time int64 `json:"completion_ps"`
			}
		}
		Front []any
	}
	if err := json.Unmarshal([]byte(one), &got); err != nil || len(got.Front) == 0 ||
		got.Best.Outcome.Time >= got.Baseline.Outcome.Time {
		t.Errorf("%v: best %d, as it is %d", err, got.Best.Outcome.Time, got.Baseline.Outcome.Time)
	}
	if code, out, err := call(t, "config", "lint", filepath.Join(dir, "one", "best"), "--fabric",
		flowScenario); code != exitOK {
		t.Errorf("the best configuration has errors: %s%s", out, err)
	}
	if code, _, err := call(t, "config", "tune", filepath.Join(scenarios(t), "cc-zoo.yaml"), "--out", filepath.Join(dir,
		"one")); code != exitInput || !strings.Contains(err, "three-flows.yaml, found ") {
		t.Errorf("exit %d: %s", code, err)
	}
	if st, err := os.Stat(filepath.Join(dir, "one", "pareto.png")); err != nil || st.Size() < 5000 {
		t.Errorf("pareto.png: %v", err)
	}
}

func TestConfigBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	huge := file("huge.cfg", "")
	if err := os.Truncate(huge, 200<<20); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	os.Mkdir(empty, 0o755)
	frr := file("frr.conf", "frr defaults datacenter\nhostname a\nrouter bgp 65000\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":         {[]string{"lint", dir + "/nope.cfg"}, "no such file"},
		"200 MB":          {[]string{"lint", huge}, "has 209715200 bytes, at most 16777216 are read"},
		"a device":        {[]string{"lint", "/dev/zero"}, "is not a regular file"},
		"empty directory": {[]string{"lint", empty}, "no file in it"},
		"binary": {[]string{"show", file("b.cfg", "feature bgp\n\x00")},
			"b.cfg:2:1: is a binary file"},
		"unknown OS": {[]string{"lint", seedConfig, "--os", "iosxr"},
			"accepted: nxos, sonic, frr, eos, nvue, dell, junos"},
		"FRR has no queues": {[]string{"show", frr}, "contains no queues"},
		"render to nowhere": {[]string{"render", labScenario, "--os", "nxos", "--out", seedConfig},
			"not a directory"},
		"render without os": {[]string{"render", labScenario, "--out", dir + "/x"},
			"--os and --out: are needed, or --onto FILE"},
		"multihoming": {[]string{"render", labScenario, "--os", "nxos", "--out", dir + "/x",
			"--multihoming", "lag"},
			`--multihoming: found "lag" (did you mean "mlag"?); accepted: mlag, esi`},
		"DSCP":     {[]string{"lint", seedConfig, "--data-dscp", "99"}, "99 is out of range 0–63"},
		"no cable": {[]string{"dcbx", seedConfig}, "no cable connects these switches"},
		"cable to nobody": {[]string{"dcbx", seedConfig, "--link", "a:E1=b:E2"},
			`no configuration has the hostname "a"`},
		"trials": {[]string{"tune", flowScenario, "--trials", "1", "--out", dir + "/t"},
			"is out of range 2–"},
		"nothing lossless": {[]string{"tune", flowScenario, "--set", "switch.queues.3.lossless=false",
			"--set", "switch.queues.3.alpha=1", "--out", dir + "/t"}, "is not lossless"},
		"a file in the way": {[]string{"tune", flowScenario, "--trials", "2", "--out", frr},
			"not a directory"},
		"a foreign journal": {[]string{"tune", flowScenario, "--trials", "2", "--study", journal(t, dir), "--out", dir + "/t"},
			"trials.jsonl cannot be resumed: line 1: "},
		"scenario as config": {[]string{"lint", flowScenario}, "looks like a Railyard scenario"},
	} {
		code, _, err := call(t, append([]string{"config"}, c.args...)...)
		if code != exitInput || !strings.Contains(err, c.want) {
			t.Errorf("%s: exit %d: %s, want %q", name, code, err, c.want)
		}
	}
	code, _, err := call(t, "compare", flowScenario, "--config", seedConfig+","+dir+"/nope.cfg")
	if code != exitInput || !strings.Contains(err, "switches.config") {
		t.Errorf("compare: exit %d: %s", code, err)
	}
}

func journal(t *testing.T, dir string) string {
	t.Helper()
	d := filepath.Join(dir, "journal")
	os.Mkdir(d, 0o755)
	if err := os.WriteFile(filepath.Join(d, "trials.jsonl"), []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return d
}

// Two different configurations give different runs, by the configurations alone.
func TestCompareConfigs(t *testing.T) {
	text, err := os.ReadFile(seedConfig)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "no-ecn.cfg")
	os.WriteFile(other, bytes.ReplaceAll(text, []byte("3000 kbytes drop-probability 7 weight 0 ecn"),
		[]byte("3000 kbytes drop-probability 0 weight 0 ecn")), 0o644)
	code, out, stderr := call(t, "compare", flowScenario, "--config", seedConfig+","+other, "--json")
	var runs map[string][]struct {
		Marks int64 `json:"ecn_marks"`
	}
	if err := json.Unmarshal([]byte(out), &runs); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v %s", code, err, stderr)
	}
	a, b := runs["seed-dcqcn.cfg"], runs["no-ecn.cfg"]
	if len(a) != 1 || len(b) != 1 || a[0].Marks == 0 || b[0].Marks == a[0].Marks {
		t.Errorf("%s", out)
	}
	again := filepath.Join(t.TempDir(), "seed-dcqcn.cfg")
	os.WriteFile(again, text, 0o644)
	_, out, _ = call(t, "compare", flowScenario, "--config", seedConfig+","+again, "--json")
	clear(runs)
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) != 2 || len(runs[again]) != 1 {
		t.Errorf("two files of one name: %v, %d runs", err, len(runs))
	}
	if !strings.Contains(stderr, "only Ethernet2/24 is configured") {
		t.Errorf("the notes are missing: %s", stderr)
	}
}
