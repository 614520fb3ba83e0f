package cause

import "fmt"

var oversubscription = Cause{ID: Oversubscription, Key: "oversubscription", Name: "oversubscription",
	About: "links between switches have less capacity together than the flows ask for",
	Color: "#882255", Loss: true, Trigger: true,
	Without: func(f *Facts) Change {
		if f.FabricRate == 0 {
			return Change{Impossible: "a described fabric states its own links"}
		}
		return Change{Says: "links between switches 16 times as fast",
			Set: []string{fmt.Sprintf("fabric.fabric_link.rate=%v", 16*f.FabricRate)}}
	},
	Remedies: none}
