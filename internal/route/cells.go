package route

import "railyard/param"

// Cells stands for a scheduled fabric, which needs no policy: nobody picks a path, since a packet's cells take
// all links in turn (package fabric). It is not in the registry, as a scenario gets it with fabric.scheduled.
var Cells = Policy{
	Name: "cells", Title: "cells over all links",
	New: func(_ param.Values, s Site) Chooser { return &turns{seed: s.Seed} },
}
