package cause

var credit = Cause{ID: Credit, Key: "waiting_for_credit", Name: "credit wait",
	About: "a sender is blocked on credit that the receiver or egress port has not granted",
	Color: "#8fcabd", Loss: true, Trigger: false, Wide: uncontrolledWords,
	Advice: "let receivers grant credit earlier",
	Without: func(f *Facts) Change {
		c := uncontrolled(f)
		if c.IsPossible() {
			c.Also = []ID{Recovering, Window, Pause, Trimmed}
		}
		return c
	},
	Remedies: func(f *Facts) []Change {
		if f.Credits {
			return []Change{{Says: "congestion control by the sender", Set: []string{"cc.algorithm=nscc"}}}
		}
		return nil
	}}
