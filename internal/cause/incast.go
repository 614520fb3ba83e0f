package cause

var incast = Cause{ID: Incast, Key: "incast", Name: "incast",
	About: "several senders share one receiver's link",
	Color: "#a63d84", Loss: true, Trigger: true,
	Advice:  "let fewer senders send at a time: the receiver's link is the limit",
	Without: func(*Facts) Change { return edit("receivers' links as fast as all senders together", FastReceivers) },
	Remedies: func(f *Facts) []Change {
		if f.CC == "none" {
			return nil
		}
		return controls(f, "swift", "hpcc")
	}}
