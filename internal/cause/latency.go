package cause

var latency = Cause{ID: Latency, Key: "latency", Name: "latency",
	About: "propagation, switching, NICs and NVLink, along the chain of transfers",
	Color: "#56b4e9", Loss: true, Trigger: false,
	Without: func(*Facts) Change {
		return Change{Says: "no propagation and switching delay", Set: []string{"fabric.host_link.cable=0m",
			"fabric.fabric_link.cable=0m", "fabric.pipeline=0ns", "fabric.cut_through=true"},
			Doubt: "delay-based congestion control changes with it"}
	},
	Remedies: none}
