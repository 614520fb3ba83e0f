package scenario_test

import (
	"strings"
	"testing"

	"railyard/internal/scenario"
)

// NICs classify as the switch they are cabled to: a spine's text, which no NIC meets, says nothing of them.
func TestNICsClassifyAsTheirLeaf(t *testing.T) {
	for keys, want := range map[string]struct {
		queue uint8 // of DSCP 26
		file  string
		note  string
	}{
		"{spine: a.cfg}": {0, "24", ""},
		"{spine-1: a.cfg, rail-2: a.cfg}": {0, "24",
			"DSCP 24 goes to queue 3 on rail-1 and to queue 0 on rail-2"},
		"{rail: a.cfg}":   {4, "24", ""},
		"{config: a.cfg}": {4, "26", ""},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good+"switches: "+keys+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(texts(map[string]string{"a.cfg": nxos}))
		if err != nil {
			t.Fatal(err)
		}
		if p.Spec.DSCP[26] != want.queue {
			t.Errorf("%s: NICs put DSCP 26 into queue %d, want %d", keys, p.Spec.DSCP[26], want.queue)
		}
		if _, ok := p.Settled().Switch.DSCP[want.file]; !ok {
			t.Errorf("%s: what is resolved has %v, want one of DSCP %s", keys,
				p.Settled().Switch.DSCP, want.file)
		}
		notes := strings.Join(p.Notes, "\n")
		if said := strings.Contains(notes, "all NICs classify as"); said != (want.note != "") ||
			!strings.Contains(notes, want.note) {
			t.Errorf("%s: notes %q, want %q", keys, p.Notes, want.note)
		}
	}
}
