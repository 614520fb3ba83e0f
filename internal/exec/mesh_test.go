package exec

import (
	"testing"

	"railyard/internal/inside"
	"railyard/internal/workload"
	"railyard/unit"
)

// eight is one server of eight GPUs in a mesh of 64 GB/s a pair.
func eight() Machine {
	m := Machine{NVLink: NVLink{Rate: 3584 * unit.Gbps, Latency: us},
		Inside: []*inside.Fabric{inside.Mesh(8, 512*unit.Gbps)}}
	for i := range 8 {
		m.Server, m.Rail = append(m.Server, 0), append(m.Rail, i)
	}
	return m
}

// In a mesh a GPU sends to all others at once, each at the rate of a single one. Two transfers between the same two
// GPUs are sequential; the opposite direction is another link.
func TestMesh(t *testing.T) {
	const bytes = 64 * unit.MB
	ser := unit.Serialize(bytes, 512*unit.Gbps)
	b := workload.NewBuilder(8)
	for to := 1; to < 8; to++ {
		b.Transfer(0, to, bytes)
	}
	b.Transfer(1, 0, bytes)
	again := b.Transfer(0, 1, bytes)
	x, w := over(eight(), seal(t, b))
	w.run()
	for i, end := range x.End {
		want := us + ser
		if int32(i) == again {
			want += ser
		}
		if end != want {
			t.Errorf("transfer %d ends at %v, want %v", i, end, want)
		}
	}
	if line, latency := x.Alone(0, 1, bytes); line != ser || latency != us {
		t.Errorf("alone it takes %v and %v", line, latency)
	}
}

// Servers of one run may be joined differently, and have no GPUs at all.
func TestMixedInsides(t *testing.T) {
	m := Machine{NVLink: NVLink{Rate: 3200 * unit.Gbps, Latency: us}, Server: []int{1, 1, 3, 3},
		Rail: []int{0, 1, 0, 1}, Inside: []*inside.Fabric{nil, nil, nil, inside.Mesh(2, 400*unit.Gbps)}}
	b := workload.NewBuilder(4)
	b.Transfer(0, 1, 50*unit.MB)
	b.Transfer(2, 3, 50*unit.MB)
	x, w := over(m, seal(t, b))
	w.run()
	if x.End[0] != us+unit.Serialize(50*unit.MB, 3200*unit.Gbps) || x.End[1] != us+unit.Millisecond {
		t.Errorf("%v", x.End)
	}
	if n := x.Pipes(); n != 4+2 || x.PipeKind(0) != "NVLink" || x.PipeKind(5) != "pair link" ||
		x.PipeRate(5) != 400*unit.Gbps {
		t.Errorf("%d pipes, %s, %s", n, x.PipeKind(0), x.PipeKind(5))
	}
}
