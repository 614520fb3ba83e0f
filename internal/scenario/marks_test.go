package scenario

import "testing"

// The default ECN thresholds are reported where they have an effect: congestion control reacts to marks, and no
// switch has others.
func TestDefaultMarks(t *testing.T) {
	const words = "ECN thresholds are the default, 150 KB to 3 MB at any rate"
	for set, want := range map[string]string{"": words, "cc.algorithm=dctcp": words, "cc.algorithm=swift": "",
		"switch.queues.3.wred_max=1600KB": "", "switch.queues.3.wred_max=3MB": words, "transport=mrc": ""} {
		var sets []string
		if set != "" {
			sets = []string{set}
		}
		doc, err := Parse("x", []byte("fabric: {kind: rail, hosts: 2, spines: 1}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"), sets)
		if err != nil {
			t.Fatal(err)
		}
		p, err := doc.Network(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.DefaultMarks(); got != want {
			t.Errorf("%q: %q, want %q", set, got, want)
		}
	}
}
