package fabric

import (
	"testing"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/unit"
)

// More nodes than events can tell apart are refused before anything is made for them.
func TestTooManyNodes(t *testing.T) {
	b := Build(8)
	b.nodes = make([]nodeInfo, engine.MaxElements)
	_, err := b.Finish(nil)
	if err == nil || err.Error() != "262144 hosts and switches: one run can keep 262143 in order" {
		t.Errorf("%d nodes: %v", len(b.nodes), err)
	}
}

// A port with a headroom of its own keeps that, the others what the Spec says, and the pool is what is left.
func TestHeadroomOfOnePort(t *testing.T) {
	spec := queue.Default()
	spec.Queues[3].Headroom = 100 * unit.KB
	build := func(own unit.Bytes) *Net {
		b := Build(8)
		h, s := b.AddHost(), b.AddSwitch(SwitchConfig{Name: "s", Spec: &spec})
		_, near := b.Connect(h, s, Link{Rate: 400 * unit.Gbps})
		b.Connect(h, s, Link{Rate: 400 * unit.Gbps})
		if own > 0 {
			b.Keep(near, 3, own)
			b.Keep(near, 0, own) // lossy: needs none
		}
		n, err := b.Finish(func(int32) string { return "s" })
		if err != nil {
			t.Fatal(err)
		}
		if own > 0 && n.HeadroomLimit(near, 3) != own || n.HeadroomLimit(near, 0) != 0 {
			t.Errorf("keeps %v and %v", n.HeadroomLimit(near, 3), n.HeadroomLimit(near, 0))
		}
		if n.HeadroomLimit(near+2, 3) != 100*unit.KB {
			t.Errorf("the other port keeps %v", n.HeadroomLimit(near+2, 3))
		}
		return n
	}
	alike, own := build(0), build(30*unit.KB)
	if got := own.Sw[1].limit - alike.Sw[1].limit; got != int64(70*unit.KB) {
		t.Errorf("the pool gains %d bytes", got)
	}
}
