package cause

var window = Cause{ID: Window, Key: "window_too_small", Name: "window limit",
	About: "the congestion window is smaller than the path holds",
	Color: "#b8a400", Loss: true, Trigger: false,
	Without: func(*Facts) Change { return Change{Says: "no window", Set: []string{"cc.algorithm=none"}} },
	Remedies: func(f *Facts) []Change {
		if f.Transport != "roce" || f.CC == "dcqcn" {
			return nil
		}
		return []Change{{Says: "congestion control by rate", Set: []string{"cc.algorithm=dcqcn"}}}
	}}
