package cause

import "fmt"

var oversubscription = Cause{ID: Oversubscription, Key: "oversubscription", Name: "oversubscription",
	About: "links between switches have less capacity together than the flows demand",
	Color: "#de7898", Loss: true, Trigger: true, Wide: faster,
	Advice:  "add links between switches, or place the job below fewer of them",
	Without: func(f *Facts) Change { return fastFabric(f, SprayImbalance) },
	Remedies: func(f *Facts) (all []Change) {
		if c := otherPaths(f); c.IsPossible() {
			all = append(all, c)
		}
		return append(all, moreFabric(f)...)
	}}

// faster is what fastFabric changes.
const faster = "with links between switches 16 times as fast"

// fastFabric is a run in which links between switches are never full, so that flows do not meet there either.
func fastFabric(f *Facts, also ID) Change {
	if f.FabricRate == 0 {
		return Change{Impossible: "no link connects two switches"}
	}
	c := edit("links between switches 16 times as fast", FastFabric)
	c.Also = []ID{Collision, also}
	if f.Events {
		c.Also = append(c.Also, SlowLink, FailedCapacity)
	}
	return c
}

// moreFabric is twice the capacity between switches, and four times where few uplinks hash unevenly.
func moreFabric(f *Facts) (all []Change) {
	switch {
	case f.Uplinks > 0:
		all = append(all, Change{Says: "twice as many uplinks", Needs: "twice as many spine ports and cables",
			Set: []string{fmt.Sprintf("fabric.uplinks=%d", 2*f.Uplinks)}})
		if f.Uplinks <= fewUplinks {
			all = append(all, Change{Says: "four times as many uplinks", Needs: "four times as many spine ports and cables",
				Set: []string{fmt.Sprintf("fabric.uplinks=%d", 4*f.Uplinks)}})
		}
	case f.FabricRate > 0 && f.Kind != "" && f.Kind != "graph":
		return []Change{{Says: "links between switches twice as fast", Needs: "switches and cables of that rate",
			Set: []string{fmt.Sprintf("fabric.fabric_link.rate=%v", 2*f.FabricRate)}}}
	}
	return all
}

// fewUplinks is up to how many uplinks four times as many are a remedy.
const fewUplinks = 2
