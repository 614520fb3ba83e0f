package fidelity

import (
	"slices"
	"strings"
	"testing"
)

// accuracy.json holds measured values: a case measured again equals the stored one. When packets or flows change,
// go run ./internal/ci/accuracy writes the file anew.
func TestAccuracyIsMeasured(t *testing.T) {
	for _, want := range []struct{ name, set string }{
		{"permutation of 256 KB", "cc.algorithm=dcqcn"},
		{"incast of 8, 128 KB each", "transport=uec"},
		{"all-to-all of 1 MB", "cc.algorithm=timely"},
		{"tree all-reduce of 16 MB", "cc.algorithm=none"},
	} {
		all := Cases()
		i := slices.IndexFunc(all, func(c Case) bool {
			return c.Name == want.name && strings.Join(c.Sets, " ") == want.set
		})
		if i < 0 {
			t.Fatalf("no case %v", want)
		}
		a, err := Accurate(all[i].Name, all[i].Text, Read, all[i].Sets...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(Accuracies, a) {
			t.Errorf("measured, but not stored: %+v", a)
		}
	}
}

// The expected error is that of cases like the plan. Without any, it is that of cases with equal paths, then of
// equal traffic.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		sets []string
		of   string
	}{
		{nil, "ring collectives, dcqcn, one path per queue pair"},
		{[]string{"cc.algorithm=none", "lb=spray", "transport.recovery=selective"},
			"ring collectives, none, sprayed in turn or at random"},
		{[]string{"transport=uec"}, "ring collectives, uec, switches with trimming, sprayed by NICs or cells"},
		{[]string{"switch.queues.3.lossless=false", "switch.queues.3.limit=1MB", "cc.algorithm=dctcp"},
			"ring collectives, all congestion controls, one path per queue pair"},
	} {
		e := Expect(planned(t, four, c.sets...))
		if e.Of != c.of || e.Rows == 0 || e.Worst < e.Mean || e.Worst <= 0 || e.Worst >= 1 {
			t.Errorf("%v: %+v, want %s", c.sets, e, c.of)
		}
	}
	for name, want := range map[string]string{"incast of 15, 2 MB each": incasts, "permutation of 4 MB": transfers,
		"all-to-all of 16 MB": toAll, "tree all-reduce of 16 MB": trees, "dp 8, tp 2": training, "ep 8, dp 8, tp 2": experts} {
		for _, c := range Cases() {
			if c.Name == name {
				if got := TrafficOf(planned(t, c.Text)); len(got) != 1 || got[0] != want {
					t.Errorf("%s: %v, want %s", name, got, want)
				}
				break
			}
		}
	}
}
