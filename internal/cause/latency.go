package cause

var latency = Cause{ID: Latency, Key: "latency", Name: "latency",
	About: "propagation, switching, NICs and NVLink, along the chain of transfers",
	Color: "#2b9a8b", Loss: true, Trigger: false, Wide: "without any delay",
	Without: func(f *Facts) Change {
		c := edit("no propagation, switching and NIC delay", NoDelay)
		if f.Delays {
			c.Doubt = "targets and windows of congestion control follow round-trip times"
		}
		return c
	},
	Remedies: func(f *Facts) (all []Change) {
		if f.Stores && !f.Scheduled {
			all = append(all, Change{Says: "cut-through switches", Set: []string{"fabric.cut_through=true"},
				Needs: "switches that forward before a packet is in"})
		}
		if f.Far && !f.Inside && !f.NVLinkLatency {
			all = append(all, Change{Says: "shorten cables, or let messages take fewer hops"})
		}
		return all
	}}
