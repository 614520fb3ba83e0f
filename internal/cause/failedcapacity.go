package cause

var failedCapacity = Cause{ID: FailedCapacity, Key: "failed_capacity", Name: "failed capacity",
	About: "links that are down leave less capacity to those that carry their traffic",
	Color: "#661100", Loss: true, Trigger: true,
	Without: func(*Facts) Change { return Change{Says: "no failure", Drop: failing} },
	Remedies: func(*Facts) []Change {
		return []Change{{Says: "repair what failed", Drop: failing}}
	}}
