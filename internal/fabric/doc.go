// Package fabric moves packets: links, ports, switches, shared buffers, PFC and the watchdog, on one event queue.
//
// All state is in flat arrays, addressed by index. [Builder] makes a [Net] of nodes and links; packets ([Packet])
// are stored in a slab. The path of a packet is Arrive, route, enqueue, service, mark, Transmit, in net.go and
// switch.go. A packet that finds its egress port idle and not paused costs one event per hop: its arrival at the
// next node. Only a busy or paused port queues packets and needs service events, one per port.
//
// Buffer accounting: a packet occupies the shared buffer from its arrival after the ingress pipeline until its
// first bit leaves. Lossless classes are charged to their ingress, first to the shared pool up to xOFF, then to
// headroom, and the peer is paused. Net.Audit checks that all sums agree; property tests call it. PFC frames
// (pfc.go, IEEE 802.1Qbb) wait for the frame being sent and act after the response time of the peer. They last
// their quanta, are repeated at half of them, and resume with quanta 0.
//
// Files by subject: WRED and ECN (wred.go), trimming (trim.go), telemetry (int.go), link state and rate changes
// (link.go), port channels with a second hash (channel.go), non-minimal routes (detour.go), load grades of
// neighbours (grades.go), circular pause dependencies during a run (chain.go), waiting times by queue pair and port
// (waits.go). Scheduled fabrics have virtual output queues, credit, cells and reassembly (scheduled.go, voq.go,
// granter.go, cells.go, reassembly.go, edges.go).
//
// A link that fails loses the packets given to it. A frame on the wire ends at its old rate. Neither end starts
// another before both are out, so that no pause arrives later than headroom allows.
//
// split.go runs one network in parts. Each part is a Net that executes the events of its own nodes. Packets and PFC
// frames to other parts leave as [Letter] values, which are exchanged after windows of the shortest link delay
// between parts (Lookahead). TestPartsGiveTheSameBytes compares a run in parts with one in a single network.
//
// # Several cores
//
// Elements only see arrivals and PFC frames, so parts are independent within a window. Package sim (parts.go) runs
// each part on a goroutine and merges their records in the order of one queue, by [Moment]. [Net.Adopt] merges the
// parts into one network. Some features do not run in parts, because they read or change other nodes immediately:
// link changes during a run, circular pause dependencies, scheduled fabrics, choosers that read other switches'
// queues, and packet traces.
package fabric
