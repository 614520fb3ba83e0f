package cause

var lineRate = Cause{ID: LineRate, Key: "line_rate", Name: "line rate",
	About: "the bytes themselves, at the rate of the slowest part of an unshared healthy path",
	Color: "#3f7cb8", Loss: false, Trigger: false,
	Without:  no("bytes take their time"),
	Remedies: none}
