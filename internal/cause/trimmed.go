package cause

var trimmed = Cause{ID: Trimmed, Key: "trimmed", Name: "trimmed packets",
	About: "switches trim packets to their headers, and these are retransmitted",
	Color: "#785ef0", Loss: true, Trigger: false,
	Without: func(*Facts) Change {
		return Change{Says: "queues without limit", Set: []string{"switch.queues.3.limit=600MB",
			"switch.buffer=2000MB"}}
	},
	Remedies: none}
