package cause

var reordering = Cause{ID: Reordering, Key: "reordering", Name: "reordering treated as loss",
	About: "packets overtake one another, and go-back-N discards and retransmits them",
	Color: "#555555", Loss: true, Trigger: false,
	Without: anyOrder,
	Remedies: func(f *Facts) []Change {
		return []Change{anyOrder(f), {Says: "one path per flow", Set: []string{"lb=ecmp"}}}
	}}
