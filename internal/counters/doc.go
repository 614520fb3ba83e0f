// Package counters reads and writes the counters of switches and hosts: frames by class, drops, ECN marks, pauses,
// losses, neighbours.
//
// A [Snapshot] is the counters of one device at one time. Each [Format] is one file. It parses what operators paste
// (show commands of NX-OS, EOS, SONiC; COUNTERS_DB; ethtool; rdma statistic; LLDP) and prints the same from a
// Snapshot; registry.go lists them. [Read] detects the format and returns unrecognized parts as [Unknown]. A value
// is a [Count] or a [Said] with its source. A counter that a device did not report is absent, not zero.
//
// [Delta] subtracts two snapshots of a device. A difference exists only if both snapshots have the counter. A reset
// or a wrap is recognized if the format defines it ([Wraps]). [Join] merges snapshots of one device from several
// outputs.
package counters
