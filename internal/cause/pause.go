package cause

var pause = Cause{ID: Pause, Key: "pause", Name: "PFC pauses",
	About: "PFC pauses a link whose own path has spare capacity",
	Color: "#cc79a7", Loss: true, Trigger: false,
	Without: func(*Facts) Change { return Change{Says: "buffers without limit", Set: unlimited} },
	Remedies: func(f *Facts) []Change {
		if f.Transport == "roce" && f.CC != "swift" {
			return []Change{{Says: "congestion control swift", Set: []string{"cc.algorithm=swift"}}}
		}
		return nil
	}}
