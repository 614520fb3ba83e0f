package planner

import (
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/internal/model"
)

// TestMeasured checks the two kinds of tables of measured trainings: which rows the cost model supports, and its
// error with the defaults of plan score.
func TestMeasured(t *testing.T) {
	for name, want := range map[string]struct {
		rows, stated int
		rms          float64 // at most
	}{"training_runs.csv": {56, 56, 0.18}, "megatron_bridge.csv": {171, 163, 0.16}} {
		all, err := publishedTable(name, Assumed{})
		if err != nil {
			t.Fatal(err)
		}
		classes := Accuracies(all)
		total := classes[len(classes)-1]
		if total.Rows != want.rows || total.Stated < want.stated || total.RMS > want.rms {
			t.Errorf("%s: %d of %d rows estimated, off by %.3f RMS, want %d of %d and %.2f", name, total.Stated,
				total.Rows, total.RMS, want.stated, want.rows, want.rms)
		}
	}
}

// TestMeasuredTable checks a user's table, and the errors of unreadable ones.
func TestMeasuredTable(t *testing.T) {
	const head = "id,model,gpu,gpus,tp,pp,cp,ep,vpp,micro,global_batch,sequence,zero,recompute,step_seconds,source\n"
	find := func(name string) (*model.Config, error) { return model.Builtin(name) }
	all, err := ReadMeasured(strings.NewReader(head+
		"a,llama-3.1-8b,h100,8,1,1,1,1,1,1,128,8192,1,selective,12,mine\n"+
		"b,llama-3.1-8b,h100,8,3,1,1,1,1,1,128,8192,1,selective,12,mine\n"+
		"c,nobody,h100,8,1,1,1,1,1,1,128,8192,1,selective,12,mine\n"+
		"d,llama-3.1-8b,h100,8,1,1,1,1,1,1,128,8192,1,selective,0.5,mine\n"), find, Assumed{Efficiency: 60})
	if err != nil || len(all) != 4 {
		t.Fatalf("%v, %d rows", err, len(all))
	}
	if a := all[0]; a.Why != "" || math.Abs(a.Estimate-12) > 6 || a.Layout != "DP8 mb1 ZeRO1" {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(all[1].Why, "do not divide 8 GPUs") || !strings.Contains(all[2].Why, "unknown model") ||
		!strings.Contains(all[3].Why, "above the peak of 989") {
		t.Errorf("%q, %q, %q", all[1].Why, all[2].Why, all[3].Why)
	}
	for text, want := range map[string]string{
		"":             "has no rows",
		head:           "has no rows",
		"a,b\n1,2\n":   "no column step_seconds",
		"a,b\n1,2,3\n": "wrong number of fields",
		head + "a,llama-3.1-8b,h100,x,1,1,1,1,1,1,128,8192,1,selective,12,mine\n": "line 2: column gpus: found \"x\"",
	} {
		_, err := ReadMeasured(strings.NewReader(text), find, Assumed{Efficiency: 60})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestReportPublished checks the account of published trainings: halves, and how Llama 3.1 8B scales in the table.
func TestReportPublished(t *testing.T) {
	r, err := ReportPublished()
	if err != nil {
		t.Fatal(err)
	}
	total := r.Classes[len(r.Classes)-1]
	if total.FittedRows+total.HeldRows != total.Stated || r.Judged != total.HeldRows || len(r.Rows) != total.Rows {
		t.Errorf("%+v; %d judged of %d rows", total, r.Judged, len(r.Rows))
	}
	s := r.Scaling[slices.IndexFunc(r.Scaling, func(s Scaling) bool { return strings.Contains(s.Name, "llama-3.1-8b") })]
	if s.From != 8 || s.To != 128 || math.Abs(s.Measured-12.27/12.33) > 1e-9 || math.Abs(s.Estimate-s.Measured) > 0.02 {
		t.Errorf("%+v", s)
	}
}
