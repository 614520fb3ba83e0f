package cause

var incast = Cause{ID: Incast, Key: "incast", Name: "incast",
	About: "several senders share one receiver's link",
	Color: "#a63d84", Loss: true, Trigger: true,
	Advice:  "let fewer senders send at a time: the receiver's link is the limit",
	Without: func(*Facts) Change { return edit("receivers' links as fast as all senders together", FastReceivers) },
	Remedies: func(f *Facts) (all []Change) {
		if f.Trees { // every inner server of a tree receives from two
			all = append(all, Change{Says: "rings instead of trees (NCCL_ALGO=Ring)",
				Set: []string{"workload.traffic.collective.algorithm=ring"}})
		}
		if f.CC == "none" {
			return all
		}
		return append(all, controls(f, "swift", "hpcc")...)
	}}
