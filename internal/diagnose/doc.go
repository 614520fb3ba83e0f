// Package diagnose finds causes in live counters: which switch pauses which, the root of the pauses, and the broken
// component.
//
// [Diagnose] takes an [Input] (one or two snapshots per device, cabling, configurations, the scenario of the fabric)
// and returns a [Report]: findings ranked by certainty ([Sure]) and severity ([Grade]), each with its evidence, the
// lines it rests on, and the next command. Gather combines the inputs into a [Fabric] of devices, ports and pauses.
//
// Each [Cause] is one file (cause_storm.go, cause_slowreceiver.go, cause_ecnoff.go, ...) behind the registry in
// cause.go. The pause tree is in pauses.go: a root is the egress queue that holds the bytes. A finding is proven only
// if both ends of each counter were read and nothing contradicts it (coherent.go); devices that were not read, columns
// without a cause and unsupported counters are reported (unheard.go, foreign.go).
//
// Measured in docs/diagnose.md: blind sets of fabrics with an injected fault (package counters/planted).
package diagnose
