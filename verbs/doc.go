// Package verbs is RDMA as in libibverbs, in Go and over UDP: device, protection domain, memory region, completion
// queue, reliable connection queue pair, PostSend, PostRecv, Poll. Package rc is its transport, and package rcudp
// its port. The package's example is a whole program: two ends, a WRITE with immediate, its completions.
//
// # Differences from libibverbs
//
// Functions return errors instead of errno. A READ longer than 256 KiB, or than the receive buffer, is split into
// several READs that complete as one. Modify may be called without a mask. A device has one port, one partition and
// one path, so attributes that choose among several do not exist. QPAttr.Entropy and QPAttr.InFlight are additions
// of Railyard.
package verbs
