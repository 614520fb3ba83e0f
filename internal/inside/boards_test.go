package inside

import (
	"testing"

	"railyard/unit"
)

// Each baseboard of the catalog can be built. A failed chip removes its links from each GPU, and only once if its
// peer on another baseboard also fails.
func TestBoards(t *testing.T) {
	for _, name := range BoardNames() {
		b := BoardNamed(name)
		if err := b.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for chip := range b.Chips() {
			plane, _ := b.Plane(chip)
			if left := b.Left(map[int]bool{chip: true, plane: true}); left != b.PerGPU()-b.Links[plane] {
				t.Errorf("%s without chip %d: %d links", name, chip, left)
			}
		}
		if b.Narrow() {
			t.Errorf("%s: trunks are narrower than the GPUs of a baseboard", name)
		}
	}
	if b := BoardOf("h100", 8); b == nil || b.Name != "hgx-h100" || BoardOf("h100", 4) != nil || BoardOf("", 8) != nil {
		t.Errorf("%+v", b)
	}
}

// If trunks are narrow, there is a pipe from each baseboard to each other. Transfers within one baseboard do not
// use it.
func TestTrunks(t *testing.T) {
	b := &Board{GPUs: 8, Boards: 2, Links: []int{5, 4, 4, 5}, Trunk: 4}
	f := b.Fabric(18 * unit.Gbps)
	if n := len(f.Way(0, 3, nil)); n != 2 || f.Rate(0, 3) != 18*unit.Gbps {
		t.Errorf("%d pipes within a baseboard", n)
	}
	there, back := f.Way(3, 4, nil), f.Way(4, 3, nil)
	if len(there) != MaxWay || there[1] == back[1] || f.Rate(3, 4) != 16*unit.Gbps || f.Slowest() != 16*unit.Gbps {
		t.Errorf("%v and %v, %v", there, back, f.Rate(3, 4))
	}
	if b.Trunk = 18; b.Narrow() || len(b.Fabric(unit.Gbps).Rates) != 16 {
		t.Error("trunks that carry all GPUs of a baseboard limit nothing")
	}
}
