package cause

var failedCapacity = Cause{ID: FailedCapacity, Key: "failed_capacity", Name: "failed capacity",
	About: "links that are down leave less capacity to those that carry their traffic",
	Color: "#7d1d1d", Loss: true, Trigger: true,
	Without: func(*Facts) Change {
		c := edit("no failure", NoFailures)
		c.Also = []ID{Retransmission}
		return c
	},
	Remedies: func(*Facts) []Change { return []Change{edit("repair what failed", NoFailures)} }}
