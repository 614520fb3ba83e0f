package fabric

// prefetch asks for a packet's cache line and does not wait for it. Go offers
// no portable way; a plain read instead holds up everything behind it until
// the line is there, which costs a sixth of the speed at 1,024 hosts.
//
//go:noescape
func prefetch(p *Packet)

// prefetchHeaders asks for the first line of a packet's headers.
//
//go:noescape
func prefetchHeaders(h *headers)
