package cause

var reordering = Cause{ID: Reordering, Key: "reordering", Name: "reordering treated as loss",
	About: "packets overtake one another, and go-back-N discards and retransmits them",
	Color: "#a8834f", Loss: true, Trigger: false,
	Advice:  "use NICs that place packets in any order",
	Without: anyOrder,
	Remedies: func(f *Facts) (all []Change) {
		if c := anyOrder(f); c.IsPossible() {
			all = append(all, c)
		}
		if f.LB != "ecmp" {
			all = append(all, Change{Says: "one path per flow", Set: []string{"lb=ecmp"}})
		}
		return all
	}}
