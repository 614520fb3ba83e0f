package cause

var recovering = Cause{ID: Recovering, Key: "rate_not_given_back", Name: "CC recovering",
	About: "congestion control keeps a rate below line rate, for more than one cause or an unknown one",
	Color: "#e2a112", Loss: true, Trigger: false, Wide: uncontrolledWords,
	Advice: "choose a congestion control that recovers rates earlier",
	Without: func(f *Facts) Change {
		c := uncontrolled(f)
		if c.IsPossible() {
			c.Also = []ID{Window, Credit, Pause, Trimmed}
		}
		return c
	},
	Remedies: func(f *Facts) []Change { return controls(f, "swift", "hpcc") }}
