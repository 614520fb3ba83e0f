// Package onto merges the configuration that a fabric needs into that of a switch in use. [Onto] returns a [Merge]:
// the commands between the two in order, each [Step] with the traffic that it interrupts. Lines outside the fabric
// remain.
//
// Each language has a grammar of replaced commands (nxos.go, eos.go, frr.go, nvue.go); SONiC gets a JSON patch
// (tables.go). The result is parsed again and compared with the target (compare.go). A merge that would isolate the
// device from its management, or that contradicts the running configuration, is [Refused] with the line.
package onto
