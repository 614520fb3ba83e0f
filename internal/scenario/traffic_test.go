package scenario_test

import (
	"strings"
	"testing"
)

// A size that is none is not looked for as a file; what is missing says what stands there.
func TestBackgroundSizes(t *testing.T) {
	for size, want := range map[string]string{
		"64KB": "",
		"0KB":  `traffic.background.sizes: messages have a byte or more, found "0KB"`,
		"none": "traffic.background.sizes: ",
		"":     "traffic.background.sizes: is missing: one size, as 64KB",
	} {
		_, err := planOf(t, shared+"workload: {traffic: {background: {load: 10, for: 20us, sizes: '"+size+
			"'}}}\n")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", size, err, want)
		}
	}
}

// Messages to the next group go to its GPUs and no others, from the last group to the first.
func TestNextGroup(t *testing.T) {
	p, err := planOf(t, "name: x\nfabric: {kind: dragonfly, k: 2}\nserver: {gpus: 1, nics: 1}\nlb: minimal\n"+
		"workload: {traffic: {background: {load: 20, sizes: 4096B, to: next-group, for: 50us}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	const perGroup, groups = 8, 9
	last, seen := 0, map[[2]int32]bool{}
	for i := range p.Jobs[0].DAG.Ops {
		o := &p.Jobs[0].DAG.Ops[i]
		if o.Peer < 0 {
			continue
		}
		if (o.Rank/perGroup+1)%groups != o.Peer/perGroup {
			t.Fatalf("from %d to %d", o.Rank, o.Peer)
		}
		if o.Rank/perGroup == groups-1 {
			last++
		}
		seen[[2]int32{o.Rank, o.Peer}] = true
	}
	if last == 0 || len(seen) < 100 {
		t.Errorf("%d from the last group, %d pairs", last, len(seen))
	}
}
