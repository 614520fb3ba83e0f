package main

import (
	"slices"
	"testing"
)

// TestRealLabLoss drops packets on the path to each of four hosts, data and answers alike. An all-reduce of 1 MiB
// by MRC takes at most twice as long as by RC with 1 % of loss, and less with 5 %.
func TestRealLabLoss(t *testing.T) {
	needsLab(t)
	t.Parallel()
	name := ownName("loss")
	raise(t, name, "--rate", "500Mbps", "--routing", "static", "--no-ecn")
	for _, c := range []struct {
		loss string
		most float64 // time of MRC over that of RC
	}{{"1", 2}, {"5", 1}} {
		for _, port := range []string{"seg-1-rail-1:Eth1", "seg-1-rail-1:Eth2", "seg-2-rail-1:Eth1", "seg-2-rail-1:Eth2"} {
			if code, _, errs := call(t, "lab", "fail", "link", "--name", name, port, "--loss", c.loss); code != 0 {
				t.Fatal(errs)
			}
		}
		var rounds [2][]float64 // the lost packets are random, so the median of three decides
		for range 3 {
			for i, transport := range []string{"rc", "mrc"} {
				r := reduce(t, name, "--bytes", "1MiB", "--iters", "3", "--transport", transport, "--timeout", "14")[0]
				rounds[i] = append(rounds[i], r.TimeUS)
				if r.Wrong != 0 || r.Stats.Retransmissions == 0 {
					t.Errorf("%s %%, %s: %+v", c.loss, transport, r)
				}
			}
		}
		var took [2]float64
		for i := range rounds {
			slices.Sort(rounds[i])
			took[i] = rounds[i][1]
		}
		t.Logf("%s %% lost, us: RC %.0f, MRC %.0f", c.loss, rounds[0], rounds[1])
		if took[1] > c.most*took[0] {
			t.Errorf("%s %% lost: %.1f ms by RC, %.1f by MRC", c.loss, took[0]/1e3, took[1]/1e3)
		}
	}
}
