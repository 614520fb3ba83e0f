package cause

var window = Cause{ID: Window, Key: "window_too_small", Name: "window limit",
	About: "the congestion window is smaller than the path holds",
	Color: "#b8a400", Loss: true, Trigger: false,
	Without: func(f *Facts) Change {
		c := uncontrolled(f)
		if c.IsPossible() {
			c.Also = []ID{Recovering, Credit, Pause, Trimmed}
			if f.Transport == "roce" && f.Recovery == "selective" {
				c.Set = append(c.Set, "transport.window=65536")
			}
		}
		return c
	},
	Remedies: func(f *Facts) []Change { return controls(f, "dcqcn") }}
