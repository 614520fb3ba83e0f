package route

import "railyard/param"

// Cells is the policy of a scheduled fabric. It picks no path, since a packet's cells use all links in turn (package
// fabric). It is not in the registry: fabric.scheduled selects it.
var Cells = Policy{
	Name: "cells", Title: "cells over all links",
	New: func(_ param.Values, s Site) Chooser { return &turns{seed: s.Seed} },
}
