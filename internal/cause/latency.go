package cause

var latency = Cause{ID: Latency, Key: "latency", Name: "latency",
	About: "propagation, switching, NICs and NVLink, along the chain of transfers",
	Color: "#2b9a8b", Loss: true, Trigger: false, Wide: true,
	Crossing: true,
	Advice:   "shorten cables, or let messages take fewer hops",
	Without: func(f *Facts) Change {
		c := edit("no propagation, switching and NIC delay", NoDelay)
		if f.Delays {
			c.Doubt = "targets and windows of congestion control follow round-trip times"
		}
		return c
	},
	Remedies: func(f *Facts) []Change {
		if f.CutThrough || f.Scheduled || f.Inside || f.NVLinkLatency || f.Far {
			return nil
		}
		return []Change{{Says: "cut-through switches", Set: []string{"fabric.cut_through=true"},
			Needs: "switches that forward before a packet is in"}}
	}}
