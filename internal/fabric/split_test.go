package fabric

import (
	"testing"

	"railyard/unit"
)

// A packet or pause to another part is in flight for the delay of the shortest cut cable. The peer adds its
// pipeline for packets and its response time for pauses. Without a cut no packet leaves.
func TestLookahead(t *testing.T) {
	for _, c := range []struct{ prop, pipeline, response, want unit.Time }{
		{500, 400, 100, 600}, {500, 400, 900, 900}, {700, 0, 0, 700},
	} {
		b, spec := Build(8), newBench(t, 2, nil).spec
		sw := b.AddSwitch(SwitchConfig{Name: "s", Spec: &spec, Pipeline: c.pipeline * unit.Nanosecond})
		far := b.AddHost()
		near := b.AddHost()
		link := Link{Rate: 100 * unit.Gbps, Prop: c.prop * unit.Nanosecond}
		link.Response = c.response * unit.Nanosecond
		b.Connect(near, sw, link)
		link.Prop *= 10
		b.Connect(far, sw, link)
		n, err := b.Finish(func(int32) string { return "s" })
		if err != nil {
			t.Fatal(err)
		}
		n.Split(func(int32) bool { return true }, nil)
		if got := n.Lookahead(); got != unit.Never {
			t.Errorf("nothing is cut and the lookahead is %v", got)
		}
		n.Split(func(node int32) bool { return node != sw }, nil)
		if got := n.Lookahead(); got != c.want*unit.Nanosecond {
			t.Errorf("%+v: lookahead %v", c, got)
		}
	}
}

// A packet and a pause arrive in the other part unchanged, at the same time as in one network.
func TestLetters(t *testing.T) {
	parts := [2]*bench{newBench(t, 2, nil), newBench(t, 2, nil)}
	host := parts[0].Ports[parts[0].hosts[0]].Node
	for i, p := range parts {
		mine := func(node int32) bool { return (node == host) == (i == 1) }
		p.Split(mine, func(l Letter) { parts[1-i].Receive(&l) })
	}
	sw, peer := parts[0], parts[1]
	sw.put(0, 1, 0, 24, 4000)
	sw.SendPause(sw.in[0], 3)
	sw.run(unit.Microsecond)
	if sw.got[0] != nil || sw.InUse() != 0 {
		t.Errorf("the host that is elsewhere has got %v, %d packets left", sw.got[0], sw.InUse())
	}
	peer.run(unit.Microsecond)
	whole := newBench(t, 2, nil)
	whole.put(0, 1, 0, 24, 4000)
	whole.SendPause(whole.in[0], 3)
	whole.run(unit.Microsecond)
	if peer.got[0][3] != 4000 || peer.last != whole.last {
		t.Errorf("%v arrived at %v, in one run at %v", peer.got[0], peer.last, whole.last)
	}
	if got := peer.Stats[peer.hosts[0]].PauseGot; got != 1 || peer.Ports[peer.hosts[0]].Paused != 1<<3 {
		t.Errorf("%d pauses arrived, classes %x are paused", got, peer.Ports[peer.hosts[0]].Paused)
	}
}
