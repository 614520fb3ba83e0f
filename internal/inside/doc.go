// Package inside describes the connections of the GPUs of one server, or of the servers that share NVLink: pipes
// with rates, and the pipes that a transfer between two GPUs takes.
//
// A [Fabric] is [Switched] (NVSwitch: one pipe out of and one into each GPU), a [Mesh] (XGMI: one pipe per pair),
// [Pairs] (rates read from a host) or [Media] (storage: read and write rate with a latency). Rates are in bits per
// second and direction. A [Board] is the NVSwitch chips between GPUs, from boards.json or a scenario. Its planes
// carry equal shares of each transfer per link, so that a failed chip reduces the pipes' rates by its share
// ([Change]).
package inside
