package draft

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/scenario"
	"railyard/internal/site"
)

// checked are the workloads that tests resolve as a whole: one of each kind.
var checked = map[string]bool{"llama-2-7b": true, "mixtral-8x7b": true, "all-reduce": true, "all-to-all": true, "incast": true,
	"permutation": true}

// plan resolves a draft.
func plan(t *testing.T, a Answers) (*scenario.Plan, error) {
	t.Helper()
	if err := a.Defaults(); err != nil {
		return nil, err
	}
	text, err := a.Scenario("x")
	if err != nil {
		return nil, err
	}
	doc, err := scenario.Parse("x.yaml", []byte(text), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	resolve := doc.Checked
	if !checked[a.Workload] {
		resolve = doc.Network // without the workload, which takes a while
	}
	p, err := resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i, l := range strings.Split(text, "\n") {
		if len([]rune(l)) > 120 {
			t.Errorf("line %d has %d columns: %s", i+1, len(l), l)
		}
	}
	return p, nil
}

// TestScenarios resolves drafts of every server, fabric, workload and policy.
func TestScenarios(t *testing.T) {
	var all []Answers
	for _, s := range site.ServerNames() {
		for _, f := range Fabrics() {
			all = append(all, Answers{Server: s, Fabric: f, Workload: "all-reduce"})
		}
	}
	for _, w := range Workloads() {
		all = append(all, Answers{Workload: w, GPUs: "512"}) // more: TestRuns
	}
	for _, q := range Questions[5:] {
		for _, lb := range q.Accepted() {
			all = append(all, Answers{LB: lb, Workload: "incast"})
		}
	}
	all = append(all, Answers{}, Answers{Workload: "mixtral-8x7b"})
	for _, over := range []string{"1.5", "2", "3", "8", "64"} {
		all = append(all, Answers{Oversubscription: over, Workload: "all-to-all", GPUs: "256"})
	}
	for _, a := range all {
		p, err := plan(t, a)
		if err != nil {
			if !strings.Contains(err.Error(), "do not hold") || model.IsFile(a.Workload) {
				t.Errorf("%+v: %v", a, err)
			}
			continue
		}
		if p.Graph == nil {
			t.Errorf("%+v: no fabric", a)
		}
	}
}

// TestRefused checks the errors of answers that cannot be.
func TestRefused(t *testing.T) {
	for want, a := range map[string]Answers{
		"--gpus: 12 is not a multiple of 8":                {GPUs: "12"},
		"--gpus: 8 is not a multiple of 8, the GPUs of a ": {GPUs: "8"},
		`--gpus: "0" is out of range`:                      {GPUs: "0"},
		"--server: unknown value \"dgx-h10\"":              {Server: "dgx-h10"},
		"513 servers need 152 leaves, above the 128 ports": {GPUs: "4104"},
		"--fabric: unknown value":                          {Fabric: "ring"},
		"--oversubscription: needs leaves and spines":      {Fabric: "rail-only", Oversubscription: "2"},
		`--oversubscription: "3:0" is not an over`:         {Oversubscription: "3:0"},
		`--oversubscription: "65" is not an over`:          {Oversubscription: "65"},
		"--workload: unknown value":                        {Workload: "lama"},
		"--lb: unknown value":                              {LB: "ecpm"},
		"16 GPUs of 85.5 GB do not hold a step of llama-":  {GPUs: "16", Workload: "llama-3.1-405b"},
		"7 servers are not whole pods of a fat tree":       {GPUs: "7", Fabric: "fat-tree"},
	} {
		if _, err := plan(t, a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
}

// TestOversubscription checks that the fabric has the requested oversubscription, or the next lower one with a
// note.
func TestOversubscription(t *testing.T) {
	for asked, want := range map[string]string{"1": "", "2": "", "2:1": "", "4:2": "", "8": "", "1.6": "",
		"3":   "requested 3:1, built 2.67:1: 8 cables of a leaf to 3 uplinks",
		"1.5": "requested 1.5:1, built 1.33:1: 8 cables of a leaf to 6 uplinks",
		"6:1": "requested 6:1, built 4:1: 8 cables of a leaf to 2 uplinks",
		"64":  "requested 64:1, built 8:1: 8 cables of a leaf to 1 uplink"} {
		a := Answers{Oversubscription: asked, Workload: "incast"}
		if err := a.Defaults(); err != nil {
			t.Fatal(asked, err)
		}
		if text, err := a.Scenario("x"); err != nil || a.Missed != want {
			t.Errorf("%s: %q, %v\n%s", asked, a.Missed, err, text)
		}
	}
}

// TestAsk answers the questions like a user: it takes a default, mistypes an answer, and skips a question that a
// flag has answered.
func TestAsk(t *testing.T) {
	a := Answers{Server: "dgx-b200"}
	var out strings.Builder
	err := a.Ask(strings.NewReader("128\nrial\nrail\n2\n\nspray\n"), &out)
	if want := (Answers{"128", "dgx-b200", "rail", "2", "llama-2-7b", "spray", "", 0}); err != nil || a != want {
		t.Errorf("%+v, %v\n%s", a, err, &out)
	}
	if s := out.String(); strings.Contains(s, "Server") || !strings.Contains(s, `did you mean "rail"`) ||
		strings.Count(s, "Fabric (rail, rail-only, fat-tree) [rail]: ") != 2 {
		t.Errorf("%s", s)
	}
	if err := (&Answers{}).Ask(strings.NewReader("64\n"), &out); err == nil || !strings.Contains(err.Error(), "--server: is not answered") {
		t.Error(err)
	}
}

// TestRuns checks that one run can simulate the step of every draft. The drafts have all models on fabrics of all
// sizes.
func TestRuns(t *testing.T) {
	folded, refused := 0, 0
	for _, w := range model.Names() {
		for _, a := range []Answers{{GPUs: "64"}, {GPUs: "512"}, {GPUs: "1024"}, {GPUs: "2048"}, {GPUs: "4096"}, {GPUs: "1024", Fabric: "fat-tree"},
			{GPUs: "4096", Fabric: "rail-only"}, {GPUs: "2048", Server: "p5.48xlarge", Fabric: "rail-only"}, {GPUs: "1024", Server: "gb200-nvl72-tray"}} {
			a.Workload = w
			if err := a.Defaults(); err != nil {
				t.Fatal(err)
			}
			text, err := a.Scenario("x")
			if err != nil {
				if s := err.Error(); strings.Contains(s, "above what one run simulates") {
					refused++
				} else if !strings.Contains(s, "do not hold") || a.GPUs != "64" && a.Fabric != "fat-tree" {
					t.Errorf("%+v: %v", a, err)
				}
				continue
			}
			doc, err := scenario.Parse("x.yaml", []byte(text), nil)
			if err != nil {
				t.Fatalf("%+v: %v\n%s", a, err, text)
			}
			p, err := doc.Network(nil)
			if err != nil {
				t.Fatalf("%+v: %v\n%s", a, err, text)
			}
			s := *doc.File.Workload.Training
			if hint := fmt.Sprintf("plan search %s --fabric FILE --global-batch %d --sequence %d --efficiency %g\n", w, s.GlobalBatch,
				s.Seq, s.Efficiency); !s.Fold && !strings.Contains(text, hint) {
				t.Errorf("%+v: no %s in\n%s", a, hint, text)
			}
			if err := s.Divide(); err != nil {
				t.Fatal(err)
			}
			if s.Model, err = model.Builtin(w); err != nil {
				t.Fatal(err)
			}
			if err := s.TooBig(); err != nil || s.Ranks() != p.Graph.TotalGPUs() || fmt.Sprint(s.GPUs()) != a.GPUs {
				t.Errorf("%+v: %v; %d ranks of %d GPUs in the fabric\n%s", a, err, s.Ranks(), p.Graph.TotalGPUs(), text)
			}
			gpu, err := model.FindGPU(doc.File.Server.GPU)
			if worst, e := s.Worst(s.Model); err != nil || e != nil ||
				worst.Total() > gpu.Usable/100*partition.MostMemory {
				t.Errorf("%+v: %v, %v, %d bytes of %v\n%s", a, err, e, worst.Total(), gpu.Usable, text)
			}
			if s.Fold {
				folded++
			}
		}
	}
	if folded == 0 {
		t.Error("no step is folded: the sizes are too small to test it")
	}
	t.Log(folded, "folded,", refused, "refused")
}

// TestAllToAllByPXN checks that servers of NVIDIA's GPUs send an all-to-all by the NIC on the receiver's rail, as NCCL
// does by default, and no others.
func TestAllToAllByPXN(t *testing.T) {
	for _, c := range []struct {
		a    Answers
		want bool
	}{{Answers{Server: "dgx-h200"}, true}, {Answers{Server: "gb200-nvl72-tray", GPUs: "72"}, true},
		{Answers{Server: "mi300x-platform"}, false}, {Answers{Fabric: "fat-tree", GPUs: "16"}, false}} {
		c.a.Workload = "all-to-all"
		p, err := plan(t, c.a)
		if err != nil || p.PXN != c.want {
			t.Errorf("%+v: pxn %v, %v", c.a, err == nil && p.PXN, err)
		}
	}
	if p, err := plan(t, Answers{Workload: "permutation"}); err != nil || p.PXN {
		t.Error(p.PXN, err)
	}
}

// TestRackSharesNVLink checks that trays of a rack share NVLink, as many in each domain as divide the trays.
func TestRackSharesNVLink(t *testing.T) {
	for gpus, want := range map[string]string{"72": "nics: 4, nvlink_domain: 72}", "1024": "nics: 4, nvlink_domain: 64}",
		"8": "nics: 4, nvlink_domain: 8}"} {
		a := Answers{GPUs: gpus, Server: "gb200-nvl72-tray", Workload: "all-reduce"}
		if err := a.Defaults(); err != nil {
			t.Fatal(err)
		}
		if text, err := a.Scenario("x"); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s GPUs: %v, no %s in\n%s", gpus, err, want, text)
		}
	}
}
