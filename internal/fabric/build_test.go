package fabric

import (
	"testing"

	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/unit"
)

// More nodes than elements of events are rejected before any memory is allocated.
func TestTooManyNodes(t *testing.T) {
	b := Build(8)
	b.nodes = make([]nodeInfo, engine.MaxElements)
	_, err := b.Finish(nil)
	if err == nil || err.Error() != "262144 hosts and switches: one run can keep 262143 in order" {
		t.Errorf("%d nodes: %v", len(b.nodes), err)
	}
}

// A port with its own headroom has that, other ports have the Spec's, and the pool is the remainder.
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

// TestSwitchBounds: a buffer that headroom uses up, and more ports than a pause frame can address, are refused.
func TestSwitchBounds(t *testing.T) {
	for _, c := range []struct {
		ports  int
		buffer unit.Bytes
		want   string
	}{
		{2, 200 * unit.KB, "switch s: buffer: the headroom of 2 ports takes 200KB of 200KB and leaves nothing to share"},
		{2, 200*unit.KB + 1, ""},
		{8191, unit.GB, ""},
		{8192, unit.GB, "switch s: it has 8,192 ports, a switch may have 8191"},
	} {
		spec := queue.Default()
		spec.Buffer = c.buffer
		for i := range spec.Queues {
			spec.Queues[i].Lossless, spec.Queues[i].Headroom = i == 3, 100*unit.KB
		}
		b := Build(8)
		s := b.AddSwitch(SwitchConfig{Name: "s", Spec: &spec})
		for range c.ports {
			b.Connect(b.AddHost(), s, Link{Rate: 400 * unit.Gbps})
		}
		got := ""
		if _, err := b.Finish(func(int32) string { return "s" }); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d ports, %v: %q, want %q", c.ports, c.buffer, got, c.want)
		}
	}
}
