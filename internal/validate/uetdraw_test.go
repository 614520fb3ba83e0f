package validate

import (
	"math"
	"testing"
)

// Published runs are drawn once each, of all classes, other ones by another seed; a class's root mean square is that
// of its runs alone.
func TestDrawUET(t *testing.T) {
	all, err := DrawUET(1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	seen, classes := map[string]int{}, map[string]int{}
	for _, u := range all {
		seen[u.Name+" "+u.Class]++
		classes[u.Class]++
	}
	if len(all) < 400 || len(classes) != len(uetClasses) {
		t.Errorf("%d runs of %d classes", len(all), len(classes))
	}
	for name, n := range seen {
		if n > 1 {
			t.Errorf("%s is drawn %d times", name, n)
		}
	}
	few, _ := DrawUET(1, 20)
	others, _ := DrawUET(2, 20)
	same := 0
	for i := range few {
		if few[i].Name != all[i].Name {
			t.Errorf("run %d of twenty is %s, of all %s", i, few[i].Name, all[i].Name)
		}
		if few[i].Name == others[i].Name {
			same++
		}
	}
	if same > 5 {
		t.Errorf("another seed draws %d of 20 alike", same)
	}
	for seed := range uint64(20) {
		drawn, _ := DrawUET(seed, 40)
		counts := map[string]int{}
		for _, u := range drawn {
			counts[u.Class]++
		}
		for i := range uetClasses {
			c := &uetClasses[i]
			if of := len(c.of(must(uetPublished()))); counts[c.String()] < min(of, 40/len(uetClasses)) {
				t.Errorf("seed %d draws %d of the %d runs of %s", seed, counts[c.String()], of, c)
			}
		}
	}
	first := few[0].class
	runs := []UETRun{
		{run: uetRun{last: 100}, class: first, Ours: 103},
		{run: uetRun{last: 100}, class: first, Ours: 96},
	}
	got := SpreadUET(runs)
	if len(got) != 1 || got[0].Runs != 2 || math.Abs(got[0].RMS-math.Sqrt(0.00125)) > 1e-12 ||
		math.Abs(got[0].Mean+0.005) > 1e-12 || math.Abs(got[0].Worst+0.04) > 1e-12 ||
		got[0].OK != (0.0353 < 2*first.most) || got[0].Most != 2*first.most {
		t.Errorf("%+v", got)
	}
}
