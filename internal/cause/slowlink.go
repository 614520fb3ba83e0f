package cause

var slowLink = Cause{ID: SlowLink, Key: "slow_link", Name: "slow link",
	About: "a link runs below the rate of its kind",
	Color: "#b8607a", Loss: true, Trigger: true,
	Without: func(*Facts) Change { return edit("every link at the rate of its kind", NoSlowdowns) },
	Remedies: func(f *Facts) []Change {
		all := []Change{edit("repair the slow link", NoSlowdowns)}
		if f.Transport == "roce" && f.Switches > 0 && !f.Scheduled && !f.Channels && f.LB != "spray-least" {
			c := Change{Says: "per-packet balancing by load, which avoids it", Set: []string{"lb=spray-least"},
				Needs: "switches with adaptive routing"}
			inAnyOrder(f, &c)
			all = append(all, c)
		}
		return all
	}}
