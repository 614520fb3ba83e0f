package diagnose

import "testing"

// TestChainCountsHosts checks that a host without counters counts among the hosts that pauses reach: only its cable is
// known, so its kind is not.
func TestChainCountsHosts(t *testing.T) {
	nic, leaf, other := &Device{Name: "a"}, &Device{Name: "leaf", Kind: Switch}, &Device{Name: "b"}
	at := func(d *Device) *Port { return &Port{On: d} }
	f := &Fabric{Pauses: []Pause{{From: at(nic), To: at(leaf), Class: 3}, {From: at(leaf), To: at(other), Class: 3}}}
	if c := f.chain(nic, 3); c.Hosts != 1 || len(c.Reaches) != 2 {
		t.Errorf("%d hosts of %d ports", c.Hosts, len(c.Reaches))
	}
	x := Finding{}
	x.reach(&Chain{Root: leaf, Reaches: []*Port{at(leaf), at(leaf)}})
	if want := "; the pauses spread to 2 ports"; x.Says != want {
		t.Errorf("%q, want %q", x.Says, want)
	}
}
