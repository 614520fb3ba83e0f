package cause

import "slices"

var sprayImbalance = Cause{ID: SprayImbalance, Key: "spray_imbalance", Name: "spray imbalance",
	About: "sprayed packets meet in a queue while other links of the group have spare capacity",
	Color: "#c98a9f", Loss: true, Trigger: true, Wide: faster,
	Advice:  "use congestion control that tolerates short queues, or add links between switches",
	Without: func(f *Facts) Change { return fastFabric(f, Oversubscription) },
	Remedies: func(f *Facts) (all []Change) {
		if f.Transport == "roce" && f.LB != "spray-least" && !f.Channels {
			all = append(all, Change{Says: "spraying to the shortest queue", Needs: "switches that compare queues",
				Set: []string{"lb=spray-least"}})
		}
		return slices.Concat(all, controls(f, "swift"), moreFabric(f))
	}}
