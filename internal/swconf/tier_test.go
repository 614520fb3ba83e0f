package swconf

import "testing"

// A rule about tiers gives the same result in every run, also where a name has several words.
func TestTierByName(t *testing.T) {
	for name, want := range map[string]int{
		"leaf-1": 1, "seg-2-rail-4": 1, "TOR12": 1, "spine-3": 2, "agg-1-1": 2, "core-7": 3,
		"super-spine-2": 3, "superspine2": 3, "pod-1-super-1": 3, "nexus": 0, "": 0,
		"storage-spine-1": 2, "core-leaf-1": 1, "dc1-core-tor-3": 1, "aggregation-leaf-2": 1,
		"monitor-core": 3, "torino-agg-1": 2,
	} {
		for range 20 {
			if got := namedTier(name); got != want {
				t.Fatalf("%q is on tier %d, want %d", name, got, want)
			}
		}
	}
}
