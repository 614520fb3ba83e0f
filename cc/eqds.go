package cc

// eqds is EQDS's entry in the registry (Olteanu et al., "An edge-queued datagram service for all datacenter
// traffic", NSDI 2022). The receiver paces all its arriving traffic: it grants credit just below its line rate,
// round-robin among requesting senders. A sender starts with unsolicited data that fill the path, because credit
// takes a round trip. Switches trim the excess. Without trimming, all packets wait for credit. Constants are
// csg-htsim's (docs/references.md, credit): 1.5 times the path unasked, a packet per grant, 0.99 of the line. The
// window differs from htsim's 50 packets: in htsim each data packet carries its sender's demand. Here requests
// carry the backlog, one per half a path, so more credit must be in flight.
var eqds = onCreditAlone("eqds", "EQDS", 1, Profile{Name: "trimming",
	Doc:   "the first round trip is sent without credit: switches must trim the excess",
	Words: "EQDS, the first round trip unasked, credit at %v"})
