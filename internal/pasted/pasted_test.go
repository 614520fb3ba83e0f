package pasted

import (
	"os"
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters/planted"
	"railyard/internal/model"
	"railyard/internal/scenario"
	"railyard/internal/study"
)

// resolved resolves a scenario that names no files.
func resolved(t *testing.T, text string) Scenario {
	t.Helper()
	d, err := scenario.Parse("scenario", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := d.Resolve(func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if err != nil {
		t.Fatal(err)
	}
	return Scenario{Text: text, Plan: plan}
}

const rails = `
name: rails
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps},
         fabric_link: {rate: 100Gbps}, routing: {converge: 10us}}
server: {gpus: 1, nics: 1}
transport: {timeout: 6}
workload: {traffic: {permutation: {bytes: 400KB}}}
`

// A configuration that is pasted is linted under the name that it came with, errors first, and nothing of the folder
// that it lay in is said.
func TestLint(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/configs/seed-dcqcn.cfg")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Devices([]Text{{"rack/leaf.cfg", string(text)}, {"notes.md", "Called the vendor.\n"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := r.Lint
	if l == nil || len(l.Devices) != 1 || l.Devices[0].File != "rack/leaf.cfg" || len(l.Findings) == 0 ||
		l.Findings[0].Severity != "error" || l.Findings[0].File != "rack/leaf.cfg" || len(l.Ignored) != 1 ||
		!strings.Contains(l.Ignored[0], "notes.md") || strings.Contains(l.Ignored[0], os.TempDir()) {
		t.Errorf("%+v", l)
	}
}

// Counters of two rounds are diagnosed: a planted storm is found, whichever system printed them.
func TestDiagnose(t *testing.T) {
	i := slices.IndexFunc(planted.Faults, func(f planted.Fault) bool { return f.Name == "storm-rail-host-7" })
	seen, err := planted.Faults[i].Simulate("sonic")
	if err != nil {
		t.Fatal(err)
	}
	before, after := seen.Sessions("sonic")
	var texts []Text
	for name, text := range before {
		texts = append(texts, Text{"incident/before/" + name, string(text)})
	}
	for name, text := range after {
		texts = append(texts, Text{"incident/after/" + name, string(text)})
	}
	r, err := Devices(texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := r.Diagnosis.Findings[0]
	if r.Faults == 0 || x.Cause != "storm" || x.Device != "host-7" || len(x.Evidence) == 0 ||
		!strings.HasPrefix(x.Evidence[0].File, "incident/") {
		t.Errorf("%d faults, first %+v", r.Faults, x)
	}
}

// Names that lead elsewhere, twice the same name and texts of no kind are refused, and no file is left.
func TestRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, want := range map[string]string{"../leaf.cfg": "not the name", "/etc/leaf.cfg": "not the name",
		"": "not the name", "leaf.cfg": "leaf.cfg"} {
		_, err := Devices([]Text{{name, "Called the vendor.\n"}}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), os.TempDir()) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Devices([]Text{{"a", "x"}, {"./a", "y"}}, nil); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
	if _, err := Devices(nil, nil); err == nil {
		t.Error("no texts are read")
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("%d folders are left", len(left))
	}
}

// Memory and search answer as the commands do; a form names no files.
func TestPlans(t *testing.T) {
	q := MemoryForm{Model: "gpt3-175b", GPU: "h100", TP: 8, PP: 8, DP: 16, CP: 1, EP: 1, VPP: 1, ZeRO: 1,
		Recompute: "selective", Schedule: "1f1b", Micro: 1, Sequence: 2048, Microbatches: 8}
	m, err := MemoryOf(q)
	if err != nil || len(m.Stages) != 8 || m.GPUs != 1024 || !m.Fits || m.Most != m.Stages[m.Worst-1].Total() {
		t.Errorf("%+v, %v", m, err)
	}
	for _, change := range []func(*MemoryForm){func(q *MemoryForm) { q.Model = "/etc/passwd" },
		func(q *MemoryForm) { q.TP = 0 }, func(q *MemoryForm) { q.ZeRO = 7 }, func(q *MemoryForm) { q.GPU = "c64" },
		func(q *MemoryForm) { q.Schedule = "later" }} {
		bad := q
		change(&bad)
		if _, err := MemoryOf(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	s := resolved(t, rails)
	name := model.Names()[0]
	if _, err := Search(SearchForm{Model: name, GlobalBatch: 16, Sequence: 2048, GPUs: 5}, s); err == nil ||
		!strings.Contains(err.Error(), "has 4") {
		t.Error(err)
	}
	_, err = Search(SearchForm{Model: name, GlobalBatch: 16, Sequence: 2048, GPUs: -3}, s)
	if err == nil || !strings.Contains(err.Error(), "-3 is out of range") ||
		!strings.Contains(err.Error(), "accepted: 0 ") {
		t.Error(err)
	}
	bad := q
	bad.ZeRO = -1
	if _, err := MemoryOf(bad); err == nil || !strings.Contains(err.Error(), "-1 is out of range 0–3") {
		t.Error(err)
	}
	r, err := Search(SearchForm{Model: "gpt3-125m", GlobalBatch: 16, Sequence: 1024}, s)
	if err != nil {
		t.Fatal(err)
	}
	if r.GPUs != 4 || r.Feasible == 0 || len(r.Candidates) == 0 || r.Candidates[0].Name == "" ||
		!slices.IsSortedFunc(r.Candidates, func(a, b Found) int {
			if a.Seconds < b.Seconds {
				return -1
			}
			return 1
		}) {
		t.Errorf("%+v", r)
	}
}

// Failures of a scenario are those of plan failures: a server's only NIC is a single point of failure.
func TestFailures(t *testing.T) {
	if _, err := Failures(t.Context(), FailuresForm{}, resolved(t, rails), &study.Pool{}); err == nil ||
		!strings.Contains(err.Error(), "no kind of failure is selected; accepted: one or more of link") {
		t.Error(err)
	}
	x, err := Failures(t.Context(), FailuresForm{[]string{"nic", "switch"}}, resolved(t, rails), &study.Pool{})
	if err != nil {
		t.Fatal(err)
	}
	if x.Step <= 0 || x.Sums.Elements != 8 || x.Sums.Weak == 0 || !x.Rows[0].Lost {
		t.Errorf("%+v", x)
	}
}
