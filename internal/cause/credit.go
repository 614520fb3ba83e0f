package cause

var credit = Cause{ID: Credit, Key: "waiting_for_credit", Name: "credit wait",
	About: "a sender waits for credit that the receiver or egress port has not granted",
	Color: "#99d5c9", Loss: true, Trigger: false,
	Without: func(*Facts) Change { return Change{Says: "no credit", Set: []string{"cc.algorithm=none"}} },
	Remedies: func(f *Facts) []Change {
		if f.CC == "eqds" || f.CC == "rccc" {
			return []Change{{Says: "congestion control by the sender", Set: []string{"cc.algorithm=nscc"}}}
		}
		return nil
	}}
