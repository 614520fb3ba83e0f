package host

// prefetch asks for the two cache lines of a receiver that a data packet reads, as fabric's does for the
// packet itself.
//
//go:noescape
func prefetch(r *receiver)
