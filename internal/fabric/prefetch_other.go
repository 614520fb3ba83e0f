//go:build !amd64

package fabric

// prefetch does nothing where no instruction is at hand.
func prefetch(*Packet) {}

func prefetchHeaders(*headers) {}
