// Package goodput simulates days of a training whose components fail: how much time is effective after detection,
// replacement of hosts, restart, repeated work and checkpoints.
//
// [Input] gives failure rates per component ([Rates]; [Llama3] is the published set), spares, the checkpoint
// interval and its stall. [Run] draws failures and returns a [Result] with the time account. [Young] and [Daly] are
// the closed forms of the best checkpoint interval (Young 1974; Daly 2006), [Expected] the expected overhead. The
// network is not part of it; a step has a given duration.
package goodput
