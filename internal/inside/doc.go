// Package inside describes the connections of the GPUs of one server, or of the servers that share NVLink: pipes
// with rates, and the pipes that a transfer between two GPUs takes.
//
// A [Fabric] is [Switched] (NVSwitch: one pipe out of and one into each GPU), a [Mesh] (XGMI: one pipe per pair),
// [Pairs] (rates read from a machine) or [Media] (storage: read and write rate with a latency). Rates are in bits
// per second and direction.
package inside
