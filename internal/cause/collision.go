package cause

var collision = Cause{ID: Collision, Key: "hash_collision", Name: "ECMP hash collision",
	About: "flows share a link while other links of the group have spare capacity",
	Color: "#d4502a", Loss: true, Trigger: true,
	Advice:  "add paths, or place ranks so that fewer flows share a link",
	Without: func(f *Facts) Change { return unmet(f, sprays(f)) },
	Remedies: func(f *Facts) (all []Change) {
		if f.SameSeed {
			all = append(all, Change{Says: "a hash seed per switch", Set: []string{"switch.hash_seed=per-switch"}})
		}
		if c := sprays(f); c.IsPossible() && f.LB != "spray" {
			all = append(all, c)
		}
		if f.Transport == "roce" && f.LB == "ecmp" {
			all = append(all, Change{Says: "four queue pairs per connection", Set: []string{"transport.qps=4"}})
			if !f.Channels {
				all = append(all, Change{Says: "flowlet switching", Needs: "switches with dynamic load balancing",
					Set: []string{"lb=flowlet"}})
			}
		}
		return all
	}}
