package cc

// rccc is the receiver's part of Ultra Ethernet's congestion control (UE 1.0, RCCC), as in uet-htsim with
// -receiver_cc_only (docs/references.md, credit). It is EQDS's credit, four packets at a time. A sender with a
// larger backlog than one path's capacity holds at most that much credit. The standard leaves to implementers how
// much a receiver grants without requests ("slow pull"). Railyard grants nothing: it would be credit for senders
// that have finished.
var rccc = onCreditAlone("rccc", "RCCC", 4, Profile{Name: "htsim",
	Doc:   "the first round trip sends 1.5 times the path's capacity without credit: switches must trim the excess",
	Words: "RCCC, credit at %v"})
