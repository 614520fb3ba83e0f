package cause

var failedCapacity = Cause{ID: FailedCapacity, Key: "failed_capacity", Name: "failed capacity",
	About: "links that are down leave less capacity to those that carry their traffic",
	Color: "#7d1d1d", Loss: true, Trigger: true,
	Without: func(f *Facts) Change {
		if f.Circuits {
			return Change{Impossible: "circuits move by the schedule of their OCS"}
		}
		c := edit("no failure", NoFailures)
		c.Also = []ID{Retransmission}
		return c
	},
	Remedies: func(f *Facts) []Change {
		if f.Circuits {
			return nil
		}
		return []Change{edit("repair what failed", NoFailures)}
	}}

// noOutage also removes failures from a run without the window limit, if failures lost packets. Without the limit,
// senders would lose more packets before routes change, which is no part of what the limit costs.
func noOutage(f *Facts, c Change) Change {
	if f.Lost.Down > 0 && !f.Circuits && c.IsPossible() {
		c.Says, c.Edits = c.Says+" and no failure", append(c.Edits, NoFailures)
		c.Also = append(c.Also, FailedCapacity, Retransmission)
	}
	return c
}

// unmet removes failures that the run did not meet from a run without a cause, in which packets take other paths.
func unmet(f *Facts, c Change) Change {
	if f.Unmet && c.IsPossible() {
		c.Says, c.Edits = c.Says+" and no failure", append(c.Edits, NoFailures)
	}
	return c
}
