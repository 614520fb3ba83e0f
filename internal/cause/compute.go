package cause

var compute = Cause{ID: Compute, Key: "compute", Name: "computing",
	About: "time in which a GPU computes, or has nothing to do yet",
	Color: "#c3c8cf", Loss: false, Trigger: false,
	Without:  no("computing is the work itself"),
	Remedies: none}
