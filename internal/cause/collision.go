package cause

var collision = Cause{ID: Collision, Key: "hash_collision", Name: "ECMP hash collision",
	About: "flows share a link while other links of the group have spare capacity",
	Color: "#d55e00", Loss: true, Trigger: true,
	Without: sprays,
	Remedies: func(f *Facts) []Change {
		all := []Change{sprays(f)}
		if f.LB == "ecmp" && f.Transport == "roce" {
			all = append(all, Change{Says: "four queue pairs per connection", Set: []string{"transport.qps=4"}})
		}
		return all
	}}
