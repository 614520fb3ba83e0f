package cache

import "unsafe"

// Line asks for the line of 64 bytes in which an address lies. Go offers no portable way; a plain read
// instead holds up everything behind it until the line is there, which costs a sixth of the speed at 1,024
// hosts.
//
//go:noescape
func Line(p unsafe.Pointer)

// Lines asks for so many lines from an address on, at least one.
//
//go:noescape
func Lines(p unsafe.Pointer, n int)

// Apart asks for the line in which an address lies and for the one after the next.
//
//go:noescape
func Apart(p unsafe.Pointer)
