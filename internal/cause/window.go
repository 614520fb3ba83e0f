package cause

var window = Cause{ID: Window, Key: "window_too_small", Name: "window limit",
	About: "the congestion window is smaller than the path holds",
	Color: "#b8a400", Loss: true, Trigger: false,
	Advice: "choose a transport or congestion control with a larger window",
	Without: func(f *Facts) Change {
		c := uncontrolled(f)
		if c.IsPossible() {
			c.Also = []ID{Recovering, Credit, Pause, Trimmed}
		}
		wide := map[string]string{"srd": "transport.srd.window=16384", "falcon": "transport.falcon.window=4096"}[f.Transport]
		if f.Transport == "roce" && f.Recovery == "selective" {
			wide = "transport.window=32768"
		}
		switch {
		case wide == "":
		case c.IsPossible():
			c.Set = append(c.Set, wide)
		default:
			c = Change{Says: "the transport's largest window", Set: []string{wide}}
		}
		return c
	},
	Remedies: func(f *Facts) []Change { return controls(f, "dcqcn") }}
