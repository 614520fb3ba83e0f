package cc

// rccc is the receiver's half of Ultra Ethernet's congestion control (UE 1.0, RCCC) as uet-htsim has it
// with -receiver_cc_only (docs/references.md, credit): EQDS's credit, four packets at a time. Who has more to send
// than one path's worth holds that much credit at most. What the standard leaves to implementers, what a
// receiver grants while nobody asks ("slow pull"), is nothing here: it would be credit for senders that
// are done.
var rccc = onCreditAlone("rccc", "RCCC", 4, Profile{Name: "htsim",
	Doc:   "1.5 times the path holds goes unasked: switches must trim what is too much",
	Words: "RCCC, credit at %v"})
