package whatif

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
)

// TestConfirm checks that what a confirmed cause is said to save is what the run without it takes less, in the account
// and with its remedies, and that runs which do not end within limits leave the estimate.
func TestConfirm(t *testing.T) {
	t.Parallel()
	text := fabrics["rail"] + "workload: {traffic: {incast: {bytes: 4MB, fan_in: 5, target: host-1/gpu-1}}}\n"
	base := run(t, text, cause.Change{})
	estimate := base.Summary.Chain.Saving
	if Confirm(base.Plan, base.Summary, Limits{Hops: 10}) || len(base.Summary.Simulated) > 0 ||
		base.Summary.Chain.Saving != estimate {
		t.Errorf("within ten packet-hops %v were confirmed", base.Summary.Simulated)
	}
	if !Confirm(base.Plan, base.Summary, Limits{}) || base.Summary.Simulated[0] != cause.ID(cause.Incast).Get().Key {
		t.Fatalf("confirmed %v", base.Summary.Simulated)
	}
	known := facts.Of(base.Plan)
	facts.Count(known, base.Summary)
	without := run(t, text, cause.ID(cause.Incast).Get().Without(known)).Summary.StepTime
	if saved := base.Summary.StepTime - without; base.Summary.Chain.Saves(cause.Incast) != saved || saved <= 0 {
		t.Errorf("said to save %d, a run without it saves %d", base.Summary.Chain.Saves(cause.Incast), saved)
	}
	most := map[string]int64{} // none of a cause is expected to save less than another one saved
	for _, r := range base.Summary.Remedies {
		most[r.Cause] = max(most[r.Cause], r.Saved)
	}
	for _, r := range base.Summary.Remedies {
		c, _ := cause.Find(r.Cause)
		want := base.Summary.Chain.Saving[c.ID]
		if r.Limit != "" { // the receiver takes as long for its bytes, whoever sends them
			want = base.Summary.StepTime - base.Summary.Busiest.Time
		}
		if want > base.Summary.Chain.Saving[c.ID] || r.Expected != max(want, most[r.Cause]) {
			t.Errorf("%+v of %d", r, base.Summary.Chain.Saving[c.ID])
		}
		if r.Tried { // and this is what a run with it saves
			o, err := Of(base.Plan).Run(&cause.Change{Set: r.Set}, Limits{})
			if err != nil || r.Saved != base.Summary.StepTime-o.Summary.StepTime || (r.Saved <= 0) != r.Refuted {
				t.Errorf("%+v: %v", r, err)
			}
		}
	}
	once := *base.Summary
	again := run(t, text, cause.Change{})
	if Confirm(again.Plan, again.Summary, Limits{}); !reflect.DeepEqual(again.Summary.Simulated, once.Simulated) ||
		again.Summary.Chain.Saving != once.Chain.Saving {
		t.Error("the second time something else")
	}
}

// TestRefuted checks that Confirm leaves no remedy that a simulation refutes, where cut-through switches
// make the step 23 % longer, and that a remedy without effect is refuted when it is tried. Cut-through is no remedy of
// a run in which whole packets at switches cost little.
func TestRefuted(t *testing.T) {
	t.Parallel()
	base := run(t, `
name: a
fabric: {kind: rail, segments: 1, hosts: 2, spines: 2, host_link: {rate: 400Gbps, cable: 5m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpu: h100, gpus: 8, nics: 8}
lb: ecmp
workload: {traffic: {alltoall: {bytes: 16MiB}}}
`, cause.Change{})
	of := func(id cause.ID) (n int, first *Remedy) {
		all := Remedies(base.Plan, base.Summary)
		for i := range all {
			if all[i].Cause == id.Get().Key && !all[i].Refuted {
				if n++; first == nil {
					first = &all[i]
				}
			}
		}
		return n, first
	}
	if n, _ := of(cause.Latency); n != 0 {
		t.Errorf("%d remedies of latency, of which whole packets at switches are %d of %d", n,
			base.Summary.StoredLatency, base.Summary.StepTime)
	}
	base.Summary.StoredLatency = base.Summary.StepTime / 100
	n, cut := of(cause.Latency)
	if n != 1 {
		t.Fatalf("%d remedies of latency", n)
	}
	if cut.Try(Of(base.Plan), base.Summary.StepTime, Limits{}); !cut.Refuted || cut.Saved >= 0 {
		t.Errorf("%+v", cut)
	}
	if !Confirm(base.Plan, base.Summary, Limits{}) {
		t.Fatal("not confirmed")
	}
	if n, _ := of(cause.Latency); n != 0 {
		t.Errorf("%d remedies of latency are left", n)
	}
	_, spray := of(cause.Collision)
	if spray.Try(Of(base.Plan), base.Summary.StepTime, Limits{}); spray.Refuted || spray.Saved <= 0 {
		t.Errorf("%+v", spray)
	}
}

// TestOtherSetting checks that a change that saves something, against a cause that saves nothing, is another setting
// with its own saving, before it is tried and after: four queue pairs recover faster from an incast's marks, where the
// run without the collision takes longer.
func TestOtherSetting(t *testing.T) {
	t.Parallel()
	base := run(t, `
name: a
seed: 3
fabric: {kind: rail, hosts: 6, spines: 2, uplinks: 2, segments: 2, host_link: {rate: 400Gbps, cable: 5m},
  fabric_link: {rate: 800Gbps, cable: 30m}}
server: {gpu: gb200, gpus: 4, nics: 4}
lb: ecmp
workload: {traffic: {incast: {bytes: 4MB, fan_in: 10}}}
`, cause.Change{})
	s := base.Summary
	if !Confirm(base.Plan, s, Limits{}) || s.Chain.Saving[cause.Collision] >= 0 {
		t.Fatalf("the collision saves %d", s.Chain.Saving[cause.Collision])
	}
	all := Remedies(base.Plan, s)
	i := slices.IndexFunc(all, func(r Remedy) bool { return slices.Equal(r.Set, []string{"transport.qps=4"}) })
	if i < 0 {
		t.Fatalf("%+v", all)
	}
	r := &all[i]
	expected := r.Expected
	r.Try(Of(base.Plan), s.StepTime, Limits{})
	Learn(base.Plan, s, all)
	if r.Saved <= 0 || r.Expected != r.Saved || expected != r.Saved {
		t.Errorf("expected to save %d, then %d, saves %d", expected, r.Expected, r.Saved)
	}
	for _, r := range all {
		if c, ok := cause.Find(r.Cause); ok && facts.SavesNothing(s, c.ID) || !ok && r.Cause != result.OtherSetting {
			t.Errorf("%+v", r)
		}
	}
}

// TestReused checks that remedies which reuse refuses, and runs without a cause, are simulated by packets.
func TestReused(t *testing.T) {
	t.Parallel()
	text := "fidelity: reuse\n" + fabrics["rail"] +
		"workload: {traffic: {incast: {bytes: 4MB, fan_in: 5, target: host-1/gpu-1}}}\n"
	base := run(t, text, cause.Change{})
	if base.Summary.Fidelity != "reuse" || !Confirm(base.Plan, base.Summary, Limits{}) {
		t.Fatalf("%s, confirmed %v", base.Summary.Fidelity, base.Summary.Simulated)
	}
	if other := run(t, text, cause.Change{Set: []string{"cc.algorithm=swift"}}); other.Summary.Fidelity != "packet" {
		t.Error(other.Summary.Fidelity)
	}
}

// TestConfirmReadsFiles checks that remedies of a scenario that names files, simulated at once, read them apart: with
// go test -race.
func TestConfirmReadsFiles(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/three-flows-nxos.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := scenario.Parse("three-flows-nxos.yaml", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join("../../scenarios", name))
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := Simulate(p, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	read := len(p.Inputs())
	l, _ := Small(o.Summary)
	if !Confirm(p, o.Summary, l) || read == 0 || len(p.Inputs()) != read || len(o.Summary.Remedies) < 2 {
		t.Errorf("%d files, %+v", read, o.Summary.Remedies)
	}
}
