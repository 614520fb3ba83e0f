package cc

// eqds is EQDS's place in the registry (Olteanu et al., "An edge-queued datagram service for all
// datacenter traffic", NSDI 2022): the receiver paces all that comes to it by granting credit just below
// its line rate, in turn over who asked. What a sender has when it begins goes unasked, as much as fills
// the path, because credit takes a round trip; switches trim what of it does not fit. Without trimming
// everything waits for its credit. Constants are csg-htsim's (docs/references.md, credit): 1.5 times the path
// unasked, a packet per grant, 0.99 of the line. The window is ours where htsim has 50 packets: there
// each data packet carries how much its sender wants, here requests do, one per half a path, so there
// must be more on the way.
var eqds = onCreditAlone("eqds", "EQDS", 1, Profile{Name: "trimming",
	Doc:   "the first round trip goes unasked: switches must trim what does not fit",
	Words: "EQDS, the first round trip unasked, credit at %v"})
