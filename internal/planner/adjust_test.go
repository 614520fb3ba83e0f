package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"railyard/internal/model"
	"railyard/internal/workload"
)

// TestAdjust checks that a fit recovers the figures used to compute the trainings, as far as the trainings
// determine them. It does not change other figures.
func TestAdjust(t *testing.T) {
	const head = "id,model,gpu,gpus,tp,pp,cp,ep,vpp,micro,global_batch,sequence,zero,recompute,step_seconds,source\n"
	row := func(micro, batch int, seconds float64) string {
		return fmt.Sprintf("m%d,llama-3.1-8b,h100,8,1,1,1,1,1,%d,%d,8192,1,selective,%g,mine\n", micro*batch, micro, batch, seconds)
	}
	find := func(name string) (*model.Config, error) { return model.Builtin(name) }
	custom, err := workload.FindSoftware("custom")
	if err != nil {
		t.Fatal(err)
	}
	truth := *custom
	truth.Matmul16, truth.HostStep = 0.55, 0.8
	read := func(text string, by *workload.Software) []Measured {
		all, err := ReadMeasured(strings.NewReader(head+text), find, Assumed{Software: by})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	text := ""
	for _, c := range [][2]int{{1, 8}, {1, 16}, {1, 64}, {2, 64}, {2, 128}, {1, 256}} {
		m := read(row(c[0], c[1], 1000), &truth)[0]
		text += row(c[0], c[1], m.Estimate)
	}
	a, err := Adjust(read(text, custom), custom)
	if err != nil {
		t.Fatal(err)
	}
	if a.Before < 0.15 || a.After > 0.03 || a.Out > 0.08 || len(a.Changes) > 3 {
		t.Errorf("%+v", a)
	}
	if s := a.Software; math.Abs(s.Matmul16/0.55-1) > 0.08 || math.Abs(s.HostStep/0.8-1) > 0.3 ||
		s.ExpertPasses != custom.ExpertPasses || s.HideTensor != custom.HideTensor || s.Rows != 6 {
		t.Errorf("%+v", s)
	}
	b, err := json.Marshal(a.Software)
	if err != nil {
		t.Fatal(err)
	}
	again, err := workload.ReadSoftware(b)
	if err != nil || again.Matmul16 != a.Software.Matmul16 {
		t.Errorf("%+v, %v", again, err)
	}
	one, err := Adjust(read(row(1, 8, 2), custom), custom)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		by           *workload.Software
		text         string
		fitted, held int
	}{"all fitted rows": {again, text, 6, 0}, "another batch": {again, row(1, 512, 90), 0, 1},
		"the only one": {&one.Software, row(1, 8, 2), 1, 0}, "one of two": {&one.Software, row(1, 8, 2) + row(1, 8, 3), 1, 1},
		"without a fit": {custom, row(1, 8, 2), 0, 1},
		"what an older version wrote": {&workload.Software{Source: "fitted to trainings of one's own, from nemo",
			Matmul16: 0.6, Memory: 0.9}, row(1, 8, 2), 0, 0},
	} {
		list := Accuracies(read(c.text, c.by))
		if got := list[len(list)-1]; got.FittedRows != c.fitted || got.HeldRows != c.held {
			t.Errorf("%s: %d fitted, %d held out, want %d, %d", what, got.FittedRows, got.HeldRows, c.fitted, c.held)
		}
	}
	if e, ok := ErrorOf(again, "dense bf16"); !ok || e.RMS != a.Out || e.Rows != 6 {
		t.Errorf("%+v", e)
	}
	if _, err := Adjust(read("x,nobody,h100,8,1,1,1,1,1,1,8,8192,1,selective,1,mine\n", custom), custom); err == nil {
		t.Error("nothing to fit to is taken")
	}
	for _, bad := range []string{"{", "{}", strings.Replace(string(b), `"memory":0.9`, `"memory":0`, 1)} {
		if _, err := workload.ReadSoftware([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
