package host

import "railyard/transport"

// prefetch asks for the two cache lines of a receiver that a data packet reads, as fabric's does for the
// packet itself.
//
//go:noescape
func prefetch(r *receiver)

// prefetchEnds asks for what packets read of a connection's ends, prefetchReceiver and prefetchSender for
// the first eight lines of one, whatever the protocol (mrc.TestLines). That reads the interface, which must
// be in a cache.
//
//go:noescape
func prefetchEnds(e *ends)

//go:noescape
func prefetchReceiver(r transport.Receiver)

//go:noescape
func prefetchSender(s transport.Sender)
