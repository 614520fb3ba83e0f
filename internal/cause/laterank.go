package cause

var lateRank = Cause{ID: LateRank, Key: "late", Name: "late rank",
	About: "a rank begins later than the first one",
	Color: "#8b6b00", Loss: true, Trigger: false, Lasting: true,
	Advice:   "balance the work of ranks",
	Without:  no("ranks begin when their computing ends"),
	Remedies: none}
