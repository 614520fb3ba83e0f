package cause

var incast = Cause{ID: Incast, Key: "incast", Name: "incast",
	About: "several senders share one receiver's link",
	Color: "#e69f00", Loss: true, Trigger: true,
	Without: no("the senders share the receiver's link whatever the fabric does; fewer at a time finish earlier"),
	Remedies: func(f *Facts) (all []Change) {
		if f.Transport == "roce" && f.CC != "swift" {
			all = append(all, Change{Says: "congestion control swift", Set: []string{"cc.algorithm=swift"}})
		}
		return all
	}}
