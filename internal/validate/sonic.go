package validate

import (
	"fmt"

	"railyard/internal/queue"
	"railyard/unit"
)

// sonicHeadroom holds xoff to SONiC's own script, run by hand for docs/references.md, headroom.
func sonicHeadroom() (rows []Row, err error) {
	for _, c := range []struct {
		asic         string
		rate, metres int64
		xoff         unit.Bytes
	}{
		{"spectrum", 100, 5, 72_704}, {"spectrum", 100, 40, 81_920}, {"spectrum", 100, 300, 147_456},
		{"spectrum3", 200, 40, 148_480}, {"spectrum4", 400, 40, 283_648}, {"spectrum4", 800, 40, 362_496},
	} {
		a, ok := queue.ASICNamed(c.asic)
		if !ok {
			return nil, fmt.Errorf("no chip %s", c.asic)
		}
		xoff, _, _ := a.Headroom(unit.Rate(c.rate)*unit.Gbps, c.metres*1000, 9100)
		rows = append(rows,
			exact(fmt.Sprintf("SONiC's xoff, %dG, %d m, %d-byte cells", c.rate, c.metres, a.Cell),
				"buffer_headroom_mellanox.lua, docs/references.md, headroom", int64(c.xoff), int64(xoff)))
	}
	return rows, nil
}
