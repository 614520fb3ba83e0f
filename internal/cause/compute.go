package cause

var compute = Cause{ID: Compute, Key: "compute", Name: "computing",
	About: "time in which a GPU computes, or has nothing to do yet",
	Color: "#999999", Loss: false, Trigger: false,
	Without:  no("computing is the work itself"),
	Remedies: none}
