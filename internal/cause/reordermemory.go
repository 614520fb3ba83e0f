package cause

import (
	"fmt"

	"railyard/unit"
)

var reorderMemory = Cause{ID: ReorderMemory, Key: "reorder_memory", Name: "reorder memory overflow",
	About: "NICs drop packets that arrive ahead of others because their memory for these is full",
	Color: "#5f7a1f", Loss: true, Trigger: false,
	Advice: "take NICs with more reorder memory",
	Without: func(f *Facts) Change {
		if f.Reorder == 0 && f.ReorderEntries == 0 {
			return Change{Impossible: "nothing limits the NICs' reorder memory"}
		}
		return edit("reorder memory without limit", NoReorderLimit)
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.Transport == "roce" && !f.WriteOnly && !f.ReorderLocal {
			all = append(all, Change{Says: "an address in every packet (WRITE Only)", Needs: anyPlace,
				Set: []string{"transport.write=only"}})
		}
		if f.Reorder > 0 {
			all = append(all, Change{Says: "four times the reorder memory", Needs: "NICs that have it",
				Set: []string{fmt.Sprintf("server.reorder.memory=%v", unit.Bytes(4*f.Reorder))}})
		}
		if f.LB != "ecmp" {
			all = append(all, Change{Says: "one path per flow", Set: []string{"lb=ecmp"}})
		}
		return all
	}}
