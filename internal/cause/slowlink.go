package cause

var slowLink = Cause{ID: SlowLink, Key: "slow_link", Name: "slow link",
	About: "a link runs below the rate of its kind",
	Color: "#aa4466", Loss: true, Trigger: true,
	Without: func(*Facts) Change { return Change{Says: "no slow link", Drop: failing} },
	Remedies: func(*Facts) []Change {
		return []Change{{Says: "repair the slow link", Drop: failing}}
	}}
